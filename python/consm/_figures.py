"""The plot_ functions of a fitted model."""
from __future__ import annotations

from ctypes import POINTER, byref
from typing import TYPE_CHECKING, Any, Hashable, Optional

import numpy as np

from . import _align, _lib, _plot, _rare, _structs
from ._answers import Answers
from ._arrays import Array
from ._errors import ConsmValueError
from ._facts import ROLES
from ._graph import Graph
from ._labels import missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._types import GraphOrNodes, Labels


class Figures(Answers):
    """Figures with matplotlib, which is imported only here."""

    def plot_roc(self, X: Optional[GraphOrNodes] = None, y: Optional[Labels] = None, *,
                 label: Optional[Hashable] = None, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws the ROC curve of one class or of all.

        Parameters
        ----------
        X, y : optional
            A Graph (or node ids) and true labels. By default the curve is the one measured in training, on the
            test nodes or else on the validation nodes. Leave training nodes out of y (None, NaN or -1);
            otherwise the curve is optimistic.
        label : class, optional
            By default the rarer one of two classes, or all.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> model.plot_roc().get_title()
        'test nodes'
        """
        self._fitted()
        numbers = self._curves(label)
        if X is None:
            role, curves = self._measured(numbers)
            title = f"{role} nodes"
        else:
            known, truth = self._known(X, y)
            probability, title = self.predict_proba(X)[known], f"{len(truth):,} nodes"
            curves = [(str(self.classes_[k]), *_plot.roc_points(truth == self.classes_[k], probability[:, k]))
                      for k in numbers]
        drawn: Axes = _plot.roc(ax, curves, title)
        return drawn

    def plot_reliability(self, X: GraphOrNodes, y: Optional[Labels] = None, *, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws accuracy against confidence.

        Parameters
        ----------
        X : Graph, or ids of nodes of `graph`
        y : labels, optional
            True labels; by default the Graph's. Leave training nodes out (None, NaN or -1); otherwise the curve is
            optimistic.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> model.plot_reliability(g).get_title()
        '34 nodes'
        """
        known, truth = self._known(X, y)
        p = self._predict(X)
        right = np.array([a == b for a, b in zip(truth.tolist(), self.classes_[p.label[known]].tolist())], float)
        drawn: Axes = _plot.reliability(ax, p.confidence[known].astype(np.float64), right)
        return drawn

    def plot_trust(self, X: Optional[Graph] = None, *, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws a histogram of the edges' trust.

        Parameters
        ----------
        X : Graph, optional
            By default `graph`, or the graph of training.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> model.plot_trust(g).get_title()
        '78 edges'
        """
        edges = self.edge_trust(X)
        drawn: Axes = _plot.trust(ax, np.asarray(edges["trust"]), np.asarray(edges["kept"], bool))
        return drawn

    def plot_neighbourhood(self, node: Hashable, X: Optional[Graph] = None, *, limit: int = 30,
                           ax: "Optional[Axes]" = None) -> "Axes":
        """Draws a node and its neighbours. Colours are predicted classes; wide edges are trusted, dotted ones are
        not kept.

        Parameters
        ----------
        node : id
        X : Graph, optional
            By default `graph`, or the graph of training.
        limit : int
            Largest number of neighbours.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> len(model.plot_neighbourhood(5, g, limit=3).get_lines())
        3
        """
        graph = self._graph_of(X)
        place = graph.place(node)
        edges, ids = self.edge_trust(graph), graph.ids()
        source, target = (graph.places(np.asarray(edges[end])) for end in ("source", "target"))
        mine = np.flatnonzero((source == place) | (target == place))
        shown = mine[np.argsort(-np.asarray(edges["trust"])[mine], kind="stable")][:limit]
        places = np.r_[place, np.where(source[shown] == place, target[shown], source[shown])]
        drawn: Axes = _plot.neighbourhood(ax, ids[place], ids[places].tolist(), self.predict(graph)[places],
                                   np.asarray(edges["trust"])[shown], np.asarray(edges["kept"], bool)[shown],
                                   len(mine) - len(shown))
        return drawn

    def _known(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Which of the nodes have a label, and the labels."""
        graph, places = self._asked(X)
        y = graph.y if y is None and isinstance(X, Graph) else y
        if y is None:
            raise ConsmValueError("requires y: the labels to compare with")
        truth = _align.Asked(X, graph._ids, places).labels(y)
        if len(truth) != (graph.n_nodes if places is None else len(places)):
            raise ConsmValueError(f"y: found {len(truth)} labels, expected one for each node of X")
        known = ~missing(truth)
        if not known.any():
            raise ConsmValueError("y contains no known label: expected at least one")
        return known, truth[known]

    def _curves(self, label: Any) -> list[int]:
        if label is not None:
            return [self._class_number(label)]
        if len(self.classes_) == 2:
            return [_rare.asked_class(self.info_, self.metrics_)]
        return list(range(len(self.classes_)))

    def _measured(self, numbers: list[int]) -> tuple[str, list[tuple[str, Array, Array]]]:
        """The curves that were measured when the model was trained."""
        for role in ("test", "validation"):
            found = _lib.lib.consm_model_metrics(self._trained.pointer, ROLES[role])
            curves = []
            for k in numbers:
                points = POINTER(_structs.CurvePoint)()
                count = int(_lib.lib.consm_metrics_curve(byref(points), found, k)) if found else 0
                if count:
                    rows = np.array([(points[i].false_positive_rate, points[i].recall) for i in range(count)])
                    curves.append((str(self.classes_[k]), np.r_[0.0, rows[:, 0]], np.r_[0.0, rows[:, 1]]))
            if curves:
                return role, curves
        raise ConsmValueError("the model stores no curve: pass X and y")
