"""The types of public functions' arguments; for type checkers only.

Labels     one per node: an array or list, or what carries ids: a Series, a one-column DataFrame, a dict
Mask       a bool per node (an array), node numbers, ids (an Index), or by id: a Series or dict of bools
Nodes      node ids, where the graph is the model's own; for an MLP also the rows of a table
Features   (n, f): an array, a SciPy matrix, or by id: a DataFrame, a dict of rows
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Hashable, Literal, Mapping, Sequence, Union

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from ._graph import Graph
    from ._growing import GrowingGraph

    try:
        import pandas as pd
    except ImportError:
        pass

    Labels = Union[ArrayLike, Mapping[Any, Any], "pd.Series", "pd.DataFrame"]
    Mask = Union[ArrayLike, Mapping[Any, bool], "pd.Series", "pd.Index"]
    Nodes = Union[ArrayLike, Sequence[Hashable], "pd.Series", "pd.Index", "pd.DataFrame"]
    Features = Union[ArrayLike, Mapping[Any, ArrayLike], "pd.DataFrame"]
    GraphOrNodes = Union[Graph, GrowingGraph, Nodes]
    Duplicates = Literal["mean", "keep-first", "error"]
    UnknownNodes = Literal["error", "drop", "add"]
    Path = Union[str, "os.PathLike[str]"]
    RandomState = Union[int, "np.random.RandomState", "np.random.Generator", None]
    ParameterValue = Union[str, int, float, bool, "os.PathLike[str]", None]
