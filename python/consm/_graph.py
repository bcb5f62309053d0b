"""A graph with its features, ids, labels and masks.

A Graph never changes. It has neither a length nor a shape, because scikit-learn would slice anything that
looks like an array of samples.
"""
from __future__ import annotations

import ctypes
import threading
import warnings
from ctypes import POINTER, byref, c_uint8
from typing import TYPE_CHECKING, Any, Hashable, Iterable, Optional

import numpy as np

from . import _align, _convert, _lib, _run, _structs
from ._arrays import Array, is_wide, reals
from ._errors import ConsmValueError, ConsmWarning
from ._intake import MASKS, ends_of, features_of, ids_of, lent, node_count, roles_of, same_width
from ._labels import encode, from_names, kind_of, names

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import scipy.sparse as sp
    from dgl import DGLGraph
    from numpy.typing import ArrayLike
    from torch_geometric.data import Data

    from ._types import Features, Labels, Mask, Nodes, Path

# The options that a file was read with; a pickled graph and a model trained on it store them.
_READING = ("id_column", "label_column", "weight_column", "source_column", "target_column", "ignore", "duplicates",
            "unknown_nodes")


class Graph:
    """Nodes, edges and features. Make one with from_pandas, from_scipy, from_networkx, from_pyg, from_dgl or
    from_arrays, or open one with consm.load().

    Attributes
    ----------
    n_nodes, n_edges, n_features : int
        Sizes; edges are counted as given.
    node_ids : array or None
        Ids of the nodes; None: 0, 1, …
    feature_names : list of str or None
        Names of the feature columns.
    y : array or None
        Labels that came with the data.
    train_mask, val_mask, test_mask : bool array or None
        The split that came with the data.

    Examples
    --------
    >>> from consm import Graph
    >>> Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]])
    <Graph 'arrays': 3 nodes, 2 edges, 1 features>
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        """Not for callers: see the from_ functions."""
        self._parts = parts
        self._lock = threading.Lock()
        self._handle: Optional[_lib.Handle] = parts.pop("handle", None)
        self.name: str = parts.get("name") or "graph"
        self.n_nodes: int = int(parts["n_nodes"])
        self.n_edges: int = int(parts["n_edges"])
        self.n_features: int = int(parts["n_features"])
        self.directed: bool = bool(parts.get("directed", False))
        self.node_ids: Optional[Array] = parts.get("node_ids")
        self.feature_names: Optional[list[str]] = parts.get("feature_names")
        self.y: Optional[Array] = parts.get("y")
        self.train_mask: Optional[Array] = parts.get("train_mask")
        self.val_mask: Optional[Array] = parts.get("val_mask")
        self.test_mask: Optional[Array] = parts.get("test_mask")
        self._ids = _align.Ids(self.node_ids, self.n_nodes)

    # ---- making one ----------------------------------------------------------------------------

    @classmethod
    def from_arrays(cls, edges: ArrayLike, x: Optional[Features] = None, y: Optional[Labels] = None, *,
                    weight: Optional[ArrayLike] = None, n_nodes: Optional[int] = None,
                    node_ids: Optional[Nodes] = None, feature_names: Optional[Iterable[str]] = None,
                    directed: bool = False, train_mask: Optional[Mask] = None, val_mask: Optional[Mask] = None,
                    test_mask: Optional[Mask] = None, name: str = "arrays") -> "Graph":
        """Makes a graph from arrays.

        Parameters
        ----------
        edges : array of shape (2, m) as in PyG, (m, 2), or a pair (sources, targets)
            Node numbers from 0 on.
        x : features, optional
            (n, f), dense or a SciPy matrix.
        y : labels, optional
        weight : array of shape (m,), optional
        n_nodes : int, optional
            Needed if no other argument determines it.
        node_ids : ids, optional
            Ids of the nodes; by default 0, 1, …
        feature_names : list of str, optional
        directed : bool
        train_mask, val_mask, test_mask : optional
        name : str

        y, x and masks with ids (a Series, a DataFrame, a dict) are matched by id; arrays are in node order.

        Examples
        --------
        >>> from consm import Graph
        >>> g = Graph.from_arrays([[0, 1], [1, 2]], y={"a": 1, "c": 0}, node_ids=["a", "b", "c"])
        >>> g.y.tolist()
        [1, None, 0]
        """
        source, target = ends_of(edges)
        ids = None if node_ids is None else ids_of(node_ids)
        n = node_count(source, target, n_nodes, {"x": x, "y": y, "node_ids": ids})
        known = _align.Ids(ids, n)
        features, count = features_of(_align.features(x, known))
        labels = None if y is None else _align.labels(y, known)
        columns = getattr(x, "columns", None)
        if feature_names is None and columns is not None and all(isinstance(c, str) for c in columns):
            feature_names = list(columns)
        for what, size in (("x", count), ("y", None if labels is None else len(labels))):
            if size is not None and size != n:
                raise ConsmValueError(f"{what} has {size} rows, but the graph has {n} nodes: expected one row per node")
        parts: dict[str, Any] = dict(name=name, n_nodes=n, n_edges=len(source), source=source, target=target,
                                     directed=directed, y=labels, node_ids=ids, **features)
        if weight is not None:
            parts["weight"] = reals(weight, "weight")
            if len(parts["weight"]) != len(source):
                raise ConsmValueError(f"weight: found {len(parts['weight'])}, expected {len(source)}, one per edge")
        if feature_names is not None:
            parts["feature_names"] = [str(f) for f in feature_names]
            if len(parts["feature_names"]) != parts["n_features"]:
                raise ConsmValueError(f"feature_names: found {len(parts['feature_names'])}, expected "
                                      f"{parts['n_features']}, one per column")
        for key, value in zip(MASKS, (train_mask, val_mask, test_mask)):
            if value is not None:
                parts[key] = _align.node_mask(value, key, known)
        graph = cls(parts)
        graph._dataset()  # errors are raised now
        if "table" in parts:
            a = graph._lent()
            graph.n_features = parts["n_features"] = int(a.features)
            graph.feature_names = parts["feature_names"] = [_lib.decode(a.feature_name[i]) for i in range(a.features)]
        return graph

    @classmethod
    def from_pandas(cls, edges: pd.DataFrame, nodes: Optional[pd.DataFrame] = None, *, source: Hashable = "source",
                    target: Hashable = "target", weight: Optional[Hashable] = None, id: Optional[Hashable] = None,
                    label: Optional[Hashable] = None, ignore: Iterable[Hashable] = (), directed: bool = False,
                    name: str = "table", **masks: Mask) -> "Graph":
        """Makes a graph from DataFrames.

        Parameters
        ----------
        edges : DataFrame
            With the columns source, target and optionally weight.
        nodes : DataFrame, optional
            One row per node, with ids in the index or in the column id. Columns without another role become
            features. Numbers stay, booleans become 0 and 1, dates become days, categories and text become one
            column per value. Missing cells become the mean, and an extra column marks them.
        label : column, optional
            The column of labels, which become y.
        ignore : columns
            Columns to ignore.
        **masks
            train_mask, val_mask and test_mask: arrays in node order, or Series with ids or with the index of
            `nodes`.

        Examples
        --------
        >>> import pandas as pd
        >>> from consm import Graph
        >>> edges = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "eve"]})
        >>> nodes = pd.DataFrame({"age": [31.0, 28.0, 54.0]}, index=["ann", "bob", "eve"])
        >>> Graph.from_pandas(edges, nodes)
        <Graph 'table': 3 nodes, 2 edges, 1 features>
        """
        return _convert.from_pandas(cls.from_arrays, edges, nodes, source, target, weight, id, label, ignore, masks,
                                    directed=directed, name=name)

    @classmethod
    def from_scipy(cls, adjacency: sp.spmatrix, x: Optional[Features] = None, y: Optional[Labels] = None,
                   **more: Any) -> "Graph":
        """Makes a graph from a SciPy sparse adjacency matrix. Values other than 1 are weights."""
        return _convert.from_scipy(cls.from_arrays, adjacency, x, y, more)

    @classmethod
    def from_networkx(cls, graph: nx.Graph, features: Optional[Iterable[str]] = None, label: Optional[str] = None,
                      weight: Optional[str] = None, **more: Any) -> "Graph":
        """Makes a graph from networkx. features and label name node attributes, weight an edge attribute.
        Attributes may have any type that a column of a table may have, or be one array per node."""
        return _convert.from_networkx(cls.from_arrays, graph, features, label, weight, more)

    @classmethod
    def from_pyg(cls, data: Data, **more: Any) -> "Graph":
        """Makes a graph from torch_geometric.data.Data: edge_index, x, y, edge_weight and the masks."""
        return _convert.from_pyg(cls.from_arrays, data, more)

    @classmethod
    def from_dgl(cls, graph: DGLGraph, features: str = "feat", label: str = "label", **more: Any) -> "Graph":
        """Makes a graph from a DGLGraph. features and label name node data; train_mask, val_mask and test_mask are
        read, too."""
        return _convert.from_dgl(cls.from_arrays, graph, features, label, more)

    @classmethod
    def _from_handle(cls, handle: _lib.Handle) -> "Graph":
        """A Graph of a dataset that the library opened; arrays are not copied."""
        a = _structs.Arrays()
        _lib.call(_lib.lib.consm_dataset_arrays, byref(a), handle.pointer)
        parts: dict[str, Any] = dict(handle=handle, name=_lib.decode(a.name), n_nodes=a.nodes, n_edges=a.edges,
                                     n_features=a.features, directed=a.directed, lent=a)
        if a.reading:
            parts["reading"] = {k: getattr(a.reading.contents, k) for k in _READING if getattr(a.reading.contents, k)}
        if a.node_id:
            parts["node_ids"] = np.array([_lib.decode(a.node_id[i]) for i in range(a.nodes)], object)
        if a.feature_name:
            parts["feature_names"] = [_lib.decode(a.feature_name[i]) for i in range(a.features)]
        if a.classes:
            texts = [_lib.decode(a.class_name[i]) for i in range(a.classes)] if a.class_name else \
                [str(i) for i in range(a.classes)]
            classes = from_names(texts)
            if "-1" in texts and not {t.lstrip("-").isdigit() for t in texts} - {True}:
                warnings.warn(f"{_lib.decode(a.name)}: -1 means an unknown label, so the classes become text: "
                              f"{_align.examples(texts)}", ConsmWarning, stacklevel=_lib._outside())
            label = lent(a.label, np.int32, a.nodes, handle)
            parts.update(classes=classes, class_names=texts, codes=label)
            y = np.empty(a.nodes, object) if (label < 0).any() and classes.dtype.kind != "i" else \
                np.full(a.nodes, -1, classes.dtype)
            y[label >= 0] = classes[label[label >= 0]]
            parts["y"] = y
        roles = _lib.lib.consm_dataset_roles(handle.pointer, 0)
        if roles:
            role = lent(roles, np.uint8, a.nodes, handle)
            parts.update({key: role == k + 1 for k, key in enumerate(MASKS)}, role=role)
        info = _structs.DatasetInfo()
        _lib.call(_lib.lib.consm_dataset_info, byref(info), handle.pointer)
        parts["known"] = bool(info.known)
        return cls(parts)

    # ---- looking -------------------------------------------------------------------------------

    @property
    def edge_index(self) -> Array:
        """Node numbers of the edges as given, (2, m)."""
        if "source" in self._parts:
            return np.stack([self._parts["source"], self._parts["target"]])
        a = self._parts["lent"]
        return np.stack([lent(getattr(a, end), np.int32, a.edges, self._handle) for end in ("from", "to")])

    @property
    def edge_weight(self) -> Optional[Array]:
        """Edge weights (m), or None."""
        if "lent" not in self._parts:
            return self._parts.get("weight")
        a = self._parts["lent"]
        return lent(a.weight, np.float32, a.edges, self._handle) if a.weight else None

    @property
    def x(self) -> Any:
        """Features (n, f): an array, or a SciPy CSR matrix if they are sparse; None without features."""
        if self.n_features == 0:
            return None
        if "lent" not in self._parts and "table" not in self._parts:
            return self._parts["x"]
        a = self._lent()
        if not a.feature_start:
            return lent(a.feature, np.float32, a.nodes * a.features, self._handle).reshape(a.nodes, a.features)
        import scipy.sparse
        start = lent(a.feature_start, np.int64, a.nodes + 1, self._handle)
        column = lent(a.feature_column, np.int32, int(start[-1]), self._handle)
        value = lent(a.feature, np.float32, int(start[-1]), self._handle) if a.feature else \
            np.ones(int(start[-1]), np.float32)
        return scipy.sparse.csr_matrix((value, column, start), (a.nodes, a.features))

    def ids(self) -> Array:
        """The ids of the nodes: node_ids, or their numbers."""
        return np.arange(self.n_nodes) if self.node_ids is None else self.node_ids

    def ids_of(self, places: ArrayLike) -> Array:
        """The ids of nodes, given by number."""
        wanted = np.asarray(places, np.int64)
        return wanted if self.node_ids is None else self.node_ids[wanted]

    def places(self, nodes: Nodes) -> Array:
        """The numbers of nodes, given by id. Unknown ids are an error that lists some of them."""
        return self._ids.places(nodes)

    def place(self, node: Hashable) -> int:
        """The number of a node, given by id."""
        one = np.empty(1, object)
        one[0] = node
        return int(self.places(one if self.node_ids is not None else np.array([node]))[0])

    def __repr__(self) -> str:
        labels = "" if self.y is None else ", labels"
        return (f"<Graph {self.name!r}: {self.n_nodes:,} nodes, {self.n_edges:,} edges, "
                f"{self.n_features:,} features{labels}>")

    def __deepcopy__(self, memo: Any) -> "Graph":
        return self  # it never changes; clone() of an estimator need not copy it

    def __copy__(self) -> "Graph":
        return self

    def __reduce__(self) -> Any:
        kept = {k: v for k, v in self._parts.items() if k != "lent"}
        if "lent" in self._parts:
            source, target = self.edge_index
            features, _ = features_of(self.x)
            kept.update(features, source=source, target=target)
            if self.edge_weight is not None:
                kept["weight"] = self.edge_weight
        return _again, (kept,)

    def save(self, path: Path, format: Optional[str] = None) -> None:
        """Writes the graph to a file or a folder that consm.load() and the command read.

        Parameters
        ----------
        path : path
            A folder (CSV files), or a file whose suffix names the format: .npz, .safetensors, .graphml, .gexf,
            .gml, .json.
        format : str, optional
            The name of the format, if the suffix does not determine it.

        Examples
        --------
        >>> import consm, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "karate.graphml")
        >>> consm.load("karate").save(path)
        >>> consm.load(path).n_edges
        78
        """
        data = self._dataset()
        if self.y is not None and "codes" not in self._parts:
            data, _ = self._labelled(self.y, {k: getattr(self, k) for k in MASKS})
        _run.run(_lib.lib.consm_dataset_save, data, _lib.path_of(path),
                 None if format is None else _lib.encode(format, "format"))

    # ---- for the library -----------------------------------------------------------------------

    def _dataset(self) -> _lib.Handle:
        """The graph as a dataset of the library, made when it is first needed."""
        with self._lock:
            if self._handle is None:
                self._handle = self._hand_over()
            return self._handle

    def _lent(self) -> _structs.Arrays:
        """The arrays of the library's dataset, without a copy."""
        if "lent" in self._parts:
            return self._parts["lent"]  # type: ignore[no-any-return]
        a = _structs.Arrays()
        _lib.call(_lib.lib.consm_dataset_arrays, byref(a), self._dataset().pointer)
        return a

    def _hand_over(self) -> _lib.Handle:
        p = self._parts
        a = _structs.Arrays(name=_lib.encode(self.name, "name"), nodes=self.n_nodes, edges=self.n_edges,
                            features=0 if "table" in p else self.n_features, directed=self.directed)
        keep: list[Any] = []
        source, target = same_width(p["source"], p["target"])
        keep += [source, target]
        setattr(a, "from", _lib.address(source))
        a.to, a.wide_ends = _lib.address(target), is_wide(source)
        if p.get("weight") is not None:
            a.weight, a.wide_weights = _lib.address(p["weight"]), is_wide(p["weight"])
        if "table" in p:
            keep += p["table"].hand_over(a)
        elif p.get("start") is not None:
            a.feature, a.wide_features = _lib.address(p["value"]), is_wide(p["value"])
            a.feature_start, a.feature_column = _lib.address(p["start"]), _lib.address(p["column"])
            a.wide_columns, a.wide_starts = is_wide(p["column"]), is_wide(p["start"])
        elif self.n_features:
            a.feature, a.wide_features = _lib.address(p["x"]), is_wide(p["x"])
            a.borrow = _structs.BORROW_FEATURES
        if self.node_ids is not None:
            keep.append(_lib.names([_lib.encode(str(v), "a node's id") for v in self.node_ids.tolist()]))
            a.node_id = keep[-1]
        if self.feature_names is not None and a.features:
            keep.append(_lib.names([_lib.encode(c, "a feature's name") for c in self.feature_names]))
            a.feature_name = keep[-1]
        if "codes" in p:  # the labels, split and defaults that a pickled graph of a file came with
            keep.append(_lib.names([_lib.encode(t, "a class") for t in p["class_names"]]))
            a.classes, a.class_name, a.label = len(p["class_names"]), keep[-1], _lib.address(p["codes"])
            if "role" in p:
                a.role = ctypes.cast(_lib.address(p["role"]), POINTER(c_uint8))
        a.known = p.get("known", False)
        if p.get("reading"):
            keep.append(_structs.OpenOptions(**p["reading"]))
            a.reading = ctypes.pointer(keep[-1])
        made = _lib.dataset()
        _lib.call(_lib.lib.consm_dataset_from_arrays, byref(made.pointer), byref(a))
        made.needs = p.get("x")  # the library may leave it where it is
        return made

    def _with_edges(self, cleaned: _lib.Handle) -> "Graph":
        """The same with the edges of a dataset that consm_dataset_clean made of this one."""
        if "lent" in self._parts:
            return Graph._from_handle(cleaned)
        a = _structs.Arrays()
        _lib.call(_lib.lib.consm_dataset_arrays, byref(a), cleaned.pointer)
        parts = dict(self._parts, n_edges=int(a.edges),
                     source=_lib.copied(ctypes.cast(getattr(a, "from"), POINTER(ctypes.c_int32)), (int(a.edges),)),
                     target=_lib.copied(ctypes.cast(a.to, POINTER(ctypes.c_int32)), (int(a.edges),)))
        if a.weight:
            parts["weight"] = _lib.copied(ctypes.cast(a.weight, POINTER(ctypes.c_float)), (int(a.edges),))
        return Graph(parts)

    def _labelled(self, y: Array, masks: dict[str, Optional[Array]]) -> tuple[_lib.Handle, Array]:
        """(dataset, classes): the graph with the caller's labels."""
        if len(y) != self.n_nodes:
            raise ConsmValueError(f"y: found {len(y)} labels, expected {self.n_nodes}, one per node")
        classes, numbers = encode(y)
        if len(classes) < 2:
            found = f"one class, {classes.tolist()[0]!r}:" if len(classes) else "no label:"
            raise ConsmValueError(f"y contains {found} expected at least two classes "
                                  "(unknown labels are None, NaN or -1)")
        labels = _structs.Labels(classes=len(classes), wide=False, label=_lib.address(numbers))
        texts = _lib.names([_lib.encode(t, "a class") for t in names(classes)])
        labels.class_name, labels.class_kind = texts, kind_of(classes)
        role = roles_of(masks, self.n_nodes)
        if role is not None:
            labels.role = ctypes.cast(_lib.address(role), POINTER(c_uint8))
        made = _lib.dataset()
        made.needs = self._dataset()
        _lib.call(_lib.lib.consm_dataset_with_labels, byref(made.pointer), made.needs.pointer, byref(labels))
        return made, classes


def _again(parts: dict[str, Any]) -> Graph:
    return Graph(dict(parts))
