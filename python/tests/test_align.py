"""Labels, masks, features and weights with ids are matched to the nodes with those ids, in any order."""
from __future__ import annotations

import numpy as np
import pytest

import consm
from consm import Graph

pd = pytest.importorskip("pandas")


def model(**more):
    return consm.GCNClassifier(random_state=0, epochs=20, hidden=8, **more)


@pytest.fixture(scope="module")
def named(world):
    return world.graph(node_ids=world.ids)


@pytest.fixture(scope="module")
def labels(world):
    return pd.Series(np.where(world.known, np.array(["no", "yes"])[world.truth], None), index=world.ids)


@pytest.fixture(scope="module")
def expected(named, labels):
    return model().fit(named, labels.to_numpy()).predict_proba(named)


def shuffled(series, seed=1):
    return series.iloc[np.random.default_rng(seed).permutation(len(series))]


def test_a_shuffled_series_is_the_same_labels(named, labels, expected, world):
    mixed = shuffled(labels)
    assert (mixed.to_numpy() != labels.to_numpy()).any()
    for y in (mixed, mixed.to_frame("label"), mixed.to_frame("label")["label"], mixed.to_dict(), mixed.dropna(),
              mixed.dropna().to_dict(), mixed.astype("category"), labels):
        fitted = model().fit(named, y)
        assert (fitted.predict_proba(named) == expected).all(), type(y)
        assert fitted.score(named, y) == fitted.score(named, labels.to_numpy())
    assert (model().fit(named, mixed.to_numpy()).predict_proba(named) != expected).any()  # an array has no ids


def test_numbers_as_ids(world, graph):
    """A graph without ids calls its nodes 0, 1, …; ids of a file are text, which whole numbers find."""
    y = pd.Series(world.y)
    expected = model().fit(graph, world.y).predict_proba(graph)
    for given in (shuffled(y), shuffled(y).to_dict(), shuffled(y[y >= 0])):
        assert (model().fit(graph, given).predict_proba(graph) == expected).all()
    texts = world.graph(node_ids=[str(10 + i) for i in range(world.n)])
    given = shuffled(pd.Series(world.y, index=np.arange(10, 10 + world.n)))
    assert (model().fit(texts, given).predict_proba(texts) == expected).all()
    assert model().fit(texts, given).explain(10).node == "10"


def test_ids_that_do_not_match_are_listed(named, labels):
    foreign = labels.rename(index={"person 3": "who", "person 5": "else"})
    with pytest.raises(ValueError, match=r"y: 2 of its 120 ids are not in the graph: 'who', 'else' \(the graph has "
                                         r"'person 0', 'person 1', 'person 2', …\)"):
        model().fit(named, foreign)
    with pytest.raises(ValueError, match=r"120 of its 120 ids are not in the graph: 0, 1, 2, … .*to_numpy"):
        model().fit(named, labels.reset_index(drop=True))
    with pytest.raises(ValueError, match="1 ids occur twice: 'person 0'"):
        model().fit(named, pd.concat([labels, labels[:1]]))
    with pytest.raises(ValueError, match="not in the graph: 'nobody'"):
        model().fit(named, {"nobody": 1})
    fitted = model().fit(named, labels)
    with pytest.raises(ValueError, match="not in the graph: 'who', 'else'"):
        fitted.score(named, foreign)
    with pytest.raises(ValueError, match="found 2 columns"):
        model().fit(named, pd.DataFrame({"a": labels, "b": labels}))


def test_masks_by_id(named, world):
    train = pd.Series(np.arange(world.n) < 40, index=world.ids)
    val = pd.Series((np.arange(world.n) >= 40) & (np.arange(world.n) < 60), index=world.ids)
    expected = model().fit(named, world.truth, train_mask=train.to_numpy(), val_mask=val.to_numpy())
    for one, two in ((shuffled(train), shuffled(val, 2)), (shuffled(train).to_dict(), shuffled(val).to_dict()),
                     (shuffled(train[train]), shuffled(val[val])), (shuffled(train[train]).index, val[val].index),
                     (set(train[train].index), frozenset(val[val].index))):
        found = model().fit(named, world.truth, train_mask=one, val_mask=two)
        assert (found.info_["trained"], found.info_["validated"]) == (40, 20)
        assert (found.predict_proba(named) == expected.predict_proba(named)).all()
    with pytest.raises(ValueError, match="train_mask: 1 of its 1 ids is not in the graph: 'who'"):
        model().fit(named, world.truth, train_mask={"who": True})
    with pytest.raises(ValueError, match="train_mask: found 1, expected True or False for each id"):
        model().fit(named, world.truth, train_mask=train.astype(int))
    for ids in (pd.Index(["who"]), {"who"}):
        with pytest.raises(KeyError, match="no node 'who'"):
            model().fit(named, world.truth, train_mask=ids)
    numbers = model().fit(world.graph(), world.truth, train_mask=pd.Index(range(40)), val_mask={40, 41, 42})
    assert (numbers.info_["trained"], numbers.info_["validated"]) == (40, 3)


def test_features_by_id(named, labels, expected, world):
    x = pd.DataFrame(world.x, index=world.ids, columns=list("abcd"))
    ends = (world.source, world.target)
    for given in (x, shuffled(x), dict(zip(shuffled(x).index, shuffled(x).to_numpy()))):
        graph = Graph.from_arrays(ends, given, shuffled(labels), node_ids=world.ids)
        assert (model().fit(graph, graph.y).predict_proba(graph) == expected).all()
    assert Graph.from_arrays(ends, shuffled(x), node_ids=world.ids).feature_names == list("abcd")
    with pytest.raises(ValueError, match="x: 1 of the graph's 120 nodes have no value: 'person 7'"):
        Graph.from_arrays(ends, x.drop("person 7"), node_ids=world.ids)
    with pytest.raises(ValueError, match="x: 120 of its 120 ids are not in the graph: 'person 0'"):
        Graph.from_arrays(ends, x)
    late = Graph.from_arrays(([0, 1], [1, 2]), y={0: "a", 4: "b"})
    assert late.n_nodes == 5 and late.y.tolist() == ["a", None, None, None, "b"]


def test_masks_of_a_table(world):
    """They may be indexed as the table of nodes is, or by id."""
    edges = pd.DataFrame({"source": world.ids[world.source], "target": world.ids[world.target]})
    nodes = pd.DataFrame({"name": world.ids, "v": world.x[:, 0], "train": np.arange(world.n) < 50})
    features = nodes[["name", "v"]]
    for given in (nodes["train"], shuffled(nodes.set_index("name")["train"]), nodes["train"].to_numpy()):
        g = Graph.from_pandas(edges, features, id="name", train_mask=given)
        assert (g.train_mask == nodes["train"].to_numpy()).all()
    numbers = nodes.assign(name=world.n - 1 - np.arange(world.n))
    with pytest.raises(ValueError, match="train_mask: its index may mean node ids or the rows of nodes"):
        Graph.from_pandas(pd.DataFrame({"source": world.source, "target": world.target}), numbers[["name", "v"]],
                          id="name", train_mask=numbers["train"])


def test_nodes_as_samples(named, world):
    """X lists nodes of graph=: y goes by its index where X has one, then by id."""
    some = world.ids[np.random.default_rng(0).permutation(world.n)[:60]]
    y = pd.Series(world.truth, index=world.ids)
    expected = model(graph=named).fit(some, y[some].to_numpy())
    rows = pd.Series(some, index=np.arange(1000, 1060))
    for X, labels in ((some, shuffled(y[some])), (some, shuffled(y[some]).to_dict()),
                      (rows, shuffled(pd.Series(y[some].to_numpy(), index=rows.index))),
                      (rows, pd.Series(y[some].to_numpy(), index=rows.index))):
        found = model(graph=named).fit(X, labels)
        assert (found.predict_proba(world.ids) == expected.predict_proba(world.ids)).all()
        assert found.score(X, labels) == expected.score(some, y[some].to_numpy())
        assert found.score(X, labels, sample_weight=labels) == expected.score(
            some, y[some].to_numpy(), sample_weight=y[some].to_numpy())
    with pytest.raises(ValueError, match="y: 60 of its 120 ids are not in X"):
        model(graph=named).fit(some, y)
    with pytest.raises(ValueError, match="ids are not in the graph: 0, 1, 2"):
        model(graph=named).fit(some, pd.Series(y[some].to_numpy()))
    order = np.random.default_rng(0).permutation(world.n)
    with pytest.raises(ValueError, match="may mean node ids or the rows of X"):
        model(graph=world.graph()).fit(order, pd.Series(world.truth[order]))


def test_tables_by_index(world):
    x = pd.DataFrame(world.x, index=world.ids, columns=list("abcd"))
    y = pd.Series(world.truth, index=world.ids)
    expected = consm.MLPClassifier(epochs=20).fit(x, y).predict_proba(x)
    assert (consm.MLPClassifier(epochs=20).fit(x, shuffled(y)).predict_proba(x) == expected).all()
    assert (consm.MLPClassifier(epochs=20).fit(x.to_numpy(), y).predict_proba(x.to_numpy()) == expected).all()
    with pytest.raises(ValueError, match="y: 120 of its 120 ids are not in X"):
        consm.MLPClassifier().fit(x, y.reset_index(drop=True))
