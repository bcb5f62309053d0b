"""The tasks that a portfolio is learned from: graphs of many kinds, each with few labels and with many.

A task is a graph and a draw of roles: training, validation and judging nodes. The six graphs of the paper
take part without their test nodes, which never get a role here, so that no choice uses their test figures.
"""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Iterator, Optional

import numpy as np

PAPER = ("cora", "citeseer", "pubmed", "actor", "chameleon", "squirrel")
SPARE = ("acm", "dblp", "amazon_photo", "blogcatalog", "coauthor_phy", "musae_engb")
OTHER = ("texas", "cornell", "minesweeper")
ATTACKED = ("cora_meta_0.25", "citeseer_meta_0.25", "cora_meta_0.1", "pubmed_meta_0.2")
GENERATED = tuple(
    f"csbm:nodes={n},classes={c},features={f},degree={d},homophily={h},seed={i}"
    for i, (n, c, f, d, h) in enumerate([
        (2000, 4, 64, 6, 0.1), (3000, 5, 200, 8, 0.8), (2000, 3, 32, 20, 0.3), (4000, 6, 128, 4, 0.6),
        (3000, 2, 16, 10, 0.2), (2500, 8, 300, 5, 0.9), (3000, 4, 100, 30, 0.05), (1500, 3, 50, 3, 0.5)]))

LARGE = ("coauthor_phy", "blogcatalog", "amazon_photo", "pubmed_meta_0.2")  # three regimes are enough

# Updates after which a run's best validation so far is written down.
LOOKS = (5, 10, 20, 30, 45, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000)

# Labels that train and validate. A whole number counts nodes of each class (train) or all nodes
# (validate); a fraction is a share of all nodes that may have a role.
REGIMES = {
    "5 a class": (5, "same"),
    "20 a class": (20, 500),
    "100 a class": (100, 500),
    "10 %": (0.10, 0.10),
    "50 %": (0.50, 0.25),
}


@dataclass(frozen=True)
class Task:
    graph: str
    regime: str

    @property
    def name(self) -> str:
        return f"{self.graph} | {self.regime}"

    @property
    def family(self) -> str:
        """What is left out together when a portfolio is judged: a graph, clean and attacked."""
        return "csbm " + self.graph.split("seed=")[1] if ":" in self.graph else self.graph.split("_meta")[0]


def graphs() -> list[str]:
    return [*PAPER, *SPARE, *OTHER, *ATTACKED, *GENERATED]


def tasks() -> Iterator[Task]:
    for graph in graphs():
        for regime in REGIMES:
            if graph not in LARGE or regime not in ("100 a class", "10 %"):
                yield Task(graph, regime)


def _attacked_pubmed(consm, data: str, rate: str):
    """Planetoid's Pubmed with the edges of an attacked file (SciPy's save_npz, CSR)."""
    plain = consm.load("pubmed", data_dir=data)
    held = np.load(os.path.join(data, "attacked", f"pubmed_meta_adj_{rate}.npz"), allow_pickle=False)
    count = np.diff(held["indptr"])
    edges = np.stack([np.repeat(np.arange(len(count)), count), held["indices"]])
    return consm.Graph.from_arrays(edges, plain.x, plain.y), plain


def open_graph(consm, name: str, data: str):
    """(graph, labels, nodes that may have a role)"""
    if name in PAPER or name == "pubmed_meta_0.2":
        source = name.split("_meta")[0]
        if "_meta" in name:
            graph, plain = _attacked_pubmed(consm, data, name.split("_meta_")[1])
        else:
            graph = plain = consm.load(source, data_dir=data)
        y = np.asarray(plain.y)
        return graph, y, (y >= 0) & ~paper_test(plain, y, source)
    if name in SPARE:
        graph = consm.load(os.path.join(data, "spare", name + ".npz"))
    elif name in ATTACKED:
        graph = consm.load(os.path.join(data, "attacked", "prognn", name + ".npz"))
        y = np.asarray(graph.y)
        return graph, y, (y >= 0) & ~_prognn_test(data, name.split("_")[0], len(y))
    elif name in OTHER:
        graph = consm.load(os.path.join(data, "yandex", name + ".npz"))
    else:
        graph = consm.load(name)
    y = np.asarray(graph.y)
    return graph, y, y >= 0


def _prognn_test(data: str, name: str, nodes: int) -> np.ndarray:
    test = np.zeros(nodes, bool)
    with open(os.path.join(data, "attacked", "prognn", f"{name}_split.csv")) as lines:
        next(lines)
        for line in lines:
            node, role = line.strip().split(",")
            test[int(node)] = role == "test"
    return test


def paper_test(graph, y: np.ndarray, name: str) -> np.ndarray:
    """Test nodes of the split `paper`: Planetoid's, or by index order (docs/reference/studies.md)."""
    if name in ("cora", "citeseer", "pubmed"):
        return np.asarray(graph.test_mask)
    test = np.zeros(len(y), bool)
    for k in range(int(y.max()) + 1):
        rest = np.flatnonzero(y == k)[20:]
        test[rest[len(rest) // 2:]] = True
    return test


def roles(task: Task, y: np.ndarray, may: np.ndarray) -> Optional[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Masks (train, validate, judge), drawn by the task's name; None where labels are too few for it."""
    rng = np.random.default_rng(abs(int.from_bytes(task.name.encode()[-8:], "little")) % 2**63 + len(task.name))
    train_by, val_by = REGIMES[task.regime]
    pool = rng.permutation(np.flatnonzero(may))
    classes = int(y[pool].max()) + 1
    train = np.zeros(len(y), bool)
    val = np.zeros(len(y), bool)
    if isinstance(train_by, int):
        for k in range(classes):
            of = pool[y[pool] == k]
            if train_by > 5 and len(of) < 1.5 * train_by:
                if train_by == 100 or len(of) < train_by / 2:
                    return None
            train[of[:min(train_by, max(1, len(of) // 3))]] = True
    else:
        train[pool[:int(train_by * len(pool))]] = True
    rest = pool[~train[pool]]
    if val_by == "same":
        count = int(train.sum())
    elif isinstance(val_by, int):
        count = min(val_by, len(rest) // 2)
    else:
        count = int(val_by * len(pool))
    val[rest[:count]] = True
    judge = np.zeros(len(y), bool)
    judge[rest[count:]] = True
    if len(np.unique(y[train])) < 2 or judge.sum() < 30:
        return None
    return train, val, judge
