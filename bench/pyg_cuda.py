#!/usr/bin/env python3
"""Training steps of PyTorch Geometric on a card, and consm's on the same card in the same run.

    python bench/pyg_cuda.py [--consm build/release/consm] [--sets "cora;squirrel"] [--models gcn,gat,appnp]
                             [--kinds eager,graph,compile] [--steps 500] [--compiled gcn] [--compile-seconds 90]

PyG runs in three ways: eager; as a CUDA graph of the whole step (Adam with capturable=True), the fastest that a static
step can be there; and with torch.compile(mode="reduce-overhead"), which makes graphs of forward and backward. Compiling
is slow: after --compile-seconds its process is ended, and a line says so. Two layers, hidden width 64, dropout 0.5, Adam
with weight decay: consm's defaults. GAT's edges include self-loops, because adding them in every step cannot be captured.

Prints the median over the steps, waiting for the card after each; the mean over all steps without waiting; and the test
accuracy of the same network. Then consm-bench, from consm's folder, measures the same models.
"""
import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
import torch.nn.functional as F
from torch_geometric import nn as gnn


class Net(torch.nn.Module):
    def __init__(self, model, features, classes):
        super().__init__()
        self.model = model
        if model == "gcn":
            self.a, self.b = gnn.GCNConv(features, 64, cached=True), gnn.GCNConv(64, classes, cached=True)
        elif model == "gat":
            self.a = gnn.GATConv(features, 8, heads=8, dropout=0.5, add_self_loops=False)
            self.b = gnn.GATConv(64, classes, heads=1, dropout=0.5, add_self_loops=False)
        else:
            self.a, self.b = torch.nn.Linear(features, 64), torch.nn.Linear(64, classes)
            self.spread = gnn.APPNP(10, 0.1, cached=True)

    def forward(self, x, edges):
        drop = lambda v: F.dropout(v, 0.5, self.training)
        if self.model == "appnp":
            return self.spread(self.b(drop(F.relu(self.a(x)))), edges)
        act = F.elu if self.model == "gat" else F.relu
        return self.b(drop(act(self.a(x, edges))), edges)


def load(consm, name):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        subprocess.run([consm, "convert", name, path], check=True, stdout=subprocess.DEVNULL)
        data = numpy.load(path)
        x = torch.tensor(data["node_features"], dtype=torch.float32)
        y = torch.tensor(data["node_labels"], dtype=torch.long)
        pairs = torch.tensor(data["edges"], dtype=torch.long).t()
    pairs = torch.cat([pairs, pairs.flip(0)], 1)
    return x.cuda(), y.cuda(), torch.unique(pairs[:, pairs[0] != pairs[1]], dim=1).cuda()


def measure(step, count):
    each = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        each.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return 1e3 * statistics.median(each), 1e3 * (time.perf_counter() - begin) / count


def run(model, x, y, edges, kind, steps):
    torch.manual_seed(0)
    graphed = kind == "graph"
    if model == "gat":
        loops = torch.arange(len(y), device="cuda")
        edges = torch.cat([edges, torch.stack([loops, loops])], 1)
    classes = int(y.max()) + 1
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0)).cuda()
    train = torch.cat([order[y[order] == c][:20] for c in range(classes)])
    rest = torch.ones(len(y), dtype=torch.bool, device="cuda")
    rest[train] = False
    net = Net(model, x.shape[1], classes).cuda()
    adam = torch.optim.Adam(net.parameters(), lr=0.005, weight_decay=5e-4, capturable=graphed)
    if model != "gat":
        net(x, edges)  # GCN's and APPNP's matrix is made once
    called = torch.compile(net, mode="reduce-overhead") if kind == "compile" else net

    def step():
        adam.zero_grad(set_to_none=not graphed)
        F.cross_entropy(called(x, edges)[train], y[train]).backward()
        adam.step()

    net.train()
    if graphed:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        timed = graph.replay
    else:
        timed = step
    for _ in range(20):
        timed()
    median, mean = measure(timed, steps)
    net.eval()
    with torch.no_grad():
        right = (net(x, edges).argmax(1) == y)[rest].float().mean().item()
    return median, mean, right


def finish(case, seconds):
    """Runs a process to its end; None when that takes longer. Compilers that it started, which would
    hold its output open, end with it."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(case, stdout=out, stderr=err, start_new_session=True)
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return None
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(case, code, out.read(), err.read())


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--consm", default="build/release/consm")
    ask.add_argument("--sets", default="cora")
    ask.add_argument("--models", default="gcn,gat,appnp")
    ask.add_argument("--kinds", default="eager,graph,compile")
    ask.add_argument("--steps", type=int, default=500)
    ask.add_argument("--seconds", type=int, default=300, help="of one process")
    ask.add_argument("--compiled", default="gcn", help="models of kind compile")
    ask.add_argument("--compile-seconds", type=int, default=90, help="of one such process, compiling included")
    ask.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    how = ask.parse_args()
    if how.case:  # this process runs one case
        name, models, kind = how.case
        data = load(how.consm, name)
        for model in models.split(","):
            median, mean, right = run(model, *data, kind, how.steps)
            print(f"{model}: median {median:.4f} ms, mean {mean:.4f} ms, test {100 * right:.2f} %", flush=True)
        return
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    for name in how.sets.split(";"):
        for kind in how.kinds.split(","):
            wanted = how.compiled if kind == "compile" else how.models
            seconds = how.compile_seconds if kind == "compile" else how.seconds
            # after a failed capture the process cannot be used: one process per model
            for models in [wanted] if kind == "eager" else wanted.split(","):
                case = [sys.executable, __file__, "--consm", how.consm, "--steps", str(how.steps),
                        "--case", name, models, kind]
                done = finish(case, seconds)
                if done is None:
                    print(f"{name:10} PyG {kind:7} {models} not finished after {seconds} s", flush=True)
                    continue
                for line in done.stdout.splitlines():
                    print(f"{name:10} PyG {kind:7} {line}", flush=True)
                if done.returncode != 0:
                    print(f"{name:10} PyG {kind:7} {models} fails: {done.stderr.strip().splitlines()[-1][:120]}", flush=True)
        bench = os.path.join(os.path.dirname(how.consm), "consm-bench")
        done = subprocess.run([bench, "--device", "cuda", "--threads", "1", "--sets", name], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            word = line.split()
            if len(word) == 7 and word[1] in how.models.split(","):
                print(f"{name:10} consm       {word[1]}: mean {word[3]} ms, test {word[6]} %", flush=True)


main()
