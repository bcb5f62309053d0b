#!/usr/bin/env python3
"""Times questions about single nodes and changes of a growing graph, through the Python package.

usage: python3 bench/nodes.py [--nodes N] [--edges M] [--method NAME] [--questions Q]

Prints medians and 99th percentiles in milliseconds, beside the time of a full prediction; the memory of a
snapshot (a version of the growing graph that 10,000 changes follow) beside that of the graph; the slowest of
the writes while a new base is built; explanations and the trust of a node's edges.
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


def resident():
    """MiB of memory that the process has."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


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
before = resident()
graph = consm.Graph.from_arrays(rng.integers(0, n, (2, asked.edges)), x)
model = consm.GraphClassifier(asked.method, epochs=1, refit="no", threads=1).fit(graph, y)
nodes = rng.integers(0, n, asked.questions)
say("open", timed(lambda k: model.predict(graph, nodes=[0]), 1))
whole = resident() - before
say("one node", timed(lambda k: model.predict_proba(graph, nodes=[nodes[k]]), asked.questions))
growing = consm.GrowingGraph(graph)
model.predict(growing, nodes=[0])
for count in (1_000, 10_000):
    pairs = [(int(a), int((a + 1 + b) % n)) for a, b in rng.integers(0, n - 1, (count, 2))]
    before = resident()
    say(f"{count:,} edges added, by id", timed(lambda k: growing.add_edges(pairs), 1))
    more = resident() - before  # the last version and this one share all but what changed
    print(f"{'  memory of the new version':34} {more:9.1f} MiB, {100 * more / whole:.2f} % of the graph's {whole:.0f} MiB")
say("one node after that", timed(lambda k: model.predict_proba(growing, nodes=[nodes[k]]), asked.questions))
say("explain", timed(lambda k: model.explain(int(nodes[k]), graph), 20))
say("trust of a node's edges", timed(lambda k: model.edge_trust(graph, nodes=[int(nodes[k])]), 200))


def write(k):
    """A thousand edges; after some dozens of these a thread builds a new base."""
    ends = rng.integers(0, n, (1000, 2))
    growing.add_edges([(int(a), int(b)) for a, b in ends if a != b])


spent = timed(write, 150)
say("1,000 edges, 150 times", spent)
print(f"{'  the slowest of them':34} {spent.max():16.3f} ms")
say("full prediction", timed(lambda k: model.predict(graph), 1))
