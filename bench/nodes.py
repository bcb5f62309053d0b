#!/usr/bin/env python3
"""Times questions about single nodes and changes of a growing graph, through the Python package.

usage: python3 bench/nodes.py [--nodes N] [--edges M] [--method NAME] [--backbone NAME] [--questions Q]

Prints, with medians and 99th percentiles in milliseconds: questions about a node, a full prediction, changes, writes
while the graph is rebuilt in the background, explanations, and the trust of a node's edges. Also prints the memory of
a version with 10,000 changes beside that of the graph. If torch and PyG are installed: the time of PyG's GCN on all
nodes of the same graph.

With --method consm the backbone is gcn unless --backbone is given (ConSM would compare many), and the trust of edges
is not timed.
"""
import argparse
import importlib.util
import os
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
parser.add_argument("--backbone", default="gcn", help="of consm")
parser.add_argument("--questions", type=int, default=2000)
asked = parser.parse_args()
rng = np.random.default_rng(0)
n = asked.nodes
x = rng.random((n, 32), np.float32)
y = np.where(np.arange(n) < 2000, rng.integers(0, 4, n), -1)
ends = rng.integers(0, n, (2, asked.edges))
print(f"load average {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} processors")
before = resident()
graph = consm.Graph.from_arrays(ends, x)
more = {"backbone": asked.backbone} if asked.method == "consm" else {}
model = consm.GraphClassifier(asked.method, epochs=1, refit="no", threads=1, **more).fit(graph, y)
nodes = rng.integers(0, n, asked.questions)
say("open", timed(lambda k: model.predict(graph, nodes=[0]), 1))
whole = resident() - before
say("one node", timed(lambda k: model.predict_proba(graph, nodes=[nodes[k]]), asked.questions))
growing = consm.GrowingGraph(graph)
model.predict(growing, nodes=[0])
for count in (1_000, 10_000):
    lists = [[(int(a), int((a + 1 + b) % n)) for a, b in rng.integers(0, n - 1, (count, 2))] for _ in range(9)]
    fresh = [consm.GrowingGraph(graph) for _ in lists]  # so that no new base is built meanwhile
    before = resident()
    say(f"{count:,} edges added, pairs", timed(lambda k: fresh[k].add_edges(lists[k]), len(lists)))
    kept = (resident() - before) / len(lists)  # the first version and this one share all but what changed
    print(f"{'  memory of a new version':34} {kept:9.1f} MiB, {100 * kept / whole:.2f} % of the graph's {whole:.0f} MiB")
    arrays = [np.array(pairs) for pairs in lists]
    fresh = [consm.GrowingGraph(graph) for _ in lists]
    say(f"{count:,} edges added, an array", timed(lambda k: fresh[k].add_edges(arrays[k]), len(lists)))
    growing.add_edges(arrays[0])
del fresh
say("one node after that", timed(lambda k: model.predict_proba(growing, nodes=[nodes[k]]), asked.questions))
if asked.method != "consm":  # its trust looks at the whole graph once
    say("explain", timed(lambda k: model.explain(int(nodes[k]), graph), 20))
    say("trust of a node's edges", timed(lambda k: model.edge_trust(graph, nodes=[int(nodes[k])]), 200))


def write(k):
    """A thousand edges; after some dozens of these a thread builds a new base."""
    ends = rng.integers(0, n, (1000, 2))
    growing.add_edges([(int(a), int(b)) for a, b in ends if a != b])


spent = timed(write, 150)
say("1,000 edges, 150 times", spent)
print(f"{'  the slowest of them':34} {spent.max():16.3f} ms")


def forget(_):
    """A full prediction; the last one is remembered."""
    model._cache = None
    model.predict(graph)


say("full prediction", timed(forget, 3))
if importlib.util.find_spec("torch_geometric"):
    import torch
    from torch_geometric.nn import GCNConv
    from torch_geometric.nn.conv.gcn_conv import gcn_norm
    from torch_geometric.utils import coalesce, to_torch_csr_tensor

    index, weight = gcn_norm(coalesce(torch.from_numpy(np.concatenate([ends, ends[::-1]], 1))), num_nodes=n)
    matrix = to_torch_csr_tensor(index, weight, size=(n, n))  # without it, messages of 5 GB are made
    first, second = GCNConv(32, 64, normalize=False), GCNConv(64, 4, normalize=False)
    features = torch.from_numpy(x)
    with torch.no_grad():
        say("PyG, all nodes", timed(lambda k: second(first(features, matrix).relu(), matrix), 3))
