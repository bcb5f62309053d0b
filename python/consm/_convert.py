"""Makes graphs from objects of other packages; make is Graph.from_arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

import numpy as np

from . import _align, _table
from ._arrays import as_numpy
from ._errors import ConsmTypeError, ConsmValueError
from ._intake import MASKS, checked, column_of, plain_ids

if TYPE_CHECKING:
    from ._graph import Graph

    Make = Callable[..., Graph]


def from_pandas(make: Make, edges: Any, nodes: Any, source: Any, target: Any, weight: Any, id: Any, label: Any,
                ignore: Iterable[Any], masks: dict[str, Any], **more: Any) -> Graph:
    import pandas as pd
    edges = _table.as_frame(edges, "edges")
    nodes = _table.as_frame(nodes, "nodes")
    for column in (source, target) + ((weight,) if weight is not None else ()):
        column_of(edges, column, "edges")
    ends = (edges[source], edges[target])
    if any(bool(e.isna().any()) for e in ends):
        raise ConsmValueError(f"edges: {source!r} or {target!r} is missing in a row: expected two nodes in each row")
    frame, y = None, None
    if nodes is None:
        ids = pd.Index(pd.concat(ends, ignore_index=True).unique())
        ids = ids.sort_values() if pd.api.types.is_integer_dtype(ids.dtype) else ids
    else:
        frame = nodes if id is None else nodes.set_index(column_of(nodes, id, "nodes"))
        masks = {k: _align.of_rows(m, nodes, frame.index, k) for k, m in masks.items()}
        ids = frame.index
        if ids.has_duplicates:
            raise ConsmValueError(f"nodes: {ids[ids.duplicated()][0]!r} occurs in two rows: expected unique ids")
        if ids.hasnans:
            raise ConsmValueError("nodes: an id is missing: expected an id in each row")
        if label is not None:
            y = frame[column_of(frame, label, "nodes")]
        frame = frame.drop(columns=[c for c in (label, *ignore) if c is not None and c in frame.columns])
    places = [ids.get_indexer(e) for e in ends]
    for place, end, column in zip(places, ends, (source, target)):
        if (place < 0).any():
            row = int(np.argmax(place < 0))
            raise ConsmValueError(f"edges, row {row}: {column} {end.iloc[row]!r} is not a node id: expected one of the "
                                  f"{len(ids)} ids of nodes")
    x = _table.Table(frame) if frame is not None and len(frame.columns) else None
    return make(tuple(places), x, y, weight=None if weight is None else edges[weight].to_numpy(),
                n_nodes=len(ids), node_ids=plain_ids(ids), **more, **masks)


def from_scipy(make: Make, adjacency: Any, x: Any, y: Any, more: dict[str, Any]) -> Graph:
    if not hasattr(adjacency, "tocoo"):
        raise ConsmTypeError(f"adjacency is {type(adjacency).__name__}: expected a SciPy sparse matrix")
    matrix = checked(adjacency, "adjacency").tocoo()
    if matrix.shape[0] != matrix.shape[1]:
        raise ConsmValueError(f"adjacency: found shape {matrix.shape}, expected a square matrix")
    values = matrix.data
    if "weight" not in more and values.dtype.kind != "b" and not bool((values == 1).all()):
        more["weight"] = values
    more.setdefault("n_nodes", matrix.shape[0])
    more.setdefault("name", "matrix")
    return make((matrix.row, matrix.col), x, y, **more)


def from_networkx(make: Make, graph: Any, features: Optional[Iterable[str]], label: Optional[str],
                  weight: Optional[str], more: dict[str, Any]) -> Graph:
    nodes = list(graph.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    ends = [(place[a], place[b]) for a, b in graph.edges()]
    if weight is not None:
        more["weight"] = [float(d.get(weight, 1.0)) for _, _, d in graph.edges(data=True)]
    wanted = list(features or [])
    x: Any = None
    if len(wanted) == 1 and nodes and np.ndim(graph.nodes[nodes[0]].get(wanted[0], 0)) == 1:
        x = np.stack([np.asarray(graph.nodes[n][wanted[0]], float) for n in nodes])
    elif wanted:
        import pandas as pd
        frame = pd.DataFrame([{k: graph.nodes[n].get(k) for k in wanted} for n in nodes]).infer_objects()
        x = _table.Table(frame)
    y = None
    if label is not None:
        y = np.array([graph.nodes[n].get(label) for n in nodes] + [None], dtype=object)[:-1]
    more.setdefault("directed", graph.is_directed())
    more.setdefault("name", graph.name or "networkx")
    return make(np.array(ends, np.int64).reshape(-1, 2).T, x, y, n_nodes=len(nodes),
                node_ids=plain_ids(nodes), **more)


def from_pyg(make: Make, data: Any, more: dict[str, Any]) -> Graph:
    for key in MASKS:
        found = getattr(data, key, None)
        if found is not None and key not in more:
            found = as_numpy(found, key)
            more[key] = found[:, 0] if found.ndim == 2 else found
    weight = getattr(data, "edge_weight", None)
    if weight is not None:
        more.setdefault("weight", weight)
    y = getattr(data, "y", None)
    more.setdefault("n_nodes", data.num_nodes)
    more.setdefault("name", "pyg")
    return make(data.edge_index, getattr(data, "x", None), None if y is None else as_numpy(y, "y"), **more)


def from_dgl(make: Make, graph: Any, features: str, label: str, more: dict[str, Any]) -> Graph:
    held = graph.ndata
    for key in MASKS:
        if key in held:
            more.setdefault(key, held[key])
    more.setdefault("n_nodes", graph.num_nodes())
    more.setdefault("name", "dgl")
    return make(graph.edges(), held[features] if features in held else None,
                held[label] if label in held else None, **more)
