"""A graph that changes while models predict on it."""
from __future__ import annotations

from ctypes import byref, c_int64
from typing import TYPE_CHECKING, Any, Hashable, Iterable, Optional, Sequence, Union

import numpy as np

from . import _lib, _run, _structs
from ._arrays import Array
from ._errors import ConsmValueError
from ._graph import Graph

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class GrowingGraph:
    """A graph that accepts new nodes, edges and features while other threads read it.

    A change costs time only for what it changes. predict(growing, nodes=[…]) and predict_proba of a fitted model
    use the graph as it is when they are called. A call that fails changes nothing.

    Parameters
    ----------
    graph : Graph
        The initial graph.

    Examples
    --------
    >>> import consm
    >>> g = consm.Graph.from_arrays([[0, 1, 3, 4], [1, 2, 4, 5]], [[0.], [0.], [0.], [1.], [1.], [1.]])
    >>> model = consm.GCNClassifier(epochs=50).fit(g, [0, -1, -1, 1, -1, -1])
    >>> growing = consm.GrowingGraph(g)
    >>> growing.add_nodes([[1.0]])
    6
    >>> growing.add_edges([(6, 5)])
    >>> model.predict(growing, nodes=[6]).tolist()
    [1]
    """

    def __init__(self, graph: Graph) -> None:
        self.name = graph.name
        self._handle = _lib.Handle(_lib.lib.consm_graph_free)
        _run.run(_lib.lib.consm_graph_new, _lib.Out(self._handle), graph._dataset())
        self._handle.needs = graph
        self._numbered = graph.node_ids is None  # its nodes have numbers, not ids

    @property
    def n_nodes(self) -> int:
        """The current number of nodes."""
        return int(_lib.lib.consm_graph_nodes(self._handle.pointer))

    def __repr__(self) -> str:
        return f"<GrowingGraph {self.name!r}: {self.n_nodes:,} nodes>"

    def places(self, nodes: Iterable[Hashable]) -> Array:
        """The numbers of nodes, given by id. An unknown id is an error that names it."""
        ids: list[Optional[bytes]] = [_lib.encode(str(node), "a node's id") for node in nodes]
        found = np.zeros(len(ids), np.int64)
        _lib.call(_lib.lib.consm_graph_find, found.ctypes.data, self._handle.pointer, _lib.names(ids), len(ids))
        return found

    def place(self, node: Hashable) -> int:
        """The number of a node, given by id."""
        return int(self.places([node])[0])

    def ids_of(self, places: Iterable[int]) -> Array:
        """The ids of nodes, given by number; the numbers themselves if the graph has no ids."""
        buffer, found = _lib.buffer(1024), []
        for place in places:
            _lib.call(_lib.lib.consm_graph_id, buffer, len(buffer), self._handle.pointer, int(place))
            found.append(_lib.decode(buffer.value))
        return np.array(found, object)

    def add_nodes(self, x: ArrayLike, ids: Optional[Sequence[Hashable]] = None) -> int:
        """Adds nodes with these features (n, f), and ids if the graph has ids. Returns the number of the first
        one."""
        rows, keep = _rows(x, ids)
        first = c_int64()
        _lib.call(_lib.lib.consm_graph_add_nodes, self._handle.pointer, byref(rows), byref(first))
        del keep
        return int(first.value)

    def set_features(self, nodes: Sequence[Hashable], x: ArrayLike) -> None:
        """Replaces the features of nodes by x, (n, f)."""
        rows, keep = _rows(x, None)
        if rows.nodes != len(nodes):
            raise ConsmValueError(f"x has {rows.nodes} rows for {len(nodes)} nodes: expected one row per node")
        places = self.places(nodes)
        _lib.call(_lib.lib.consm_graph_set_features, self._handle.pointer, places.ctypes.data, byref(rows))
        del keep

    def add_edges(self, edges: Union[Iterable[tuple[Hashable, Hashable]], Array], weight: Optional[ArrayLike] = None) -> None:
        """Adds undirected edges between nodes, given by id: pairs, or an array (m, 2). An existing edge gets the
        new weight."""
        source, target = self._ends(edges)
        weights = None if weight is None else np.ascontiguousarray(weight, np.float32)
        if weights is not None and weights.shape != source.shape:
            raise ConsmValueError(f"weight: found shape {weights.shape}, expected {len(source)} weights, one per edge")
        _lib.call(_lib.lib.consm_graph_add_edges, self._handle.pointer, source.ctypes.data, target.ctypes.data,
                  None if weights is None else weights.ctypes.data, len(source))

    def remove_edges(self, edges: Union[Iterable[tuple[Hashable, Hashable]], Array]) -> None:
        """Removes edges, given as for add_edges. A pair that is not an edge is an error."""
        source, target = self._ends(edges)
        _lib.call(_lib.lib.consm_graph_remove_edges, self._handle.pointer, source.ctypes.data, target.ctypes.data,
                  len(source))

    def snapshot(self) -> Graph:
        """Returns the current graph, to train on or save. Takes as long as loading."""
        made = _lib.dataset()
        _run.run(_lib.lib.consm_graph_dataset, _lib.Out(made), self._handle)
        return Graph._from_handle(made)

    def _ends(self, edges: Union[Iterable[tuple[Hashable, Hashable]], Array]) -> tuple[Array, Array]:
        """The numbers of both ends. An array of numbers, (m, 2), needs no look-up by id."""
        given: Any = edges if isinstance(edges, np.ndarray) else list(edges)
        if self._numbered and len(given) and (isinstance(given, np.ndarray) or all(type(end) is int for end in given[0])):
            numbers = np.asarray(given)
            if numbers.dtype.kind == "i" and numbers.shape[1:] == (2,) and numbers.min() >= 0 \
                    and numbers.max() < self.n_nodes:
                ends = np.ascontiguousarray(numbers.T, np.int64)
                return ends[0], ends[1]
        pairs = given.tolist() if isinstance(given, np.ndarray) else given
        return self.places([a for a, _ in pairs]), self.places([b for _, b in pairs])


def _rows(x: Any, ids: Optional[Sequence[Hashable]]) -> tuple[_structs.Arrays, list[Any]]:
    """Rows of nodes for the library, and what must live as long."""
    features = np.ascontiguousarray(x, np.float32)
    if features.ndim != 2:
        raise ConsmValueError(f"x: found shape {features.shape}, expected (nodes, features)")
    if ids is not None and len(ids) != len(features):
        raise ConsmValueError(f"{len(ids)} ids for {len(features)} rows of x: expected one id per row")
    rows = _structs.Arrays(nodes=len(features), features=features.shape[1], feature=_lib.address(features))
    keep: list[Any] = [features]
    if ids is not None:
        keep.append(_lib.names([_lib.encode(str(v), "a node's id") for v in ids]))
        rows.node_id = keep[-1]
    return rows, keep
