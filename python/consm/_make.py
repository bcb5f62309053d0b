"""Estimators from model files, and a class for every method of the library's table."""
from __future__ import annotations

import inspect
from ctypes import byref
from typing import Any, Optional

from . import _lib, _parameters, _structs
from ._errors import ConsmValueError
from ._graph import Graph
from ._labels import from_names
from ._model import GraphClassifier


def wrap(trained: _lib.Handle) -> GraphClassifier:
    """An estimator for a model from a file."""
    info = _structs.ModelInfo()
    _lib.call(_lib.lib.consm_model_info, byref(info), trained.pointer)
    method = _lib.decode(info.model)
    if method not in _parameters.methods():
        raise ConsmValueError(f"the model's method {method!r} was defined in C, and Python cannot run it")
    made = GraphClassifier(method, random_state=int(info.seed))
    made._trained = trained
    buffer = _lib.buffer()
    texts = [_lib.decode(_lib.lib.consm_model_class(trained.pointer, k, buffer)) for k in range(info.classes)]
    made.classes_ = from_names(texts, int(info.class_kind))
    made._training, made._cache = None, None
    made._facts()
    return made


def class_for(method: str, name: str) -> type[GraphClassifier]:
    """A class for one method, with the library's table as its signature and documentation."""
    def init(self: GraphClassifier, *, graph: Optional[Graph] = None, random_state: Any = None,
             progress: Optional[bool] = None, **parameters: Any) -> None:
        self.method = method
        self._init(graph, random_state, progress, parameters)
    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = ["graph", "random_state", "progress"] + list(_parameters.parameters(method))
    init.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(n, keyword, default=None) for n in shown])
    return type(name, (GraphClassifier,), {"__init__": init, "_fixed": method, "__module__": "consm",
                                           "__doc__": _parameters.documentation(method)})
