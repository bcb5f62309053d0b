"""What must not change when a graph is written down in another way, and what must not leak.

Every configuration is trained once on a small graph. Then the graph is changed in ways that mean nothing
(another order of nodes or edges, other names, repeats, loops, isolated nodes, another unit, other words for
classes), and the answers must be the same: to the bit where nothing is computed in another order.
"""
from __future__ import annotations

import functools

import numpy as np
import pytest

import consm
from conftest import METHODS
from consm import Graph, GraphClassifier

SHORT = {"epochs": 8, "hidden": 8, "random_state": 0, "threads": 1}
CONFIGURATIONS = {name: {"method": name, **SHORT} for name in METHODS if name != "consm"}
CONFIGURATIONS.update({
    "consm": {"method": "consm", **SHORT, "warmup": 8, "rounds": 1, "backbone": "gcn", "gnn_steps": 8, "match_steps": 8},
    "consm by paper": {"method": "consm", **SHORT, "profile": "paper", "rounds": 1, "gnn_steps": 8},
    "ensemble": {"method": "gcn", **SHORT, "ensemble": 2},
    "sets": {"method": "gcn", **SHORT, "coverage": 0.8},
    "threshold": {"method": "gcn", **SHORT, "threshold_for": 1},
})
if "trees" in CONFIGURATIONS:  # the plug-in may be missing
    CONFIGURATIONS["trees"]["epochs"] = 40  # eight trees have five different leaves in all
CONFIGURATIONS["without features"] = {"method": "gcn", **SHORT, "features": False}
CONFIGURATIONS["weights"] = {"method": "gcn", **SHORT, "weights": True}
CLOSE = 2e-5  # probabilities whose sums are taken in another order

pytestmark = [pytest.mark.parametrize("name", CONFIGURATIONS), pytest.mark.filterwarnings("ignore::consm.ConsmWarning")]


class Case:
    """One configuration: its graph in parts, and a model trained on it."""

    def __init__(self, name: str) -> None:
        values = dict(CONFIGURATIONS[name])
        features, weights = values.pop("features", True), values.pop("weights", False)
        rng = np.random.default_rng(5)
        self.n = n = 90
        self.truth = rng.integers(0, 2, n)
        a, b = rng.integers(0, n, 6 * n), rng.integers(0, n, 6 * n)
        chosen = (a < b) & ((self.truth[a] == self.truth[b]) | (rng.random(6 * n) < 0.2))
        pairs = np.unique(np.stack([a[chosen], b[chosen]]), axis=1)
        self.parts = {"source": pairs[0], "target": pairs[1], "ids": np.array([f"n{i}" for i in range(n)], object),
                      "x": (rng.normal(size=(n, 3)) + self.truth[:, None]).astype(np.float32) if features else None,
                      "weight": rng.random(pairs.shape[1]).astype(np.float32) + 0.5 if weights else None}
        self.values = values
        self.role = rng.permutation(np.repeat([0, 1, 2], n // 3))
        self.model = self.fit(self.graph())

    def graph(self, **changed: object) -> Graph:
        p = {**self.parts, **changed}
        return Graph.from_arrays((p["source"], p["target"]), p["x"], weight=p["weight"], node_ids=p["ids"],
                                 n_nodes=len(p["ids"]))

    def fit(self, graph: Graph, y: object = None, **more: object) -> GraphClassifier:
        masks = {f"{part}_mask": self.role == k for k, part in enumerate(("train", "val", "test"))}
        return GraphClassifier(**{**self.values, **more}).fit(graph, self.truth if y is None else y, **masks)

    def answers(self, graph: Graph, places: object = slice(None)) -> list[np.ndarray]:
        """Probabilities and prediction sets of the nodes at places."""
        found = [self.model.predict_proba(graph)[places]]
        return found + [self.model.predict_set(graph)[places]] if "coverage" in self.values else found

    def trust(self, graph: Graph) -> dict[frozenset, float]:
        scores = self.model.edge_trust(graph)
        return {frozenset(pair): t for *pair, t in zip(scores["source"], scores["target"], scores["trust"])}


@functools.lru_cache(maxsize=None)
def case(name: str) -> Case:
    return Case(name)


def same(one, two, tolerance=0.0):
    assert len(one) == len(two)
    for a, b in zip(one, two):
        if a.dtype == bool:
            assert (a == b).all()
        else:
            assert np.abs(a - b).max() <= tolerance


def same_trust(one, two, tolerance):
    assert one.keys() == two.keys()
    assert max(abs(one[pair] - two[pair]) for pair in one) <= tolerance


def test_order_of_nodes(name):
    c = case(name)
    order = np.random.default_rng(1).permutation(c.n)
    place = np.argsort(order)  # node i is now at place[i]
    other = c.graph(source=place[c.parts["source"]], target=place[c.parts["target"]], ids=c.parts["ids"][order],
                    x=None if c.parts["x"] is None else c.parts["x"][order])
    same(c.answers(c.graph())[:1], c.answers(other, place)[:1], CLOSE)  # sets are drawn node by node
    if c.values["method"] != "consm":  # the matching module's tests cover ConSM's trust
        same_trust(c.trust(c.graph()), c.trust(other), 1e-4)


def test_order_of_edges(name):
    c = case(name)
    order = np.random.default_rng(2).permutation(len(c.parts["source"]))
    weight = c.parts["weight"]
    other = c.graph(source=c.parts["source"][order], target=c.parts["target"][order],
                    weight=None if weight is None else weight[order])
    same(c.answers(c.graph()), c.answers(other))
    same_trust(c.trust(c.graph()), c.trust(other), 0)


def test_direction_of_edges(name):
    c = case(name)
    same(c.answers(c.graph()), c.answers(c.graph(source=c.parts["target"], target=c.parts["source"])))


def test_repeats_and_loops(name):
    """Each edge twice, and in both directions, and every node to itself."""
    c = case(name)
    source, target, weight = c.parts["source"], c.parts["target"], c.parts["weight"]
    loops = np.arange(c.n)
    other = c.graph(source=np.r_[source, source, target, loops], target=np.r_[target, target, source, loops],
                    weight=None if weight is None else np.r_[weight, weight, weight, np.ones(c.n, np.float32)])
    same(c.answers(c.graph()), c.answers(other))
    same_trust(c.trust(c.graph()), c.trust(other), 0)


def test_names(name):
    c = case(name)
    if c.parts["x"] is None:
        pytest.skip("features made from the structure are drawn by name")
    other = c.graph(ids=np.array([f"someone else {i}" for i in range(c.n)], object))
    same(c.answers(c.graph())[:1], c.answers(other)[:1])  # sets may be drawn by name


def test_isolated_nodes(name):
    """Nodes that nobody knows change nothing for the others."""
    c = case(name)
    x = c.parts["x"]
    other = c.graph(ids=np.r_[c.parts["ids"], np.array(["alone", "too"], object)],
                    x=None if x is None else np.r_[x, np.zeros((2, x.shape[1]), np.float32)])
    same(c.answers(c.graph()), c.answers(other, slice(0, c.n)), CLOSE)


def test_unit_of_features(name):
    """Columns are standardised: in a unit a thousandth (1/1024) as large they are the same, before and after training."""
    c = case(name)
    if c.parts["x"] is None:
        pytest.skip("has no features")
    scaled = c.graph(x=c.parts["x"] * np.float32(1024))
    assert (c.fit(scaled).predict_proba(scaled) == c.model.predict_proba(c.graph())).all()


@pytest.mark.parametrize("words", [["no", "yes"], [10, 20], [False, True]])
def test_words_for_classes(name, words):
    c = case(name)
    more = {"threshold_for": words[1]} if "threshold_for" in c.values else {}
    other = c.fit(c.graph(), np.array(words)[c.truth], **more)
    assert (other.predict_proba(c.graph()) == c.model.predict_proba(c.graph())).all()
    assert other.predict(c.graph()).tolist() == np.array(words)[c.model.predict(c.graph())].tolist()


def test_labels_of_test_nodes_leak_nowhere(name):
    """They are turned around: nothing that is learned, chosen or calibrated may notice."""
    c = case(name)
    turned = np.where(c.role == 2, 1 - c.truth, c.truth)
    other = c.fit(c.graph(), turned)
    assert (other.predict_proba(c.graph()) == c.model.predict_proba(c.graph())).all()
    assert other.params_ == c.model.params_ and other.temperature_ == c.model.temperature_
    assert other.threshold_ == c.model.threshold_ and other.metrics_["validation"]["accuracy"] == \
        c.model.metrics_["validation"]["accuracy"]
    assert c.trust(c.graph()) == {frozenset(p): t for *p, t in zip(*(other.edge_trust(c.graph())[k] for k in (
        "source", "target", "trust")))}


def test_threads(name):
    c = case(name)
    other = c.fit(c.graph(), threads=3)
    assert (other.predict_proba(c.graph()) == c.model.predict_proba(c.graph())).all()


def test_the_answers_are_worth_comparing(name):
    """Not all alike, and better than a guess."""
    c = case(name)
    p = c.model.predict_proba(c.graph())
    assert len(np.unique(p[:, 0])) > c.n // 2 and c.model.score(c.graph(), c.truth) > 0.5
