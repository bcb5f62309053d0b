#!/usr/bin/env python3
"""Times questions about single nodes and changes of a growing graph, through the Python package.

usage: python3 bench/nodes.py [--nodes N] [--edges M] [--method NAME] [--questions Q]

Prints medians and 99th percentiles in milliseconds, beside the time of a full prediction.
"""
import argparse
import time

import numpy as np

import consm


def timed(call, count):
    """Milliseconds of count calls."""
    spent = []
    for k in range(count):
        begin = time.perf_counter()
        call(k)
        spent.append(1000 * (time.perf_counter() - begin))
    return np.array(spent)


def say(what, spent):
    print(f"{what:34} median {np.median(spent):9.3f} ms   99 % {np.quantile(spent, 0.99):9.3f} ms")


parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=1_000_000)
parser.add_argument("--edges", type=int, default=10_000_000)
parser.add_argument("--method", default="gcn")
parser.add_argument("--questions", type=int, default=2000)
asked = parser.parse_args()
rng = np.random.default_rng(0)
n = asked.nodes
x = rng.random((n, 32), np.float32)
y = np.where(np.arange(n) < 2000, rng.integers(0, 4, n), -1)
graph = consm.Graph.from_arrays(rng.integers(0, n, (2, asked.edges)), x)
model = consm.GraphClassifier(asked.method, epochs=1, refit="no", threads=1).fit(graph, y)
nodes = rng.integers(0, n, asked.questions)
say("open", timed(lambda k: model.predict(graph, nodes=[0]), 1))
say("one node", timed(lambda k: model.predict_proba(graph, nodes=[nodes[k]]), asked.questions))
growing = consm.GrowingGraph(graph)
model.predict(growing, nodes=[0])
for count in (1_000, 10_000):
    pairs = [(int(a), int((a + 1 + b) % n)) for a, b in rng.integers(0, n - 1, (count, 2))]
    say(f"{count:,} edges added, by id", timed(lambda k: growing.add_edges(pairs), 1))
say("one node after that", timed(lambda k: model.predict_proba(growing, nodes=[nodes[k]]), asked.questions))
say("full prediction", timed(lambda k: model.predict(graph), 1))
