"""Invalid input gives an exception that names what was expected, never a crash or a silent answer."""
from __future__ import annotations

import numpy as np
import pytest

import consm
from consm import Graph, GraphClassifier

EDGES = np.array([[0, 1, 2], [1, 2, 3]])
X = np.eye(4, 3)
Y = np.array([0, 1, 0, 1])


def fit(edges=EDGES, x=X, y=Y, **more):
    return consm.GCNClassifier(epochs=2).fit(Graph.from_arrays(edges, x, n_nodes=4), y, **more)


CASES = {
    "labels of the wrong length": (lambda: fit(y=[0, 1, 0]), ValueError, "found 3 labels, expected 4, one per node"),
    "labels in two dimensions": (lambda: fit(y=np.zeros((4, 2))), ValueError, "expected one label per node"),
    "labels that are fractions": (lambda: fit(y=[0.5, 1.5, 0.5, 1.5]), ValueError, "expected classes"),
    "labels of several kinds": (lambda: fit(y=np.array([0, "a", 1, 2], object)), ValueError, "several types"),
    "one class": (lambda: fit(y=[1, 1, -1, 1]), ValueError, "one class, 1: expected at least two classes"),
    "no label": (lambda: fit(y=[-1, -1, -1, -1]), ValueError, "no label: expected at least two classes"),
    "no labels at all": (lambda: fit(y=None), ValueError, "y"),
    "NaN features": (lambda: fit(x=np.where(X == 1, np.nan, X)), ValueError, "finite"),
    "infinite features": (lambda: fit(x=np.where(X == 1, np.inf, X)), ValueError, "finite"),
    "features too large for a float": (lambda: fit(x=X * 1e300), ValueError, "finite"),
    "features that are text": (lambda: fit(x=np.array([["a"]] * 4)), TypeError, "expected numbers"),
    "features of too few nodes": (lambda: fit(x=X[:3]), ValueError, "numbers of nodes differ"),
    "features in three dimensions": (lambda: fit(x=np.zeros((4, 1, 1))), ValueError, r"expected \(nodes, features\)"),
    "complex features": (lambda: fit(x=X * 1j), ValueError, "Complex"),
    "a negative index": (lambda: fit(edges=[[0, -1], [1, 2]]), ValueError, "is -1: expected 0 to 3"),
    "a huge index": (lambda: fit(edges=np.array([[0, 2**62], [1, 2]])), ValueError, "expected 0 to 3"),
    "an unsigned index beyond int64": (lambda: fit(edges=np.array([[0, 2**64 - 1], [1, 2]], np.uint64)), ValueError,
                                       "less than 2"),
    "an edge to a node that is not there": (lambda: fit(edges=[[0, 1], [1, 4]]), ValueError, "is 4: expected 0 to 3"),
    "fractions as edges": (lambda: fit(edges=np.zeros((2, 3))), TypeError, "expected integers"),
    "edges in a strange shape": (lambda: fit(edges=np.zeros((3, 4), int)), ValueError, r"expected \(2, m\)"),
    "as many targets as sources": (lambda: Graph.from_arrays(([0, 1], [1]), n_nodes=2), ValueError, "2 sources and 1"),
    "a graph without edges": (lambda: fit(edges=np.zeros((2, 0), int)), ValueError, "has no edges"),
    "a graph without nodes": (lambda: Graph.from_arrays(np.zeros((2, 0), int)), ValueError, "no nodes"),
    "weights of the wrong length": (lambda: Graph.from_arrays(EDGES, X, weight=[1.0]), ValueError, "expected 3, one per edge"),
    "NaN weights": (lambda: Graph.from_arrays(EDGES, X, weight=[1.0, np.nan, 1]), ValueError, "finite"),
    "ids twice": (lambda: Graph.from_arrays(EDGES, X, node_ids=list("abca")), ValueError, "occurs twice"),
    "ids that differ only in kind": (lambda: Graph.from_arrays(EDGES, X, node_ids=[1, "1", 2, 3]), ValueError, "both"),
    "too many ids": (lambda: Graph.from_arrays(EDGES, X, node_ids=list("abcde")), ValueError, "nodes differ"),
    "too few feature names": (lambda: Graph.from_arrays(EDGES, X, feature_names=["a"]), ValueError, "expected 3, one per column"),
    "a name with NUL": (lambda: Graph.from_arrays(EDGES, X, node_ids=["a\0", "b", "c", "d"]), ValueError, "NUL"),
    "a lone surrogate": (lambda: Graph.from_arrays(EDGES, X, node_ids=["\ud800", "b", "c", "d"]), ValueError, "UTF-8"),
    "a mask of the wrong length": (lambda: fit(train_mask=np.ones(3, bool)), ValueError, r"expected \(4,\)"),
    "a mask beyond the nodes": (lambda: fit(train_mask=[0, 9]), ValueError, "from 0 to 3"),
    "a matrix that is not square": (lambda: Graph.from_scipy(_matrix((3, 4))), ValueError, "expected a square matrix"),
    "no matrix": (lambda: Graph.from_scipy(EDGES), TypeError, "SciPy"),
    "a matrix as edges": (lambda: Graph.from_arrays(_matrix((4, 4))), TypeError, "from_scipy"),
    "something that is not a graph": (lambda: consm.GCNClassifier().fit("graph", Y), ValueError, "expects a Graph"),
    "a path that is not a path": (lambda: consm.load(3.5), ValueError, "expected a path"),
    "no seed": (lambda: consm.GCNClassifier(random_state="x").fit(Graph.from_arrays(EDGES, X), Y), ValueError,
                "random_state"),
    "nodes that are not there": (lambda: consm.GCNClassifier(graph=Graph.from_arrays(EDGES, X)).fit([0, 7], [0, 1]),
                                 KeyError, "no node 7"),
    "a node twice": (lambda: consm.GCNClassifier(graph=Graph.from_arrays(EDGES, X)).fit([0, 0], [0, 1]), ValueError,
                     "occurs twice"),
    "not fitted": (lambda: consm.GCNClassifier().predict(Graph.from_arrays(EDGES, X)), ValueError, "not fitted"),
    "not fitted, trust": (lambda: consm.GCNClassifier().edge_trust(Graph.from_arrays(EDGES, X)), ValueError, "fitted"),
}


def _matrix(shape):
    return pytest.importorskip("scipy.sparse").csr_matrix(np.ones(shape))


@pytest.mark.parametrize("name", CASES)
def test_it_is_said_what_was_expected(name):
    call, kind, words = CASES[name]
    with pytest.raises(kind, match=words) as raised:
        call()
    assert isinstance(raised.value, consm.ConsmError)


def test_a_model_on_a_graph_with_other_columns(world, fitted):
    with pytest.raises(ValueError, match="has 3 features, but the model was trained on 4"):
        fitted.predict(Graph.from_arrays((world.source, world.target), world.x[:, :3]))
    with pytest.raises(ValueError, match="has no features, but the model was trained on 4"):
        fitted.predict(Graph.from_arrays((world.source, world.target), n_nodes=world.n))
    named = Graph.from_arrays((world.source, world.target), world.x, feature_names=list("abcd"))
    model = consm.GCNClassifier(epochs=2).fit(named, world.y)
    other = Graph.from_arrays((world.source, world.target), world.x, feature_names=list("abcz"))
    with pytest.raises(ValueError, match="lacks 1 of the model's 4 feature columns: d"):
        model.predict(other)
    shuffled = Graph.from_arrays((world.source, world.target), world.x[:, ::-1], feature_names=list("dcba"))
    assert (model.predict_proba(shuffled) == model.predict_proba(named)).all()


def test_tables(world):
    pd = pytest.importorskip("pandas")
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    nodes = pd.DataFrame({"v": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    for call, words in (
            (lambda: Graph.from_pandas(edges, nodes, source="sorce"), "no column 'sorce'; did you mean 'source'?"),
            (lambda: Graph.from_pandas(edges, nodes.iloc[:2]), "edges, row 1: target 'c' is not a node id"),
            (lambda: Graph.from_pandas(edges[::-1].assign(source=["a", "a"], target=["a", "z"]), nodes),
             "edges, row 1: target 'z' is not a node id"),
            (lambda: Graph.from_pandas(edges, pd.concat([nodes, nodes])), "'a' occurs in two rows"),
            (lambda: Graph.from_pandas(edges, nodes, id="name"), "no column 'name'"),
            (lambda: Graph.from_pandas(edges.assign(target=["b", None]), nodes), "is missing in a row"),
            (lambda: Graph.from_pandas(7), "expected a DataFrame")):
        with pytest.raises(ValueError, match=words.replace("?", "")):
            call()


def test_files_that_are_broken(tmp_path, fitted):
    bad = tmp_path / "model.safetensors"
    bad.write_bytes(b"nothing of the kind")
    with pytest.raises(consm.ConsmFormatError):
        consm.load_model(bad)
    with pytest.raises(OSError):
        consm.load_model(tmp_path / "absent.safetensors")
    with pytest.raises(OSError):
        fitted.save("/nowhere/at/all.safetensors")


def test_errors_are_pythons_own_kinds():
    assert issubclass(consm.ConsmValueError, ValueError) and issubclass(consm.ConsmOSError, OSError)
    assert issubclass(consm.ConsmMemoryError, MemoryError) and issubclass(consm.ConsmKeyError, KeyError)
    with pytest.raises(consm.ConsmError):
        GraphClassifier("nothing like it")
