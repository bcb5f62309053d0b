"""The edge methods of an estimator: trust, suggested edges, and the cleaned graph."""
from __future__ import annotations

from ctypes import POINTER, byref
from typing import TYPE_CHECKING, Any, Callable, Literal, NamedTuple, Optional, Union

import numpy as np

from . import _lib, _run, _structs
from ._arrays import Array
from ._errors import ConsmTypeError, ConsmValueError
from ._graph import Graph
from ._growing import GrowingGraph
from ._kept import Kept

if TYPE_CHECKING:
    import pandas as pd

    from ._types import Nodes


class Cleaned(NamedTuple):
    """The result of clean().

    Attributes
    ----------
    graph : Graph
        Without the dropped edges, with the added ones.
    changes : DataFrame
        source, target, change ("dropped" or "added"), trust, low, high.
    """

    graph: Graph
    changes: "pd.DataFrame"


def _scores() -> _lib.Handle:
    return _lib.Handle(_lib.lib.consm_edge_scores_free, POINTER(_structs.EdgeScores))


def _columns(scores: _lib.Handle, ids_of: Callable[[Any], Array]) -> dict[str, Array]:
    """The pairs by id, with their trust."""
    e = scores.pointer.contents
    count = (int(e.edges),)
    source, target, trust, low, high = (_lib.copied(getattr(e, name), count)
                                        for name in ("from", "to", "score", "low", "high"))
    return {"source": ids_of(source), "target": ids_of(target), "trust": trust,
            "kept": _lib.copied(e.kept, count).astype(bool), "low": low, "high": high}


def _frame(columns: dict[str, Array]) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError:
        return np.rec.fromarrays(list(columns.values()), names=",".join(columns))  # type: ignore[call-overload]
    return pd.DataFrame(columns)


class Trust(Kept):
    """The edge methods of a fitted model."""

    graph: Optional[Graph]
    info_: dict[str, Any]

    def _threads(self) -> int:
        threads = getattr(self, "threads", None)
        return 0 if threads is None else int(threads)

    def _device(self) -> Optional[bytes]:
        """The device for predictions: the estimator's; None: the CPU."""
        device = getattr(self, "device", None)
        return None if device is None else _lib.encode(device, "device")

    def _graph_of(self, X: Optional[Graph]) -> Graph:
        self._fitted()
        graph = X if X is not None else self.graph
        if graph is None:
            graph = self._training[0] if self._training else None
        if not isinstance(graph, Graph):
            raise ConsmTypeError(f"X is {type(X).__name__}: expected a Graph")
        return graph

    def _graph_or_growing(self, X: Union[Graph, GrowingGraph, None]) -> Union[Graph, GrowingGraph]:
        return X if isinstance(X, GrowingGraph) else self._graph_of(X)

    def _predictor(self, graph: Any) -> _lib.Handle:
        """A predictor for a graph; that of the last graph stays open."""
        opened = self._open  # read once: another thread may replace it
        if opened is None or opened[0] is not graph:
            predictor = _lib.Handle(_lib.lib.consm_predictor_free)
            call, on = ((_lib.lib.consm_predictor_new_on, graph._handle) if isinstance(graph, GrowingGraph)
                        else (_lib.lib.consm_predictor_new, graph._dataset()))
            _run.run(call, _lib.Out(predictor), self._fitted(), on, self._threads())
            predictor.needs = (self._trained, graph)
            opened = self._open = (graph, predictor)
        return opened[1]  # type: ignore[no-any-return]

    def edge_trust(self, X: Union[Graph, GrowingGraph, None] = None, *,
                   nodes: Optional[Nodes] = None) -> "pd.DataFrame":
        """Scores every edge: the probability that both ends share a class.

        Parameters
        ----------
        X : Graph, optional
            By default `graph`, or the graph of training; with nodes also a GrowingGraph.
        nodes : ids, optional
            Only the edges of these nodes, with the scores that they have in a full call. The graph is kept ready
            for the next call. ConSM's trust needs the whole graph once, that of other models only these nodes.

        Returns
        -------
        DataFrame
            Every undirected edge once, without self-loops: source, target, trust (the probability that both ends
            share a class), kept, and low and high, the bounds of a 90 % interval of the trust (NaN for models other
            than ConSM). Without pandas it is a record array.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> len(consm.GCNClassifier(random_state=0, per_class=4).fit(g).edge_trust(g))
        78
        """
        graph = self._graph_or_growing(X)
        if nodes is None and not isinstance(graph, Graph):
            raise ConsmValueError("X is a GrowingGraph: choose nodes with nodes=[…], or pass its snapshot()")
        made = self._score_edges(graph) if isinstance(graph, Graph) and nodes is None else self._edges_of(graph, nodes)
        frame = _frame(_columns(made, graph.ids_of))
        if hasattr(frame, "attrs"):
            frame.attrs["zeta"] = float(made.pointer.contents.zeta)
        return frame

    def suggest_edges(self, X: Optional[Graph] = None, k: int = 20) -> "pd.DataFrame":
        """Suggests missing edges: pairs of nodes without an edge, highest trust first.

        Candidates are close in the model's embedding or in their features.

        Parameters
        ----------
        X : Graph, optional
            By default `graph`, or the graph of training.
        k : int
            Largest number of pairs.

        Returns
        -------
        DataFrame
            source, target, trust (that the pair would have as an edge), low, high.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> consm.GCNClassifier(random_state=0, per_class=4).fit(g).suggest_edges(g, 3).shape
        (3, 5)
        """
        graph = self._graph_of(X)
        columns = _columns(self._suggest(graph, k), graph.ids_of)
        del columns["kept"]
        order = np.argsort(-columns["trust"], kind="stable")
        return _frame({name: column[order] for name, column in columns.items()})

    def clean(self, X: Optional[Graph] = None, *, drop: Union[float, Literal["auto"], None] = None,
              threshold: Optional[float] = None, add: int = 0) -> Cleaned:
        """Returns the graph without distrusted edges, and optionally with suggested ones.

        Parameters
        ----------
        X : Graph, optional
            By default `graph`, or the graph of training.
        drop : float or "auto", optional
            Drop this share of the edges, those of least trust. "auto" drops the share that the model trained
            without, which validation chose (`info_["drop_share"]`).
        threshold : float, optional
            Drop edges with less trust. By default, drop the edges that edge_trust() does not keep.
        add : int
            Add this many pairs of suggest_edges(). If edges have weights, a new one gets their mean.

        Returns
        -------
        Cleaned
            (graph, changes). Nodes, features, labels and masks do not change.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> model = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
        >>> graph, changes = model.clean(g, drop=0.1, add=2)
        >>> graph.n_edges, changes["change"].value_counts().to_dict()
        (73, {'dropped': 7, 'added': 2})
        """
        if drop is not None and threshold is not None:
            raise ConsmValueError("both drop and threshold are given: expected one of them")
        if drop == "auto":
            drop = float(self.info_["drop_share"])
        for name, value in (("drop", drop), ("threshold", threshold)):
            if value is not None and (isinstance(value, str) or not 0 <= value <= 1):
                raise ConsmValueError(f"{name} is {value!r}: expected a number from 0 to 1"
                                      f"{' or auto' if name == 'drop' else ''}")
        if add < 0:
            raise ConsmValueError(f"add is {add}: expected 0 or more")
        graph = self._graph_of(X)
        scores = self._score_edges(graph)
        added = self._suggest(graph, add) if add else None
        how = _structs.CleanOptions(share=-1.0 if drop is None else float(drop),
                                    threshold=-1.0 if threshold is None else float(threshold))
        dropped = np.zeros(int(scores.pointer.contents.edges) + 1, np.uint8)
        _lib.call(_lib.lib.consm_clean_choose, dropped.ctypes.data, scores.pointer, byref(how))
        made = _lib.dataset()
        made.needs = graph._dataset()
        _run.run(_lib.lib.consm_dataset_clean, _lib.Out(made), made.needs, scores, dropped, added)
        return Cleaned(graph._with_edges(made), _changes(scores, dropped[:-1].astype(bool), added, graph.ids_of))

    def _edges_of(self, graph: Union[Graph, GrowingGraph], nodes: Any) -> _lib.Handle:
        made, predictor = _scores(), self._predictor(graph)
        places = np.ascontiguousarray(graph.places(nodes), np.int64)
        _run.run(_lib.lib.consm_predictor_edges, _lib.Out(made), predictor, places, len(places))
        return made

    def _score_edges(self, graph: Graph) -> _lib.Handle:
        made = _scores()
        _run.run(_lib.lib.consm_score_edges_on, _lib.Out(made), self._fitted(), graph._dataset(), self._device(),
                 self._threads())
        return made

    def _suggest(self, graph: Graph, k: int) -> _lib.Handle:
        if k < 1:
            raise ConsmValueError(f"k is {k}: expected 1 or more")
        made = _scores()
        _run.run(_lib.lib.consm_suggest_edges, _lib.Out(made), self._fitted(), graph._dataset(), int(k),
                 self._device(), self._threads())
        return made


def _changes(scores: _lib.Handle, dropped: Array, added: Optional[_lib.Handle], ids_of: Callable[[Any], Array]) -> "pd.DataFrame":
    gone = {name: column[dropped] for name, column in _columns(scores, ids_of).items()}
    new: dict[str, Any] = {name: column[:0] for name, column in gone.items()} if added is None else _columns(added, ids_of)
    word = np.array(["dropped"] * len(gone["trust"]) + ["added"] * len(new["trust"]), object)
    whole = {name: np.concatenate([gone[name], new[name]]) for name in gone if name != "kept"}
    return _frame({"source": whole["source"], "target": whole["target"], "change": word, "trust": whole["trust"],
                   "low": whole["low"], "high": whole["high"]})
