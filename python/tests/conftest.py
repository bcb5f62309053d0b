"""Graphs that the tests share, and where the repository and the command are."""
from __future__ import annotations

import os
import pathlib
import signal

import numpy as np
import pytest

import consm

# A shell makes background jobs ignore SIGINT. Tests that interrupt a run would then hang.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _trainable() -> list[str]:
    """The methods that can be trained here: trees need XGBoost's plug-in."""
    try:
        consm.GraphClassifier("trees", epochs=1, per_class=4).fit(consm.load("karate"))
    except consm.ConsmKeyError as fault:
        assert "install libxgboost" in str(fault)
        return [name for name in consm.methods() if name != "trees"]
    return list(consm.methods())


METHODS = _trainable()
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def repository() -> pathlib.Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def command() -> str:
    """The command line program, built from the same tree."""
    found = os.environ.get("CONSM_COMMAND") or str(REPOSITORY / "build/release/consm")
    if not os.access(found, os.X_OK):
        pytest.skip("needs the command: set CONSM_COMMAND")
    return found


class World:
    """Two groups of people who mostly know their like, as tables and as arrays."""

    def __init__(self, n: int = 120, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n = n
        self.truth = rng.integers(0, 2, n)
        a, b = rng.integers(0, n, 8 * n), rng.integers(0, n, 8 * n)
        chosen = (a != b) & ((self.truth[a] == self.truth[b]) | (rng.random(8 * n) < 0.15))
        self.source, self.target = a[chosen], b[chosen]
        self.x = rng.normal(size=(n, 4)) + self.truth[:, None]
        self.known = rng.random(n) < 0.4
        self.y = np.where(self.known, self.truth, -1)
        self.ids = np.array([f"person {i}" for i in range(n)], object)

    def graph(self, **more: object) -> "consm.Graph":
        return consm.Graph.from_arrays((self.source, self.target), self.x, **more)


@pytest.fixture(scope="session")
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def graph(world: World) -> "consm.Graph":
    return world.graph()


@pytest.fixture(scope="session")
def fitted(world: World, graph: "consm.Graph") -> "consm.GraphClassifier":
    return consm.GCNClassifier(random_state=0, epochs=60, hidden=8).fit(graph, world.y)
