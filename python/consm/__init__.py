"""consm: label the rest of your graph, and know which of its edges to trust.

    from consm import ConSMClassifier, Graph
    g = Graph.from_pandas(edges, nodes, source="src", target="dst")
    model = ConSMClassifier(random_state=0).fit(g, y)       # y: None, NaN or -1 where unknown
    model.predict(g); model.predict_proba(g); model.edge_trust(g)

The manual is docs/how-to/python.md. consm.ot has optimal transport; consm.pyg is for PyTorch Geometric.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _lib
from ._data import cache_folder, datasets, fetch, load
from ._errors import (ConsmError, ConsmFormatError, ConsmKeyError, ConsmMemoryError, ConsmNumericError, ConsmOSError,
                      ConsmTypeError, ConsmValueError, ConsmWarning, NotFittedError)
from ._explain import Explanation
from ._graph import Graph
from ._growing import GrowingGraph
from ._model import GraphClassifier
from ._parameters import Method, Parameter, methods, parameters

__version__: str = _lib.decode(_lib.lib.consm_version())


def load_model(path: Path) -> GraphClassifier:
    """Loads a model written by model.save() or `consm train -o`.

    Examples
    --------
    >>> import consm, os, tempfile
    >>> g = consm.load("karate")
    >>> path = os.path.join(tempfile.mkdtemp(), "karate.safetensors")
    >>> consm.GCNClassifier(random_state=0, per_class=4).fit(g).save(path)
    >>> consm.load_model(path).method
    'gcn'
    """
    return GraphClassifier.load(path)


if TYPE_CHECKING:
    from ._types import ParameterValue, Path, RandomState

    class ConSMClassifier(GraphClassifier):
        """ConSM: subgraph matching that learns which edges to trust."""
        def __init__(self, *, graph: "Graph | None" = None, random_state: RandomState = None,
                     progress: "bool | None" = None, **parameters: ParameterValue) -> None: ...

    MLPClassifier = GCNClassifier = DropEdgeClassifier = GATClassifier = GINClassifier = ConSMClassifier
    APPNPClassifier = GCNIIClassifier = GAMClassifier = H2GCNClassifier = ConSMClassifier
    FAGCNClassifier = PTDNetClassifier = GRANDClassifier = TreesClassifier = ConSMClassifier
_CLASSES = {  # each is made on first use
    "ConSMClassifier": "consm", "MLPClassifier": "mlp", "GCNClassifier": "gcn", "DropEdgeClassifier": "dropedge",
    "GATClassifier": "gat", "GINClassifier": "gin", "APPNPClassifier": "appnp", "GCNIIClassifier": "gcnii",
    "GAMClassifier": "gam", "H2GCNClassifier": "h2gcn", "FAGCNClassifier": "fagcn", "PTDNetClassifier": "ptdnet",
    "GRANDClassifier": "grand", "TreesClassifier": "trees",
}

__all__ = [
    "APPNPClassifier", "ConSMClassifier", "ConsmError", "ConsmFormatError", "ConsmKeyError", "ConsmMemoryError",
    "ConsmNumericError", "ConsmOSError", "ConsmTypeError", "ConsmValueError", "ConsmWarning", "DropEdgeClassifier",
    "Explanation", "FAGCNClassifier", "GAMClassifier", "GATClassifier", "GCNClassifier", "GCNIIClassifier",
    "GINClassifier", "GRANDClassifier", "Graph", "GraphClassifier", "GrowingGraph", "H2GCNClassifier", "MLPClassifier",
    "Method", "NotFittedError", "PTDNetClassifier", "Parameter", "TreesClassifier", "cache_folder", "datasets", "fetch", "load",
    "load_model", "methods", "parameters",
]


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        from ._make import class_for
        made = class_for(_CLASSES[name], name)
        return globals().setdefault(name, made)
    if name in ("ot", "pyg"):
        import importlib
        return importlib.import_module(f"consm.{name}")
    raise AttributeError(f"module 'consm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__) | {"ot", "pyg"})
