"""Graphs from all supported objects: the same graph results, and nothing is lost."""
from __future__ import annotations

import hashlib
import os
import pathlib
import pickle
import types

import numpy as np
import pytest

import consm
from consm import Graph

pd = pytest.importorskip("pandas")
sp = pytest.importorskip("scipy.sparse")
nx = pytest.importorskip("networkx")


def proba(graph, y, **more):
    return consm.GCNClassifier(random_state=0, epochs=15, hidden=4, **more).fit(graph, y).predict_proba(graph)


def test_every_integer_and_float_type_is_the_same_graph(world):
    expected = proba(world.graph(), world.y)
    for kind in (np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, ">i4", ">i8"):
        edges = np.stack([world.source, world.target]).astype(kind)
        assert (proba(Graph.from_arrays(edges, world.x), world.y) == expected).all(), kind
        assert (proba(Graph.from_arrays(edges.T, world.x), world.y) == expected).all(), kind
    narrow = proba(Graph.from_arrays((world.source, world.target), world.x.astype(np.float32)), world.y)
    assert (narrow == expected).all()
    for kind in (np.float16, np.longdouble, ">f8", ">f4", object):
        got = proba(Graph.from_arrays((world.source, world.target), world.x.astype(kind)), world.y)
        assert np.allclose(got, expected, atol=0.02), kind
    backwards = np.asfortranarray(world.x)[::-1][::-1]
    assert (proba(Graph.from_arrays((world.source, world.target), backwards), world.y) == expected).all()


def test_arrays_that_fit_are_not_copied(world):
    x, source = np.ascontiguousarray(world.x), world.source.astype(np.int64)
    made = Graph.from_arrays((source, world.target), x)
    assert made._parts["x"] is x and made._parts["source"] is source
    y, z = world.y, 1 - world.y
    one, two = made._labelled(y, {})[0], made._labelled(np.where(y < 0, -1, z), {})[0]
    a, b = consm._structs.Arrays(), consm._structs.Arrays()
    for arrays, handle in ((a, one), (b, two)):
        consm._lib.call(consm._lib.lib.consm_dataset_arrays, consm._lib.byref(arrays), handle.pointer)
    assert a.feature == b.feature and getattr(a, "from") == getattr(b, "from")  # one graph, two sets of labels


def test_other_peoples_arrays(world):
    class Interface:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__
            self.kept = array

    class Dlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    edges = np.stack([world.source, world.target])
    expected = proba(world.graph(), world.y)
    for wrap in (Interface, Dlpack, lambda a: a.tolist()):
        assert (proba(Graph.from_arrays(wrap(edges), wrap(world.x)), world.y) == expected).all()


def test_sparse_features_stay_sparse(world):
    x = np.where(world.x > 1, world.x, 0)
    dense, sparse = Graph.from_arrays((world.source, world.target), x), None
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array):
        sparse = Graph.from_arrays((world.source, world.target), kind(x))
        assert "start" in sparse._parts and sp.issparse(sparse.x)
        assert np.allclose(proba(sparse, world.y, normalize_features="none"),
                           proba(dense, world.y, normalize_features="none"), atol=1e-5)
    wide = sp.csr_matrix(x)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert (proba(Graph.from_arrays((world.source, world.target), wide), world.y) == proba(sparse, world.y)).all()


def test_adjacency_matrices(world):
    edges = np.stack([world.source, world.target])
    unique = np.unique(np.sort(edges, axis=0), axis=1)
    matrix = sp.coo_matrix((np.ones(unique.shape[1]), unique), (world.n, world.n))
    expected = proba(Graph.from_arrays(unique, world.x), world.y)
    for made in (matrix, matrix.tocsr(), matrix.tocsc(), sp.csr_array(matrix)):
        assert (proba(Graph.from_scipy(made, world.x), world.y) == expected).all()
    heavy = Graph.from_scipy(matrix * 0.5, world.x)
    assert heavy.edge_weight is not None and (heavy.edge_weight == 0.5).all()


def dense(x):
    return x.toarray() if hasattr(x, "toarray") else x


def test_tables_keep_their_ids(world):
    edges = pd.DataFrame({"a": world.ids[world.source], "b": world.ids[world.target]})
    nodes = pd.DataFrame(world.x, index=world.ids, columns=list("wxyz"))
    g = Graph.from_pandas(edges, nodes, source="a", target="b")
    assert g.feature_names == list("wxyz") and (g.ids() == world.ids).all()
    y = pd.Series(np.where(world.known, np.array(["no", "yes"])[world.truth], None), index=world.ids)
    model = consm.GCNClassifier(random_state=0, epochs=40).fit(g, y)
    frame, trust = model.predict_frame(g), model.edge_trust(g)
    assert (frame.index == world.ids).all() and set(frame.label) <= {"no", "yes"}
    assert list(trust.columns) == ["source", "target", "trust", "kept", "low", "high"] and trust.kept.dtype == bool
    assert set(trust.source) <= set(world.ids) and trust.trust.between(0, 1).all()
    assert model.explain("person 3").node == "person 3"
    with_column = nodes.assign(name=world.ids, fraud=y.to_numpy()).reset_index(drop=True)
    again = Graph.from_pandas(edges, with_column, source="a", target="b", id="name", label="fraud")
    assert again.feature_names == list("wxyz") and list(again.y[:5]) == list(y[:5])


def test_messy_columns(world):
    nodes = pd.DataFrame({
        "age": np.where(np.arange(world.n) % 7 == 0, np.nan, world.x[:, 0]),
        "flag": world.x[:, 1] > 0,
        "maybe": pd.array([None if i % 5 == 0 else bool(i % 2) for i in range(world.n)], dtype="boolean"),
        "city": pd.Categorical(np.array(["rome", "oslo", "lima"])[np.arange(world.n) % 3]),
        "note": [None if i % 4 == 0 else "abc"[i % 3] for i in range(world.n)],
        "since": pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(world.n), unit="D"),
    })
    edges = pd.DataFrame({"source": world.source, "target": world.target})
    g = Graph.from_pandas(edges, nodes)
    assert g.feature_names == ["age", "age is missing", "flag", "maybe", "maybe is missing", "city=lima", "city=oslo",
                               "city=rome", "note=a", "note=b", "note=c", "note is missing", "since"]
    x = g.x
    assert np.isfinite(x).all() and x[0, 1] == 1 and np.isclose(x[0, 0], np.nanmean(nodes.age), atol=1e-5)
    assert (x[:, 5:8].sum(axis=1) == 1).all() and x[3, 12] - x[2, 12] == 1
    model = consm.GCNClassifier(random_state=0, epochs=20).fit(g, world.y)
    # Next week's table has other categories and no blanks: the recipe of training is used again.
    later = nodes.assign(age=1.0, city="oslo", note="z", maybe=pd.array([True] * world.n, dtype="boolean"))
    assert len(model.predict(Graph.from_pandas(edges, later))) == world.n
    with pytest.raises(ValueError, match="lacks 1 of the model's 6 feature columns: city"):
        model.predict(Graph.from_pandas(edges, later.drop(columns="city")))
    with pytest.raises(ValueError, match="column age: found \"old\", expected a finite number as in training"):
        model.predict(Graph.from_pandas(edges, later.assign(age="old")))
    assert (pickle.loads(pickle.dumps(model)).predict(g) == model.predict(g)).all()


def test_a_table_in_memory_is_the_table_in_a_file(world, tmp_path):
    """The same features from pandas as from the file it came from, and a model that knows both."""
    nodes = pd.DataFrame({
        "id": world.ids, "age": np.where(np.arange(world.n) % 7 == 0, np.nan, np.round(world.x[:, 0], 3)),
        "known": np.where(np.arange(world.n) % 3 == 0, "yes", "no"),
        "city": np.array(["rome", "oslo", "lima"])[np.arange(world.n) % 3],
        "since": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(world.n)],
        "label": np.where(world.known, world.truth.astype(str), "")})
    edges = pd.DataFrame({"source": world.ids[world.source], "target": world.ids[world.target]})
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    read = pd.read_csv(tmp_path / "nodes.csv")
    here = Graph.from_pandas(edges, read, id="id", label="label")
    there = consm.load(tmp_path)
    assert here.feature_names == there.feature_names and (here.x == dense(there.x)).all()
    assert "known" in here.feature_names and "city=oslo" in here.feature_names and "since" in here.feature_names
    model = consm.GCNClassifier(random_state=0, epochs=20).fit(here)
    model.save(tmp_path / "m.safetensors")
    again = consm.load_model(tmp_path / "m.safetensors")
    later = read.assign(city="oslo")  # one category is left; the model still knows the others
    later.to_csv(tmp_path / "nodes.csv", index=False)
    expected = model.predict_proba(Graph.from_pandas(edges, later, id="id", label="label"))
    assert (again.predict_proba(consm.load(tmp_path)) == expected).all()


def test_without_a_table_of_nodes(world):
    edges = pd.DataFrame({"source": [7, 3, 9], "target": [3, 9, 7]})
    assert list(Graph.from_pandas(edges).ids()) == [3, 7, 9]
    named = pd.DataFrame({"source": ["b", "a"], "target": ["a", "c"]})
    assert list(Graph.from_pandas(named).ids()) == ["b", "a", "c"]


def test_numbers_from_zero_are_no_ids():
    edges = [(0, 1), (1, 2)]
    assert Graph.from_networkx(nx.Graph(edges)).node_ids is None
    assert list(Graph.from_networkx(nx.Graph([(1, 2), (2, 3)])).node_ids) == [1, 2, 3]


def test_networkx(world):
    g = nx.Graph()
    for i in range(world.n):
        g.add_node(world.ids[i], label=int(world.y[i]) if world.known[i] else None, age=float(world.x[i, 0]),
                   vector=world.x[i])
    g.add_edges_from(zip(world.ids[world.source], world.ids[world.target]), strength=2.0)
    made = Graph.from_networkx(g, features=["vector"], label="label", weight="strength")
    assert made.n_features == 4 and (made.ids() == world.ids).all() and (made.edge_weight == 2).all()
    assert [v for v in made.y if v is not None] == world.y[world.known].tolist()
    assert Graph.from_networkx(g, features=["age"]).feature_names == ["age"]
    assert consm.GCNClassifier(epochs=5).fit(made).predict(made).shape == (world.n,)


def test_pyg_and_dgl_objects(world):
    masks = {k: world.known if k == "train_mask" else ~world.known for k in ("train_mask", "val_mask")}
    data = types.SimpleNamespace(edge_index=np.stack([world.source, world.target]), x=world.x, y=world.truth,
                                 num_nodes=world.n, **masks)
    g = Graph.from_pyg(data)
    assert (g.train_mask == world.known).all() and (g.y == world.truth).all()
    dgl = types.SimpleNamespace(ndata={"feat": world.x, "label": world.truth, **masks}, num_nodes=lambda: world.n,
                                edges=lambda: (world.source, world.target))
    a, b = (consm.GCNClassifier(epochs=10, random_state=1).fit(m) for m in (g, Graph.from_dgl(dgl)))
    assert (a.predict_proba(g) == b.predict_proba(g)).all()
    assert a.info_["trained"] == world.known.sum() and a.info_["validated"] == (~world.known).sum()


def test_what_the_library_opens():
    g = consm.load("karate")
    assert g.n_nodes == 34 and set(g.y) == {"Mr. Hi", "Officer"} and g.edge_index.shape == (2, 78)
    assert g.x.shape == (34, 34)
    copy = pickle.loads(pickle.dumps(g))
    assert (copy.edge_index == g.edge_index).all() and (copy.y == g.y).all() and (copy.x != g.x).nnz == 0
    assert "cora" in consm.datasets()
    with pytest.raises(consm.ConsmKeyError, match="did you mean cora"):
        consm.fetch("coar")
    with pytest.raises(OSError):
        consm.load("/nowhere/at/all.csv")


def test_csv_file(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("source,target\nann,bob\nbob,cid\ncid,dan\n")
    g = consm.load(path)
    assert g.n_nodes == 4 and list(g.ids()) == ["ann", "bob", "cid", "dan"]


def test_fetch(tmp_path, monkeypatch):
    """From a mirror of files, with the registered hash checked."""
    served = tmp_path / "mirror"
    files = consm._data._files("texas")
    for file in files:
        target = served / file["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"not the real one")
    if files[0]["sha256"]:
        with pytest.raises(consm.ConsmFormatError, match="SHA-256"):
            consm.fetch("texas", data_dir=tmp_path / "cache", mirror=served.as_uri())
    assert not list((tmp_path / "cache").rglob("*.npz"))
    with pytest.raises(OSError):
        consm.fetch("texas", data_dir=tmp_path / "cache", mirror=(tmp_path / "nothing").as_uri())


def test_a_download_arrives_whole_or_not_at_all(tmp_path):
    from consm import _data
    source, target = tmp_path / "source", tmp_path / "cache" / "set" / "file"
    source.write_bytes(b"nodes and edges")
    right = hashlib.sha256(b"nodes and edges").hexdigest()
    with pytest.raises(consm.ConsmError, match="expected " + "0" * 64):
        _data._bring(source.as_uri(), str(target), "0" * 64)
    assert list(target.parent.iterdir()) == []
    for expected in (None, right):
        _data._bring(source.as_uri(), str(target), expected)
        assert target.read_bytes() == b"nodes and edges" and list(target.parent.iterdir()) == [target]
        assert _data._expected(str(target), expected) == expected
        target.unlink()
    (target.parent / "file.sha256").write_text(right + "  file\n")
    assert _data._expected(str(target), None) == right and _data._expected(str(target), "1") == "1"


def test_fetch_brings_what_is_registered(tmp_path):
    """From a folder of real files, served as a mirror."""
    folder = os.environ.get("CONSM_DATA")
    if not folder or not os.path.exists(os.path.join(folder, consm._data._files("texas")[0]["path"])):
        pytest.skip("needs real data: set CONSM_DATA")
    cache = tmp_path / "cache"
    g = consm.fetch("texas", data_dir=cache, mirror=pathlib.Path(folder).resolve().as_uri())
    assert g.n_nodes == 183 and list(cache.rglob("*.npz")) and not list(cache.rglob("*.part"))
    again = consm.fetch("texas", data_dir=cache, mirror="file:///nowhere")  # already stored: the mirror is not asked
    assert (again.y == g.y).all()


def test_a_graph_has_no_length_and_does_not_change(graph):
    import copy
    assert not hasattr(graph, "__len__") and not hasattr(graph, "shape")
    assert copy.deepcopy(graph) is graph
    assert "120 nodes" in repr(graph)


def test_a_category_of_digits_is_the_same_in_a_file(world, tmp_path):
    """"00123" in a category of pandas and 00123 in a CSV file are one value."""
    ids = [f"n{i}" for i in range(world.n)]
    nodes = pd.DataFrame({"zip": pd.Categorical(np.array(["00123", "00456"])[world.truth]), "v": world.x[:, 0]}, index=ids)
    edges = pd.DataFrame({"source": nodes.index[world.source], "target": nodes.index[world.target]})
    g = Graph.from_pandas(edges, nodes)
    assert g.feature_names == ["zip=00123", "zip=00456", "v"]
    model = consm.MLPClassifier(epochs=20).fit(g, world.truth)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index_label="id")
    there = model.predict_frame(consm.load(tmp_path))
    here = model.predict_frame(g)
    assert (there.loc[ids, "label"] == here.loc[ids, "label"]).all()
    assert np.allclose(there.loc[ids, "confidence"], here.loc[ids, "confidence"], atol=1e-6)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_a_number_that_no_float_holds_is_refused(value):
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    with pytest.raises(ValueError, match="column a, row 1: .*inf.*expected a finite number, or NaN|column a, row 1: 1e.300"):
        Graph.from_pandas(edges, pd.DataFrame({"a": [1.0, value, 3.0]}))
    assert Graph.from_pandas(edges, pd.DataFrame({"a": [1.0, np.nan, 3.0]})).x[1, 0] == 2


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo"])
def test_matrices_whose_arrays_are_not_as_long_as_they_say(kind, world):
    rng = np.random.default_rng(0)
    parts = ("row", "col", "data") if kind == "coo" else ("data", "indices", "indptr")

    def matrix(shape, part, change):
        made = sp.random(*shape, density=0.4, format=kind, random_state=1)
        if kind != "coo":
            made.has_canonical_format = made.has_sorted_indices = True
        if part:
            array = change(getattr(made, part).copy())
            if kind == "coo" and part != "data":
                made.coords = tuple(array if name == part else c for name, c in zip(("row", "col"), made.coords))
            else:
                setattr(made, part, array)
        return made

    ends = rng.integers(0, 20, (2, 60))
    assert Graph.from_arrays(ends, matrix((20, 6), None, None)).n_features == 6
    assert Graph.from_scipy(matrix((20, 20), None, None)).n_nodes == 20
    for part in parts:
        for change in (lambda a: a[:5],) + (() if part == "data" else (lambda a: a - 1, lambda a: a + 1000)):
            with pytest.raises(ValueError, match="x"):
                Graph.from_arrays(ends, matrix((20, 6), part, change))
            with pytest.raises(ValueError, match="adjacency"):
                Graph.from_scipy(matrix((20, 20), part, change))


def test_a_pickled_graph_trains_as_before(tmp_path):
    """A set known by name keeps the split of papers; a file keeps its labels, masks and class names."""
    for name in ("csbm:nodes=300,features=30", "karate"):
        g = consm.load(name)
        again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(g))))
        one, two = (consm.GCNClassifier(epochs=5, per_class=4).fit(h) for h in (g, again))
        for fact in ("split", "trained", "validated", "tested"):
            assert one.info_[fact] == two.info_[fact], (name, fact)
        assert (one.predict_proba(g) == two.predict_proba(again)).all()
        assert (one.predict_proba(again) == two.predict_proba(g)).all()
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i + 1) % 30}\n" for i in range(30)))
    (tmp_path / "nodes.csv").write_text("id,label,f\n" + "".join(
        f"{i},{'' if i % 3 == 2 else ('up', 'down')[i % 2]},{i % 2}\n" for i in range(30)))
    g = consm.load(tmp_path)
    one, two = (consm.GCNClassifier(epochs=5).fit(h) for h in (g, pickle.loads(pickle.dumps(g))))
    assert one.info_["trained"] == two.info_["trained"] == 16 and one.info_["split"] == two.info_["split"]
    assert (one.predict_proba(g) == two.predict_proba(g)).all() and (one.classes_ == two.classes_).all()


def test_looking_at_a_graph_prepares_nothing():
    """Three edges may have 16 million nodes: what training needs is not made before training."""
    n = 300_000
    graph = Graph.from_arrays(np.array([[0, 1, n - 1], [1, 2, 0]]))
    before = consm._lib.lib.consm_alloc_count()
    assert graph._lent().nodes == n and graph.edge_index.shape == (2, 3) and graph.x is None
    assert consm._lib.lib.consm_alloc_count() == before


def test_masked_arrays(world):
    graph = world.graph()
    y = np.ma.array(world.truth, mask=~world.known)
    assert (proba(graph, y) == proba(graph, world.y)).all()
    assert (proba(graph, np.ma.array(world.truth)) == proba(graph, world.truth)).all()
    x = np.ma.array(world.x, mask=world.x > 3)
    with pytest.raises(ValueError, match="x: .* entries are masked"):
        Graph.from_arrays((world.source, world.target), x)
    with pytest.raises(ValueError, match="weight: 1 entries are masked"):
        world.graph(weight=np.ma.array(np.ones(len(world.source)), mask=np.arange(len(world.source)) == 3))
    with pytest.raises(ValueError, match="train_mask: 1 entries are masked"):
        consm.GCNClassifier().fit(graph, world.truth, train_mask=np.ma.array(np.ones(world.n, bool),
                                                                             mask=np.arange(world.n) == 3))
