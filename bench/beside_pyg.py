#!/usr/bin/env python3
"""Training epochs of consm and of PyTorch Geometric, measured on one machine in one run.

    python bench/beside_pyg.py [--consm build/release/consm] [--sets cora,actor] [--threads 2]

Needs torch and torch_geometric; --alone leaves them out. `consm convert` writes the data for PyG. No card is used.

PyG runs each model and set in four variants: with edge_index or a sparse adjacency (torch CSR), and with dense or
sparse features. "best" is the fastest of the four; "default" is edge_index with dense features, as in PyG's examples.
Every case runs in a process of its own, which also gives its peak memory. The process is forked from one that has
imported torch and PyG, so that they are imported once. All models have two layers, hidden width 64, dropout 0.5 and
Adam with weight decay, as consm's defaults. Times are medians. "epoch" compares step and evaluation together, because
a step of consm reuses what the evaluation before it computed, which PyG cannot do.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

MODELS = ["mlp", "gcn", "gat", "appnp", "gcnii", "gin"]
HIDDEN = 64


def peer(model, path, threads, adjacency, features, seconds):
    """One case in this process: prints train_ms, eval_ms, peak_mb as JSON."""
    import numpy
    import torch
    import torch.nn.functional as F
    from torch_geometric import nn as gnn
    from torch_geometric.utils import to_torch_csr_tensor

    torch.set_num_threads(threads)
    data = numpy.load(path)
    x = torch.tensor(data["node_features"], dtype=torch.float32)
    y = torch.tensor(data["node_labels"], dtype=torch.long)
    pairs = torch.tensor(data["edges"], dtype=torch.long).t()
    pairs = torch.cat([pairs, pairs.flip(0)], 1)
    pairs = torch.unique(pairs[:, pairs[0] != pairs[1]], dim=1)
    classes = int(y.max()) + 1
    train = torch.cat([(y == c).nonzero()[:20, 0] for c in range(classes)])
    edges = pairs if adjacency == "index" else to_torch_csr_tensor(pairs, size=(len(y), len(y)))

    class SparseLinear(torch.nn.Linear):
        def forward(self, value):
            out = torch.sparse.mm(value, self.weight.t())
            return out if self.bias is None else out + self.bias

    def first(linear):
        if features == "dense":
            return linear
        return SparseLinear(linear.in_channels if hasattr(linear, "in_channels") else
                            linear.in_features, HIDDEN, bias=linear.bias is not None)

    drop = lambda net, value: F.dropout(value, 0.5, net.training)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            width = x.shape[1]
            if model == "gcn":
                self.one, self.two = gnn.GCNConv(width, HIDDEN, cached=True), gnn.GCNConv(
                    HIDDEN, classes, cached=True)
                self.one.lin = first(self.one.lin)
            elif model == "gat":
                self.one = gnn.GATConv(width, HIDDEN // 8, heads=8, dropout=0.5)
                self.two = gnn.GATConv(HIDDEN, classes, heads=1, dropout=0.5)
                self.one.lin = first(self.one.lin)
            elif model == "gin":
                mlp = lambda a, b: torch.nn.Sequential(torch.nn.Linear(a, HIDDEN), torch.nn.ReLU(),
                                                       torch.nn.Linear(HIDDEN, b))
                self.one = gnn.GINConv(mlp(width, HIDDEN), train_eps=True)
                self.two = gnn.GINConv(mlp(HIDDEN, classes), train_eps=True)
            else:
                self.one = first(torch.nn.Linear(width, HIDDEN))
                self.two = torch.nn.Linear(HIDDEN, classes)
                if model == "appnp":
                    self.walk = gnn.APPNP(10, 0.1, cached=True)
                if model == "gcnii":
                    self.deep = torch.nn.ModuleList(
                        gnn.GCN2Conv(HIDDEN, 0.1, 0.5, i + 1, cached=True) for i in range(2))

        def forward(self):
            if model in ("gcn", "gat", "gin"):
                act = F.elu if model == "gat" else F.relu
                return self.two(drop(self, act(self.one(x, edges))), edges)
            h = F.relu(self.one(x))
            if model == "gcnii":
                start = h
                for layer in self.deep:
                    h = F.relu(layer(drop(self, h), start, edges))
            h = self.two(drop(self, h))
            return self.walk(h, edges) if model == "appnp" else h

    if features == "sparse":
        x = x.to_sparse_csr()
    net = Net()
    adam = torch.optim.Adam(net.parameters(), lr=0.005, weight_decay=5e-4)
    steps, looks, begin = [], [], time.perf_counter()
    while len(steps) < 6 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        net.train()
        adam.zero_grad()
        F.cross_entropy(net()[train], y[train]).backward()
        adam.step()
        middle = time.perf_counter()
        net.eval()
        with torch.no_grad():
            net()
        steps.append(middle - start)
        looks.append(time.perf_counter() - middle)
    print(json.dumps({"train_ms": 1e3 * statistics.median(steps[1:]),
                      "eval_ms": 1e3 * statistics.median(looks[1:]),
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}))


def serve(threads, seconds):
    """Reads cases from stdin, a line each, runs each in a fork, answers with a line of JSON."""
    import torch_geometric  # noqa: F401  (every case needs it)
    print("ready", flush=True)
    for line in sys.stdin:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            model, path, adjacency, features = json.loads(line)
            try:
                peer(model, path, threads, adjacency, features, seconds)
            except Exception as fault:  # PyG does not support this case
                print(json.dumps({"fault": str(fault).splitlines()[0]}))
            sys.stdout.flush()
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            print(json.dumps({"fault": "the process died"}), flush=True)


class Peers:
    """PyG's side: one process that has imported it."""

    def __init__(self, threads, seconds):
        # Importing keeps a processor busy for seconds, so nothing is measured meanwhile.
        self.server = subprocess.Popen([sys.executable, __file__, "--threads", str(threads), "--seconds",
                                        str(seconds), "--serve"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        if self.server.stdout.readline().strip() != "ready":
            raise SystemExit("beside_pyg.py: torch and torch_geometric cannot be imported")

    def run(self, *case):
        self.server.stdin.write(json.dumps(case) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def cases(self, model, name, path):
        """The times of every way that this model can go, by (adjacency, features)."""
        found = {}
        for adjacency in ("index", "csr"):
            for features in ("dense", "sparse"):
                if (model == "mlp" and adjacency == "csr") or (model == "gin" and features == "sparse"):
                    continue
                run = self.run(model, path, adjacency, features)
                if "fault" in run:
                    print(f"{model} on {name}, {adjacency}, {features}: {run['fault']}", file=sys.stderr)
                else:
                    found[adjacency, features] = run
        return found


def ours(consm, model, name, threads):
    """The middle one of three runs, each the median of 200 epochs."""
    runs = []
    for _ in range(3):
        out = subprocess.run([consm, "train", name, "--model", model, "--split", "paper", "--epochs", "200",
                              "--threads", str(threads), "--jobs", "1", "--json"], capture_output=True, text=True,
                             check=True).stdout.splitlines()[0]
        runs.append(json.loads(out))
    run = sorted(runs, key=lambda r: r["train_ms"])[1]
    return {"train_ms": run["train_ms"], "eval_ms": run["eval_ms"], "peak_mb": run["peak_rss_mb"]}


def show(model, name, mine, cases, as_json):
    best = min(cases.values(), key=lambda c: c["train_ms"], default={})
    usual = cases.get(("index", "dense"), {})
    if as_json:
        print(json.dumps({"model": model, "set": name, **mine, "pyg_ms": best.get("train_ms"),
                          "pyg_eval_ms": best.get("eval_ms"), "pyg_mb": best.get("peak_mb"),
                          "pyg_default_ms": usual.get("train_ms")}), flush=True)
        return
    line = f"{model:8}{name:12}{mine['train_ms']:9.3f}{mine['peak_mb']:7.0f}"
    if best:
        epoch = (best["train_ms"] + best["eval_ms"]) / (mine["train_ms"] + mine["eval_ms"])
        line += (f"{best['train_ms']:10.2f}{usual['train_ms']:9.2f}{best['peak_mb']:8.0f}"
                 f"{best['train_ms'] / mine['train_ms']:7.1f}x{epoch:7.1f}x{best['peak_mb'] / mine['peak_mb']:7.1f}x")
    print(line, flush=True)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ask.add_argument("--consm", default="build/release/consm")
    ask.add_argument("--sets", default="cora,citeseer,chameleon,squirrel,actor,pubmed")
    ask.add_argument("--models", default=",".join(MODELS))
    ask.add_argument("--threads", type=int, default=2)
    ask.add_argument("--seconds", type=float, default=3, help="spent on each case of PyG")
    ask.add_argument("--alone", action="store_true", help="consm only")
    ask.add_argument("--json", action="store_true", help="one object a line")
    ask.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = ask.parse_args()
    if given.serve:
        serve(given.threads, given.seconds)
        return
    peers = None if given.alone else Peers(given.threads, given.seconds)
    if not given.json:
        print(f"{'model':8}{'set':12}{'consm ms':>9}{'MB':>7}{'PyG best':>10}{'default':>9}{'MB':>8}"
              f"{'time':>8}{'epoch':>8}{'memory':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets.split(","):
            path = os.path.join(folder, name + ".npz")
            subprocess.run([given.consm, "convert", name, path], check=True, capture_output=True)
            for model in given.models.split(","):
                mine = ours(given.consm, model, name, given.threads)
                show(model, name, mine, peers.cases(model, name, path) if peers else {}, given.json)


if __name__ == "__main__":
    main()
