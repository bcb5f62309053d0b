"""The answers of a trained model: labels, probabilities, trust, explanations."""
from __future__ import annotations

from ctypes import POINTER, byref, c_int64
from typing import TYPE_CHECKING, Any, Hashable, Optional, Union

import numpy as np

from . import _align, _explain, _lib, _rare, _run, _structs
from ._arrays import Array, reals
from ._errors import ConsmValueError
from ._facts import Facts
from ._graph import Graph
from ._growing import GrowingGraph
from ._intake import checked
from ._labels import missing
from ._prediction import Prediction, Some

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from ._types import GraphOrNodes, Labels, Nodes


class Answers(Facts):
    """The methods of a fitted estimator."""

    def _table_graph(self, X: Any, training: bool) -> Graph:
        """A plain table: its rows are nodes without edges, which only an MLP can use."""
        if self.method != "mlp":
            raise ConsmValueError(f"X is {type(X).__name__}: {self.method} expects a Graph, or node ids of the Graph "
                                  "that was given as graph=")
        names = getattr(X, "columns", None)
        if hasattr(X, "tocsr"):
            X = checked(X, "X").tocsr()
        else:
            X = reals(X, "X", None)
            if X.ndim != 2:
                raise ConsmValueError(f"X: found shape {X.shape}. Reshape your data: expected (samples, features), "
                                      "or a Graph")
        if 0 in X.shape:
            raise ConsmValueError(f"X: found {X.shape[0]} sample(s) and 0 feature(s) (shape={X.shape}) while a minimum "
                                  "of 1 is required." if X.shape[1] == 0 else f"X: found 0 sample(s) (shape={X.shape}) "
                                  "while a minimum of 1 is required.")
        values = X.data if hasattr(X, "tocsr") else X
        if not np.isfinite(values).all():
            raise ConsmValueError("X: Input contains NaN or infinity: expected finite numbers")
        if not training and X.shape[1] != self.n_features_in_:
            raise ConsmValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                                  f"{self.n_features_in_} features as input")
        return Graph.from_arrays(np.zeros((2, 0), np.int64), X, name="table",
                                 feature_names=None if names is None else [str(n) for n in names])

    def _asked(self, X: Any) -> tuple[Graph, Optional[Array]]:
        """The graph of X, and the chosen nodes; None: all."""
        self._fitted()
        if isinstance(X, Graph):
            return X, None
        if self.graph is None:
            return self._table_graph(X, False), None
        return self.graph, self.graph.places(X)

    def _predict(self, X: Any, nodes: Any = None) -> Prediction:
        if isinstance(X, GrowingGraph):
            if nodes is None:
                raise ConsmValueError("X is a GrowingGraph: choose nodes with nodes=[…], or pass its snapshot()")
            self._fitted()
            return self._predict_some(X, X.places(nodes))
        graph, places = self._asked(X)
        if nodes is not None:
            if not isinstance(X, Graph):
                raise ConsmValueError(f"nodes= needs a Graph: X is {type(X).__name__}")
            places = graph.places(nodes)
        cached: Optional[tuple[Graph, Prediction]] = self._cache
        if cached is not None and cached[0] is graph:
            whole = cached[1]
        elif nodes is not None:
            return self._predict_some(graph, places)
        else:
            whole = self._predict_graph(graph)
            if isinstance(X, Graph) or self.graph is not None:
                self._cache = (graph, whole)
        if places is None:
            return whole
        return Some(whole, places)

    def _predict_graph(self, graph: Graph) -> Prediction:
        made = _lib.Handle(_lib.lib.consm_prediction_free, POINTER(_structs.Prediction))
        _run.run(_lib.lib.consm_predict_on, _lib.Out(made), self._trained, graph._dataset(), self._device(),
                 self._threads())
        return Prediction(made)

    def _predict_some(self, graph: Any, places: Any) -> Prediction:
        """Predicts only these nodes, with a predictor that stays open for the next call."""
        predictor = self._predictor(graph)
        made = _lib.Handle(_lib.lib.consm_prediction_free, POINTER(_structs.Prediction))
        at = byref(c_int64.from_buffer(places.data)) if len(places) else None  # quicker than places.ctypes.data
        _lib.call(_lib.lib.consm_predictor_nodes, byref(made.pointer), predictor.pointer, at, len(places))
        return Prediction(made)

    def predict(self, X: GraphOrNodes, *, nodes: Optional[Nodes] = None) -> Array:
        """Predicts the class of every node: the most probable one, or the one that reaches its threshold.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`
        nodes : ids, optional
            Predict only these nodes of the Graph, in this order. The results are the same. It computes only what
            these nodes need, not the whole graph, and keeps the graph prepared for the next call.

        Returns
        -------
        array of shape (n,)
            The type is that of the training labels.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> model.predict(g).shape
        (34,)
        >>> model.predict(g, nodes=[0, 33]).tolist()
        ['Mr. Hi', 'Officer']
        """
        return np.asarray(self.classes_[self._predict(X, nodes).label]) if self._fitted() else np.zeros(0)

    def predict_proba(self, X: GraphOrNodes, *, nodes: Optional[Nodes] = None) -> Array:
        """Predicts the probability of each class, calibrated on the validation nodes.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`
        nodes : ids, optional
            Only these nodes of the Graph, as for predict.

        Returns
        -------
        array of shape (n, classes)
            Columns as in classes_.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> p = consm.GCNClassifier(random_state=0, per_class=4).fit(g).predict_proba(g)
        >>> bool(abs(p.sum(axis=1) - 1).max() < 1e-5)
        True
        """
        p = self._predict(X, nodes)
        return p.probability if nodes is not None else np.array(p.probability)

    def predict_log_proba(self, X: GraphOrNodes) -> Array:
        """The logarithm of predict_proba.

        Returns
        -------
        array of shape (n, classes)

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> bool((model.predict_log_proba(g) <= 0).all())
        True
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def log_odds(self, X: GraphOrNodes) -> Array:
        """Returns log(p / (1 - p)) of each class, before p is shrunk towards uniform. It ranks nodes with equal p.

        Returns
        -------
        array of shape (n, classes)
            Columns as in classes_.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> bool((model.log_odds(g).argmax(axis=1) == model.predict_proba(g).argmax(axis=1)).all())
        True
        """
        return np.array(self._predict(X).log_odds)

    def predict_set(self, X: GraphOrNodes) -> Array:
        """Returns the prediction sets of a model that was trained with coverage, for example coverage=0.9.

        Returns
        -------
        bool array of shape (n, classes)
            Whether the class is in the node's set. A set holds the true class with probability coverage or more.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("csbm:nodes=200")
        >>> consm.GCNClassifier(random_state=0, coverage=0.9, epochs=20).fit(g).predict_set(g).shape
        (200, 4)
        """
        found = self._predict(X).in_set
        if found is None:
            raise ConsmValueError("the model has no prediction sets: fit it with coverage, as in coverage=0.9")
        return np.array(found)

    def predict_frame(self, X: GraphOrNodes, *, nodes: Optional[Nodes] = None) -> "pd.DataFrame":
        """Returns the predictions as a table.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`
        nodes : ids, optional
            Only these nodes of the Graph, as for predict.

        Returns
        -------
        DataFrame
            Index: node ids. Columns: label, confidence (the label's probability) and, if it is known, seen:
            whether the node's label trained or validated the model.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> list(consm.GCNClassifier(random_state=0, per_class=4).fit(g).predict_frame(g).columns)
        ['label', 'confidence', 'seen']
        """
        import pandas as pd
        if isinstance(X, GrowingGraph):
            raise ConsmValueError("predict_frame needs a Graph: for a GrowingGraph use predict and predict_proba")
        graph, places = self._asked(X)
        p = self._predict(X, nodes)
        places = places if nodes is None else graph.places(nodes)
        ids = graph.ids() if places is None else graph.ids()[places]
        frame = pd.DataFrame({"label": self.classes_[p.label], "confidence": p.confidence},
                             index=pd.Index(ids, name="id"))
        if p.seen is not None:
            frame["seen"] = p.seen
        return frame

    def seen(self, X: GraphOrNodes) -> Array:
        """Marks the nodes that the model learned from. Scores on them are optimistic.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`

        Returns
        -------
        bool array of shape (n,)
            Whether the node's label trained, validated or calibrated the model. Nodes are recognised by id.

        Examples
        --------
        >>> import consm
        >>> g = consm.Graph.from_arrays([[0, 1, 3, 4], [1, 2, 4, 5]], node_ids=list("abcdef"))
        >>> model = consm.GCNClassifier(epochs=5).fit(g, {"a": "left", "d": "right"})
        >>> model.seen(g).tolist()
        [True, False, False, True, False, False]
        """
        found = self._predict(X).seen
        if found is None:
            raise ConsmValueError("cannot tell new from seen nodes: this graph or the training graph has no node ids, "
                                  "or an older consm wrote the model. Give this graph node_ids; if that is not "
                                  "enough, fit again on a graph with node_ids")
        return np.array(found)

    def embeddings(self, X: GraphOrNodes) -> Array:
        """Returns the embedding of each node: the input of the model's last layer.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`

        Returns
        -------
        array of shape (n, width)
            For an ensemble, the embeddings of its members side by side.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> consm.GCNClassifier(random_state=0, hidden=16, per_class=4).fit(g).embeddings(g).shape
        (34, 16)
        """
        graph, places = self._asked(X)
        made = _lib.Handle(_lib.lib.consm_embedding_free, POINTER(_structs.Embedding))
        _run.run(_lib.lib.consm_embed, _lib.Out(made), self._trained, graph._dataset(), self._device(), self._threads())
        e = made.pointer.contents
        whole = _lib.copied(e.value, (int(e.nodes), int(e.width)))
        return whole if places is None else whole[places]

    def _class_number(self, label: Any) -> int:
        match = np.flatnonzero([c == label for c in self.classes_.tolist()])
        if not match.size:
            raise ConsmValueError(f"unknown class {label!r}: expected one of {self.classes_.tolist()}")
        return int(match[0])

    def suspects(self, X: Optional[Graph] = None, label: Optional[Hashable] = None, k: int = 20, *,
                 y: Optional[Labels] = None, reasons: bool = False) -> "pd.DataFrame":
        """Lists the nodes with the highest probability of a class, highest first.

        Parameters
        ----------
        X : Graph, optional
            By default `graph`, or the graph of training.
        label : class, optional
            By default the class of `threshold_for` or `positive`, or the rarest in training.
        k : int
            Number of nodes.
        y : labels, optional
            Nodes with a known label are left out. By default the Graph's labels.
        reasons : bool
            Add the strongest evidence: a feature, a neighbour and an edge. Costs one explanation per node.

        Returns
        -------
        DataFrame
            Index: ids. Columns: probability, label (predicted), and with reasons feature, neighbour and edge.
            Nodes with equal probability are ranked by log-odds.

        Examples
        --------
        >>> import consm
        >>> g = consm.Graph.from_arrays([[0, 1, 3, 4], [1, 2, 4, 5]], node_ids=list("abcdef"))
        >>> known = {"a": "left", "d": "right"}
        >>> model = consm.GCNClassifier(random_state=0, epochs=50).fit(g, known)
        >>> sorted(model.suspects(g, "right", k=2, y=known).index)
        ['e', 'f']
        """
        graph = self._graph_of(X)
        number = _rare.asked_class(self.info_, self.metrics_) if label is None else self._class_number(label)
        p = self._predict(graph)
        y = graph.y if y is None else y
        unknown = np.ones(graph.n_nodes, bool) if y is None else missing(_align.labels(y, graph._ids))
        chosen = _rare.ranked(p.probability[:, number], p.log_odds[:, number], unknown, k)
        told = [self.explain(node, graph, label=self.classes_[number]) for node in graph.ids()[chosen]] if reasons else []
        return _rare.suspects(graph.ids()[chosen], p.probability[chosen, number], self.classes_[p.label[chosen]], told)

    def score(self, X: GraphOrNodes, y: Optional[Labels] = None,
              sample_weight: Optional[ArrayLike] = None) -> float:
        """Returns the accuracy on the nodes whose label in y is known.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`
        y : labels, optional
            True labels; by default the Graph's. Labels with ids are matched by node id, as in fit.
        sample_weight : array, Series or dict, optional
            Weight of each node.

        Returns
        -------
        float

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> model.score(g) > 0.9
        True
        """
        if y is None and isinstance(X, Graph):
            y = X.y
        if y is None:
            raise ConsmValueError("score needs y: the labels to compare with")
        graph, places = self._asked(X)
        asked = _align.Asked(X, graph._ids, places)
        truth, guess = asked.labels(y), self.predict(X)
        if len(truth) != len(guess):
            raise ConsmValueError(f"y: found {len(truth)} labels, expected {len(guess)}")
        known = ~missing(truth)
        if not known.any():
            raise ConsmValueError("y contains no known label: expected at least one")
        if not set(self.classes_.tolist()) & set(truth[known].tolist()):
            strange = list(dict.fromkeys(truth[known].tolist()))
            raise ConsmValueError(f"y: none of its labels is a class of the model: {_align.examples(strange)}; its classes "
                                  f"are {_align.examples(self.classes_.tolist())}")
        right = np.array([a == b for a, b in zip(truth[known].tolist(), guess[known].tolist())], float)
        weight = None if sample_weight is None else reals(asked.weights(sample_weight), "sample_weight")[known]
        return float(np.average(right, weights=weight))

    def explain(self, node: Hashable, X: Union[Graph, GrowingGraph, None] = None, *, label: Optional[Hashable] = None,
                limit: int = 500) -> _explain.Explanation:
        """Explains a node's prediction: removes edges, neighbours and features one at a time.

        Parameters
        ----------
        node : id
        X : Graph or GrowingGraph, optional
            By default `graph`, or the graph of training. It is kept ready for the next call.
        label : class, optional
            Explain this class instead of the predicted one.
        limit : int
            Largest number of edges, of neighbours and of features to try, nearest to the node first.

        Returns
        -------
        Explanation

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> told = consm.GCNClassifier(random_state=0, per_class=4).fit(g).explain(0, g)
        >>> told.node, told.label, len(told.neighbours)
        (0, 'Mr. Hi', 16)
        """
        graph = self._graph_or_growing(X)
        number = None if label is None else self._class_number(label)
        return _explain.explain(self._fitted(), self._predictor(graph), graph.ids_of, graph.place(node), number, limit,
                                self.classes_)
