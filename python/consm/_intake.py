"""Checks the arguments of callers: ends of edges, features, ids, masks."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

import numpy as np

from ._align import keyed, keys_of
from ._arrays import Array, integers, reals
from ._errors import ConsmKeyError, ConsmTypeError, ConsmValueError
from ._table import Table

MASKS = ("train_mask", "val_mask", "test_mask")


def roles_of(masks: dict[str, Optional[Array]], count: int) -> Optional[Array]:
    """(nodes) of enum consm_role, or None without masks."""
    if all(masks.get(key) is None for key in MASKS):
        return None
    if masks.get("train_mask") is None:
        raise ConsmValueError("val_mask or test_mask needs train_mask")
    role = np.zeros(count, np.uint8)
    for number, key in enumerate(MASKS, 1):
        chosen = masks.get(key)
        if chosen is None:
            continue
        if (role[chosen] != 0).any():
            raise ConsmValueError(f"{key}: one of its nodes is in another mask too: expected each node in at most one mask")
        role[chosen] = number
    return role


def lent(pointer: Any, kind: Any, count: int, owner: Any) -> Array:
    """Memory of the library as a read-only array that keeps its owner."""
    if not count or not pointer:
        return np.zeros(0, kind)
    raw = (ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(pointer)
    raw._owner = owner
    array = np.frombuffer(raw, kind)
    array.flags.writeable = False
    return array


def same_width(a: Array, b: Array) -> tuple[Array, Array]:
    return (a, b) if a.dtype == b.dtype else (a.astype(np.int64), b.astype(np.int64))


def ends_of(edges: Any) -> tuple[Array, Array]:
    if isinstance(edges, (tuple, list)) and len(edges) == 2 and np.ndim(edges[0]) == 1:
        source, target = integers(edges[0], "edges[0]"), integers(edges[1], "edges[1]")
    else:
        if hasattr(edges, "tocoo"):
            raise ConsmTypeError("edges is a sparse matrix: expected (2, m) node numbers; see Graph.from_scipy")
        pairs = integers(edges, "edges", None)
        if pairs.size == 0:
            pairs = pairs.reshape(2, 0)
        if pairs.ndim != 2 or 2 not in pairs.shape:
            raise ConsmValueError(f"edges: found shape {pairs.shape}, expected (2, m) or (m, 2)")
        pairs = pairs if pairs.shape[0] == 2 else pairs.T
        source, target = np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])
    if len(source) != len(target):
        raise ConsmValueError(f"edges: found {len(source)} sources and {len(target)} targets, expected the same number")
    return source, target


def checked(matrix: Any, what: str) -> Any:
    """A SciPy matrix whose arrays are as long as it says, before SciPy or the library reads them."""
    rows, columns = (int(n) for n in matrix.shape)
    kind = getattr(matrix, "format", "")
    if kind == "coo":
        ends = [integers(getattr(matrix, name), f"{what}.{name}") for name in ("row", "col")]
        if not len(ends[0]) == len(ends[1]) == len(matrix.data):
            raise ConsmValueError(f"{what}: row, col and data have {len(ends[0])}, {len(ends[1])} and "
                                  f"{len(matrix.data)} entries: expected the same number")
        for end, name, limit in zip(ends, ("row", "col"), (rows, columns)):
            _inside(end, f"{what}.{name}", limit)
    if kind in ("csr", "csc", "bsr"):
        high, wide = matrix.blocksize if kind == "bsr" else (1, 1)
        major, minor = (columns, rows) if kind == "csc" else (rows // high, columns // wide)
        start = integers(matrix.indptr, f"{what}.indptr").astype(np.int64, copy=False)
        if len(start) != major + 1 or start[0] != 0 or (np.diff(start) < 0).any():
            raise ConsmValueError(f"{what}.indptr: expected {major + 1} ascending numbers that start at 0")
        for name in ("indices", "data"):
            if len(getattr(matrix, name)) < start[-1]:
                raise ConsmValueError(f"{what}.{name} has {len(getattr(matrix, name))} entries, but indptr needs "
                                      f"{int(start[-1])}")
        _inside(integers(matrix.indices, f"{what}.indices")[:int(start[-1])], f"{what}.indices", minor)
    return matrix


def _inside(numbers: Array, what: str, limit: int) -> None:
    if numbers.size and (numbers.min() < 0 or numbers.max() >= limit):
        raise ConsmValueError(f"{what}: found {int(numbers.min())} to {int(numbers.max())}, expected 0 to {limit - 1}")


def features_of(x: Any) -> tuple[dict[str, Any], Optional[int]]:
    """(parts, nodes) of dense or sparse features."""
    if x is None:
        return {"n_features": 0}, None
    if isinstance(x, Table):  # the library makes features of it
        return {"n_features": 0, "table": x}, len(x)
    if hasattr(x, "tocsr"):
        matrix = checked(x, "x").tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        value = reals(matrix.data, "x")
        start, column = integers(matrix.indptr, "x.indptr"), integers(matrix.indices, "x.indices")
        return {"x": x, "n_features": int(matrix.shape[1]), "start": start, "column": column,
                "value": value}, int(matrix.shape[0])
    if hasattr(x, "to_numpy") and hasattr(x, "columns"):
        x = x.to_numpy()
    array = reals(x, "x", None)
    if array.ndim != 2:
        raise ConsmValueError(f"x: found shape {array.shape}, expected (nodes, features)")
    return {"x": array, "n_features": int(array.shape[1])}, int(array.shape[0])


def ids_of(node_ids: Any) -> Array:
    values = list(node_ids.tolist() if hasattr(node_ids, "tolist") else node_ids)
    ids = np.empty(len(values), object)
    ids[:] = values
    try:
        if len(set(values)) != len(values):
            raise ConsmValueError("node_ids: an id occurs twice: expected unique ids")
    except TypeError:
        raise ConsmTypeError("node_ids: an id is not hashable: expected text or numbers") from None
    return ids


def plain_ids(ids: Any) -> Optional[Array]:
    """Ids, or None where they are just 0, 1, 2, …"""
    values = list(ids.tolist() if hasattr(ids, "tolist") else ids)
    if all(type(v) is int for v in values) and values == list(range(len(values))):
        return None
    out = np.empty(len(values), object)
    out[:] = values
    return out


def column_of(frame: Any, name: Any, what: str) -> Any:
    if name not in frame.columns:
        import difflib
        near = difflib.get_close_matches(str(name), [str(c) for c in frame.columns], 1)
        hint = f"; did you mean {near[0]!r}?" if near else f": it has {', '.join(map(repr, frame.columns[:8]))}"
        raise ConsmKeyError(f"{what} has no column {name!r}{hint}")
    return name


def _length(value: Any) -> Optional[int]:
    shape = getattr(value, "shape", None)
    if shape:
        return int(shape[0])
    return len(value) if hasattr(value, "__len__") and shape is None else None


def node_count(source: Array, target: Array, n_nodes: Optional[int], told: dict[str, Any]) -> int:
    """How many nodes there are."""
    sizes = {k: n for k, v in told.items() if (n := _length(v)) is not None and not (k == "y" and keyed(v))}
    if n_nodes is not None:
        sizes["n_nodes"] = n_nodes
    if keyed(told["x"]) and len(sizes) > 1:
        del sizes["x"]  # its ids will be compared with the nodes'
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{k} {v}" for k, v in sizes.items())
        raise ConsmValueError(f"the numbers of nodes differ: {listed}")
    if sizes:
        n = int(next(iter(sizes.values())))
    else:
        n = 1 + int(max(source.max(), target.max())) if source.size else 0
        keys = keys_of(told["y"]) if keyed(told["y"]) else []
        n = max([n] + [1 + int(k) for k in keys if isinstance(k, (int, np.integer))])
    if n < 1:
        raise ConsmValueError("the graph has no nodes: expected at least one")
    return n
