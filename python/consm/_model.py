"""Estimators in the style of scikit-learn over the library's methods: parameters and training.

scikit-learn is not needed: its estimator interface (parameters, tags, cloning) is implemented here, and its
classes are imported only when it asks for them.
"""
from __future__ import annotations

import os
import warnings
from ctypes import c_void_p, cast
from typing import TYPE_CHECKING, Any, Optional, TypeVar

import numpy as np

from . import _align, _lib, _parameters, _run
from ._arrays import Array
from ._errors import ConsmTypeError, ConsmValueError, ConsmWarning
from ._figures import Figures
from ._graph import Graph
from ._intake import MASKS
from ._labels import name_of

if TYPE_CHECKING:
    from ._types import GraphOrNodes, Labels, Mask, ParameterValue, Path, RandomState

CLASSES = ("positive", "threshold_for")  # parameters that name a class

Self = TypeVar("Self", bound="GraphClassifier")


class GraphClassifier(Figures):
    """Labels the unlabelled nodes of a graph with any of the library's methods.

    Parameters
    ----------
    method : str
        "consm", "gcn", "gat", …; consm.methods() lists them.
    graph : Graph, optional
        With it, X is a list of node ids, as cross_val_predict and GridSearchCV need. Without it, X is the Graph
        itself.
    random_state : int, RandomState or Generator, optional
        Seed of all random numbers. None is 0: the same call gives the same bits.
    progress : bool, optional
        True: a tqdm bar; False: none; None: a bar in a terminal or a notebook.
    **parameters
        Any parameter of the method: consm.parameters("gat") lists them with their help.

    Attributes
    ----------
    classes_ : array
        The classes, in order.
    history_ : dict of arrays
        Loss and validation of every epoch, also after resume=True and in a loaded model.
    candidates_ : list of dicts
        ConSM's candidate backbones, the chosen one first.
    tournament_ : dict of arrays
        Loss and validation of every candidate backbone of ConSM, per update; empty for other methods. A loaded
        model has only the candidates that trained longest, without updates where validation stays the same.
    metrics_ : dict
        Metrics of "train", "validation" and "test", if there are such nodes.
    params_ : dict
        The final value of every parameter.
    info_ : dict
        Facts about the run: number of training nodes, seconds, …
    backbone_ : str
        The backbone that ConSM chose; missing for other methods.
    threshold_, threshold_class_
        The probability from which the class of threshold_for= is predicted, and that class; None without.

    Examples
    --------
    >>> import consm
    >>> g = consm.load("karate")
    >>> model = consm.GraphClassifier("gcn", random_state=0, per_class=4).fit(g)
    >>> model.predict(g)[:2].tolist()
    ['Mr. Hi', 'Mr. Hi']
    >>> model.score(g) > 0.9
    True
    """

    _estimator_type = "classifier"
    _fixed: Optional[str] = None  # the method of a subclass

    def __init__(self, method: str = "consm", *, graph: Optional[Graph] = None, random_state: RandomState = None,
                 progress: Optional[bool] = None, **parameters: ParameterValue) -> None:
        self.method = method
        self._init(graph, random_state, progress, parameters)

    def _init(self, graph: Optional[Graph], random_state: Any, progress: Optional[bool],
              parameters: dict[str, Any]) -> None:
        self.graph = graph
        self.random_state = random_state
        self.progress = progress
        known = _parameters.parameters(self.method)
        for name in known:
            setattr(self, name, None)
        for name, value in parameters.items():
            if name not in known:
                raise ConsmTypeError(_parameters.unknown(self.method, name))
            setattr(self, name, value)

    # ---- parameters ----------------------------------------------------------------------------

    def _names(self) -> list[str]:
        own = [] if self._fixed else ["method"]
        return own + ["graph", "random_state", "progress"] + list(_parameters.parameters(self.method))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns all parameters; None if the library decides."""
        return {name: getattr(self, name, None) for name in self._names()}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Sets parameters by name. A wrong name is an error that suggests the nearest."""
        if "method" in parameters and not self._fixed:
            self.method = parameters.pop("method")
            for name in _parameters.parameters(self.method):
                setattr(self, name, getattr(self, name, None))
        for name, value in parameters.items():
            if name not in self._names():
                raise ConsmValueError(_parameters.unknown(self.method, name))
            setattr(self, name, value)
        return self

    def _values(self) -> dict[str, Any]:
        """What is set, as the library's options."""
        values = {p.name: getattr(self, name) for name, p in _parameters.parameters(self.method).items()
                  if getattr(self, name, None) is not None}
        for name in CLASSES:  # a class is called as model files call it
            if name in values and not isinstance(values[name], str):
                values[name] = name_of(values[name])
        values["seed"] = _seed(self.random_state)
        return values

    def __repr__(self) -> str:
        told = [] if self._fixed else [repr(self.method)]
        for name in self._names():
            value = getattr(self, name, None)
            if name != "method" and value is not None:
                told.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(told)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags
        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True),
                    transformer_tags=None, regressor_tags=None, classifier_tags=ClassifierTags(),
                    input_tags=InputTags(two_d_array=True, sparse=True), non_deterministic=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trained")

    # ---- training ------------------------------------------------------------------------------

    def fit(self: Self, X: GraphOrNodes, y: Optional[Labels] = None, *, train_mask: Optional[Mask] = None,
            val_mask: Optional[Mask] = None, test_mask: Optional[Mask] = None, checkpoint: Optional[Path] = None,
            resume: bool = False) -> Self:
        """Trains the model.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`
        y : labels, optional
            None, NaN or -1 means unknown. A Series or dict is matched by node id, and nodes that it does not name
            are unknown. An array is in the order of X. Without y, the Graph's own labels are used, with the split
            of `consm train`.
        train_mask, val_mask, test_mask : optional
            The training, validation and test nodes: a bool per node, node numbers, or by id a Series, a dict or an
            Index. Without val_mask a fifth of the labels is used for validation.
        checkpoint : path, optional
            The file that an interrupted run is written to.
        resume : bool
            Continue from that file if it exists. The result has the same bits as an uninterrupted run.

        Returns
        -------
        self

        Examples
        --------
        >>> import consm
        >>> g = consm.Graph.from_arrays([[0, 1, 3, 4], [1, 2, 4, 5]], node_ids=list("abcdef"))
        >>> model = consm.GCNClassifier(epochs=50).fit(g, {"a": "left", "d": "right"})
        >>> dict(zip("abcdef", model.predict(g).tolist()))["c"]
        'left'
        """
        _parameters.parameters(self.method)  # an unknown method is reported before anything else
        masks = {"train_mask": train_mask, "val_mask": val_mask, "test_mask": test_mask}
        graph, labels = self._training_data(X, y)
        if graph.n_edges == 0 and self.method != "mlp":
            raise ConsmValueError(f"{graph.name} has no edges: {self.method} needs edges "
                                  "(method mlp does not)")
        if labels is None and (graph.y is None or any(m is not None for m in masks.values())):
            if graph.y is None:
                raise ConsmValueError("requires y to be passed, but the target y is None: the graph has no labels "
                                      "of its own")
            labels = graph.y
        if labels is None:
            data, classes, values = self._as_the_command(graph)
        else:
            given = {k: None if m is None else _align.node_mask(m, k, graph._ids) for k, m in masks.items()}
            if all(m is None for m in given.values()):
                given = {k: getattr(graph, k) for k in MASKS} if y is None or isinstance(X, Graph) else given
            data, classes = graph._labelled(labels, given)
            values = self._values()
        self._say_what_is_not_read()
        self._train(data, values, graph.name, checkpoint, resume)
        self._keep(graph, data, classes, values)
        self._say_what_is_ignored(graph)
        self._say_what_is_uncertain()
        return self

    def _training_data(self, X: Any, y: Any) -> tuple[Graph, Optional[Array]]:
        """The graph and a label for each of its nodes, or None: its own."""
        if isinstance(X, Graph):
            return X, None if y is None else _align.labels(y, X._ids)
        if y is None:
            raise ConsmValueError("requires y to be passed, but the target y is None")
        if self.graph is None:
            return self._table_graph(X, True), _align.table_labels(y, X)
        places = self.graph.places(X)
        given = _align.sample_labels(y, X, self.graph._ids, places)
        if len(places) != len(given):
            raise ConsmValueError(f"y: found {len(given)} labels, expected one for each of the {len(places)} nodes of X")
        if len(np.unique(places)) != len(places):
            raise ConsmValueError("X: a node occurs twice: expected each node once")
        return self.graph, _align.spread(given, places, self.graph.n_nodes)

    def _as_the_command(self, graph: Graph) -> tuple[_lib.Handle, Array, dict[str, Any]]:
        """The labels and the split that came with the data."""
        values = self._values()
        if "codes" in graph._parts:  # opened by the library: exactly what the command trains on
            return graph._dataset(), graph._parts["classes"], values
        assert graph.y is not None
        data, classes = graph._labelled(graph.y, {k: getattr(graph, k) for k in MASKS})
        return data, classes, values

    def _train(self, data: _lib.Handle, values: dict[str, Any], name: str, checkpoint: Any,
               resume: bool) -> None:
        options = _lib.options(self.method, values)
        if checkpoint is not None:
            _lib.call(_lib.lib.consm_options_checkpoint, options.pointer, _lib.path_of(checkpoint), 0, bool(resume))
        progress = _run.Progress()
        _lib.lib.consm_options_on_progress(options.pointer, cast(progress.callback, c_void_p), None)
        model = _lib.model()
        try:
            _run.run(_lib.lib.consm_train, _lib.Out(model), data, options, progress=progress,
                     bar=_run.Bar(self.progress, f"{self.method} on {name}"), to_the_end=checkpoint is not None)
        except KeyboardInterrupt:
            if checkpoint is not None and os.path.exists(checkpoint):
                raise KeyboardInterrupt(f"stopped; fit(…, checkpoint={os.fspath(checkpoint)!r}, resume=True) continues "
                                        "from there") from None
            raise
        self._trained = model

    def _say_what_is_not_read(self) -> None:
        given = {name: getattr(self, name, None) for name in _parameters.parameters(self.method)}
        for name, readers in _parameters.unused(self.method, given).items():
            warnings.warn(f"{self.method} ignores {name}={given[name]!r}; it is a parameter of {', '.join(sorted(readers))}",
                          ConsmWarning, stacklevel=_lib._outside())

    def _keep(self, graph: Graph, data: _lib.Handle, classes: Array, values: dict[str, Any]) -> None:
        self.classes_ = classes
        self._training = (graph, data, values)
        self._cache = self._open = None
        self._facts()
        if graph.feature_names is not None and "table" not in graph._parts:
            self.feature_names_in_ = np.array(graph.feature_names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**63:
            raise ConsmValueError(f"random_state is {random_state}: expected 0 to 2**63 - 1")
        return int(random_state)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    raise ConsmValueError(f"random_state is {random_state!r}: expected a whole number, or None")
