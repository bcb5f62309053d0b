"""Puts values with ids into the order of the nodes.

A pandas Series, a DataFrame and a dict have an id for each value. They are matched by id; an unknown id is an
error that lists examples. Arrays and lists have no ids and are taken in node order.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from ._arrays import Array, as_numpy, integers, mask
from ._errors import ConsmKeyError, ConsmTypeError, ConsmValueError
from ._labels import as_labels

EXAMPLES = 3  # ids that an error lists
AS_ARRAY = "If the values are in the order of the nodes, pass them as an array (.to_numpy())"


def keyed(value: Any) -> bool:
    """Whether each value comes with an id: a Series, a DataFrame or a dict."""
    return isinstance(value, Mapping) or (hasattr(value, "iloc") and hasattr(value, "index"))


def keys_of(value: Any) -> list[Any]:
    """The ids of something keyed."""
    return list(value) if isinstance(value, Mapping) else list(value.index.tolist())


def examples(values: list[Any]) -> str:
    """A few of them, for an error message."""
    return ", ".join(map(repr, values[:EXAMPLES])) + (", …" if len(values) > EXAMPLES else "")


class Ids:
    """The ids of the nodes, and the position of each."""

    def __init__(self, node_ids: Optional[Array], count: int) -> None:
        self.node_ids, self.count = node_ids, count
        self._places: Optional[dict[Any, int]] = None
        self._texts = False

    def first(self) -> list[Any]:
        shown = range(min(self.count, EXAMPLES + 1))
        return list(shown) if self.node_ids is None else self.node_ids[:len(shown)].tolist()

    def find(self, keys: list[Any]) -> Array:
        """The number of the node with each id; -1: no such node. If all ids of the nodes are texts (as from files),
        a whole number is looked up as text."""
        if self.node_ids is None:
            return np.array([int(k) if _whole(k) and 0 <= k < self.count else -1 for k in keys], np.int64)
        if self._places is None:
            ids = self.node_ids.tolist()
            self._texts = all(isinstance(v, str) for v in ids)
            self._places = {v: i for i, v in enumerate(ids)}
        found = np.array([self._places.get(k, -1) for k in keys], np.int64)
        if self._texts:
            for i in np.flatnonzero(found < 0).tolist():
                if _whole(keys[i]):
                    found[i] = self._places.get(str(int(keys[i])), -1)
        return found

    def places(self, nodes: Any) -> Array:
        """The numbers of nodes, given by id. Ids that are unknown are an error that lists some."""
        if type(nodes) is not list and isinstance(nodes, Mapping):
            raise ConsmTypeError("nodes is a dict: expected node ids")
        given = as_numpy(nodes, "nodes")
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        if given.ndim != 1:
            raise ConsmValueError(f"nodes: found shape {given.shape}, expected a list of node ids")
        if self.node_ids is None:
            if given.dtype.kind == "f" and (given == np.floor(given)).all():
                given = given.astype(np.int64)
            places = given.copy() if given.dtype == np.int64 else integers(given, "nodes").astype(np.int64)
            wrong = places.view(np.uint64) >= self.count  # negative ones are large
        else:
            places = self.find(given.tolist())
            wrong = places < 0
        if wrong.any():
            strangers = given[wrong].tolist()
            more = f" (and {len(strangers) - 1} more: {examples(strangers[1:])})" if len(strangers) > 1 else ""
            raise ConsmKeyError(f"the graph has no node {strangers[0]!r} among its {self.count} nodes{more}")
        return places

    def matched(self, value: Any, what: str, complete: bool = False) -> Array:
        """The places of something keyed; complete: every node must have a value."""
        keys = keys_of(value)
        places = self.find(keys)
        strange = [keys[i] for i in np.flatnonzero(places < 0).tolist()]
        if strange:
            raise ConsmValueError(f"{what}: {len(strange)} of its {len(keys)} ids {'is' if len(strange) == 1 else 'are'} not in the graph: "
                                  f"{examples(strange)} (the graph has {examples(self.first())}). {AS_ARRAY}")
        count = np.bincount(places, minlength=self.count)
        if (count > 1).any():
            twice = self._named(np.flatnonzero(count > 1))
            raise ConsmValueError(f"{what}: {len(twice)} ids occur twice: {examples(twice)}")
        if complete and (count == 0).any():
            absent = self._named(np.flatnonzero(count == 0))
            raise ConsmValueError(f"{what}: {len(absent)} of the graph's {self.count} nodes have no value: "
                                  f"{examples(absent)}. Expected a value for every node")
        return places

    def _named(self, places: Array) -> list[Any]:
        return list((places if self.node_ids is None else self.node_ids[places]).tolist())


def _whole(key: Any) -> bool:
    if isinstance(key, (int, np.integer)):
        return not isinstance(key, bool)
    return isinstance(key, (float, np.floating)) and float(key).is_integer()


def _values(value: Any, what: str) -> Array:
    """The labels of something keyed, in its own order."""
    if isinstance(value, Mapping):
        array = np.empty(len(value), object)
        array[:] = list(value.values())
        return array
    if hasattr(value, "columns"):
        if len(value.columns) != 1:
            raise ConsmValueError(f"{what}: found {len(value.columns)} columns, expected one label per node")
        value = value.iloc[:, 0]
    return as_labels(value, what)


def spread(values: Array, places: Array, count: int) -> Array:
    """A label for each of count nodes: those at places have one, the others none."""
    if len(places) == count:
        out = np.empty_like(values)
        out[places] = values
        return out
    out = np.full(count, None, object)
    out[places] = values.astype(object)
    return out


def labels(y: Any, ids: Ids, what: str = "y") -> Array:
    """A label for each node; nodes that something keyed does not name have none."""
    if not keyed(y):
        return as_labels(y, what)
    values = _values(y, what)
    return spread(values, ids.matched(y, what), ids.count)


def sample_labels(y: Any, X: Any, ids: Ids, places: Array, what: str = "y") -> Array:
    """A label for each node of X; places are the numbers of these nodes."""
    if not keyed(y):
        return as_labels(y, what)
    values = _values(y, what)
    order = _same_rows(y, X)
    if order is not None:
        return values[order]
    own = ids.matched(y, what)
    rows = np.full(ids.count, -1, np.int64)
    rows[places] = np.arange(len(places))
    if (rows[own] < 0).any():
        keys = keys_of(y)
        strange = [keys[i] for i in np.flatnonzero(rows[own] < 0).tolist()]
        raise ConsmValueError(f"{what}: {len(strange)} of its {len(keys)} ids are not in X: {examples(strange)}. "
                              "If the values are in the order of X, pass them as an array (.to_numpy())")
    if _numbered(y) and len(own) == len(places) and (rows[own] != np.arange(len(own))).any():
        raise ConsmValueError(f"{what}: its index 0, 1, 2, … may mean node ids or the rows of X, and the two differ in "
                              "order. Index it by node id, or pass an array (.to_numpy()) in the order of X")
    return spread(values, rows[own], len(places))


def table_labels(y: Any, X: Any, what: str = "y") -> Array:
    """A label for each row of a table: by its index where both have one."""
    if not keyed(y) or not hasattr(X, "index") or not hasattr(X, "iloc"):
        return _values(y, what) if keyed(y) else as_labels(y, what)
    order = _same_rows(y, X)
    if order is None:
        keys, known = keys_of(y), set(X.index.tolist())
        strange = [k for k in keys if k not in known]
        raise ConsmValueError(f"{what}: {len(strange)} of its {len(keys)} ids are not in X "
                              f"({examples(strange or keys)}). If the values are in the order of X, pass them as an "
                              "array (.to_numpy())")
    return _values(y, what)[order]


def _same_rows(y: Any, X: Any) -> Optional[Array]:
    """Where y's rows are for each row of X, if both have an index and it names the same rows."""
    if isinstance(y, Mapping) or not (hasattr(X, "index") and hasattr(X, "iloc")) or len(X) != len(y):
        return None
    if X.index.equals(y.index):
        return np.arange(len(y))
    if X.index.has_duplicates or y.index.has_duplicates:
        return None
    order: Array = y.index.get_indexer(X.index)
    return None if (order < 0).any() else order


def _numbered(y: Any) -> bool:
    """Whether y has the default index of pandas: 0, 1, 2, …"""
    index: Any = getattr(y, "index", None)
    return bool(type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1)


def node_mask(value: Any, what: str, ids: Ids) -> Array:
    """A bool per node. Nodes that something keyed does not name are not in it; an Index or a set lists ids."""
    if hasattr(value, "get_indexer") or isinstance(value, (set, frozenset)):
        listed = np.empty(len(value), object)
        listed[:] = list(value)
        chosen = np.zeros(ids.count, bool)
        if len(listed):
            chosen[ids.places(listed if ids.node_ids is not None else np.array(listed.tolist()))] = True
        return chosen
    if not keyed(value):
        return mask(value, what, ids.count)
    values = _values(value, what)
    wrong = [v for v in values.tolist() if not isinstance(v, bool)]
    if wrong:
        raise ConsmValueError(f"{what}: found {wrong[0]!r}, expected True or False for each id")
    chosen = np.zeros(ids.count, bool)
    chosen[ids.matched(value, what)] = values.astype(bool)
    return chosen


def of_rows(value: Any, frame: Any, ids: Any, what: str) -> Any:
    """Gives a mask the node ids as its index, if it has the index of the table of nodes (which has ids in a column)."""
    if not hasattr(value, "iloc") or not value.index.equals(frame.index) or value.index.equals(ids):
        return value
    if not ids.has_duplicates and set(ids.tolist()) == set(value.index.tolist()):
        raise ConsmValueError(f"{what}: its index may mean node ids or the rows of nodes, and the two differ in order. "
                              "Index it by node id, or pass an array (.to_numpy()) in the order of nodes")
    return value.set_axis(ids)


def features(x: Any, ids: Ids) -> Any:
    """Features with a row for each node, in their order."""
    if not keyed(x):
        return x
    places = ids.matched(x, "x", complete=True)
    order = np.empty(ids.count, np.int64)
    order[places] = np.arange(ids.count)
    if isinstance(x, Mapping):
        rows = list(x.values())
        return [np.atleast_1d(as_numpy(rows[i], "x")) for i in order.tolist()]
    return x if (order == np.arange(ids.count)).all() else x.iloc[order]


class Asked:
    """The nodes that a call is about: all of a Graph, the ids X of one, or the rows of a table X."""

    def __init__(self, X: Any, ids: Ids, places: Optional[Array]) -> None:
        self.X, self.ids, self.places = X, ids, places
        self.table = places is None and hasattr(X, "__len__")

    def labels(self, y: Any, what: str = "y") -> Array:
        if self.table:
            return table_labels(y, self.X, what)
        if self.places is None:
            return labels(y, self.ids, what)
        return sample_labels(y, self.X, self.ids, self.places, what)

    def weights(self, value: Any) -> Any:
        """A sample weight for each of these nodes."""
        if not keyed(value):
            return value
        found = self.labels(value, "sample_weight")
        if found.dtype.kind == "O" and any(v is None for v in found.tolist()):
            raise ConsmValueError("sample_weight: a node has no weight: expected one for each node")
        return found
