"""The edge methods of an estimator: trust, suggested edges, and the cleaned graph."""
from __future__ import annotations

from ctypes import POINTER, byref
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union

import numpy as np

from . import _lib, _run, _structs
from ._arrays import Array
from ._errors import ConsmTypeError, ConsmValueError
from ._graph import Graph
from ._kept import Kept

if TYPE_CHECKING:
    import pandas as pd


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


def _columns(scores: _lib.Handle, ids: Array) -> dict[str, Array]:
    """The pairs by id, with their trust."""
    e = scores.pointer.contents
    count = (int(e.edges),)
    source, target, trust, low, high = (_lib.copied(getattr(e, name), count)
                                        for name in ("from", "to", "score", "low", "high"))
    return {"source": ids[source], "target": ids[target], "trust": trust,
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

    def _threads(self) -> int:
        threads = getattr(self, "threads", None)
        return 0 if threads is None else int(threads)

    def _device(self) -> Optional[bytes]:
        """Where predictions are computed: where the estimator was told to train; None: the CPU."""
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

    def edge_trust(self, X: Optional[Graph] = None) -> "pd.DataFrame":
        """Scores every edge: the probability that both ends share a class.

        Parameters
        ----------
        X : Graph, optional
            By default `graph`, or the graph of training.

        Returns
        -------
        DataFrame
            Every undirected edge of the cleaned graph once: source, target, trust (the probability that both ends
            share a class), kept, and low and high, the bounds of a 90 % interval of the trust (NaN for models other
            than ConSM). Without pandas it is a record array.

        Examples
        --------
        >>> import consm
        >>> g = consm.load("karate")
        >>> len(consm.GCNClassifier(random_state=0, per_class=4).fit(g).edge_trust(g))
        78
        """
        graph = self._graph_of(X)
        made = self._score_edges(graph)
        frame = _frame(_columns(made, graph.ids()))
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
        columns = _columns(self._suggest(graph, k), graph.ids())
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
        return Cleaned(graph._with_edges(made), _changes(scores, dropped[:-1].astype(bool), added, graph.ids()))

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


def _changes(scores: _lib.Handle, dropped: Array, added: Optional[_lib.Handle], ids: Array) -> "pd.DataFrame":
    gone = {name: column[dropped] for name, column in _columns(scores, ids).items()}
    new: dict[str, Any] = {name: column[:0] for name, column in gone.items()} if added is None else _columns(added, ids)
    word = np.array(["dropped"] * len(gone["trust"]) + ["added"] * len(new["trust"]), object)
    whole = {name: np.concatenate([gone[name], new[name]]) for name in gone if name != "kept"}
    return _frame({"source": whole["source"], "target": whole["target"], "change": word, "trust": whole["trust"],
                   "low": whole["low"], "high": whole["high"]})
