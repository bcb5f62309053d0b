#!/usr/bin/env python3
"""consm and PyTorch Geometric, both from Python: the time from arrays in memory to predictions on Cora.

usage: bench/pyg_python.py [--runs 5] [--data NAME]      needs consm, torch and torch_geometric installed

Both train the same two-layer GCN (16 hidden, 200 epochs, validation after each), each time in a fresh process. The clock
starts when the arrays are in memory and only NumPy is imported. It stops when the predictions are NumPy arrays. So the
time includes the import of the package. Runs alternate; the result is the median.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PREPARE = """
import sys, numpy as np, consm
g = consm.fetch(sys.argv[2]) if not sys.argv[3] else consm.load(sys.argv[2])
x = g.x
x = x.toarray() if hasattr(x, "toarray") else x
names, y = np.unique(g.y, return_inverse=True)
masks = [m for m in (g.train_mask, g.val_mask, g.test_mask)]
if masks[0] is None:
    raise SystemExit("the data has no split of its own")
np.savez(sys.argv[1], edges=g.edge_index, x=np.asarray(x, np.float32), y=y, masks=np.array(masks))
"""

HEAD = """
import json, os, sys, time
import numpy as np
held = np.load(sys.argv[1])
edges, x, y, masks = (held[k] for k in ("edges", "x", "y", "masks"))
train, val, test = masks.astype(bool)
start, cpu = time.perf_counter(), time.process_time()
"""

OURS = HEAD + """
import consm
imported = time.perf_counter()
g = consm.Graph.from_arrays(edges, x)
model = consm.GCNClassifier(random_state=0, hidden=16, epochs=200, patience=200, dropout=0.5, lr=0.01,
                            progress=False)
model.fit(g, y, train_mask=train, val_mask=val)
guess = model.predict(g)
"""

THEIRS = HEAD + """
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv
imported = time.perf_counter()

class Net(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.one, self.two = GCNConv(features, 16, cached=True), GCNConv(16, classes, cached=True)

    def forward(self, x, edges):
        x = F.dropout(x, 0.5, self.training)
        x = F.dropout(F.relu(self.one(x, edges)), 0.5, self.training)
        return self.two(x, edges)

torch.manual_seed(0)
X, E, Y = torch.from_numpy(x), torch.from_numpy(edges.astype(np.int64)), torch.from_numpy(y)
if not (E[0] > E[1]).any() or not (E[0] < E[1]).any() or E.shape[1] % 2:
    E = torch.cat([E, E.flip(0)], 1)
tr, va = torch.from_numpy(train), torch.from_numpy(val)
net = Net(x.shape[1], int(y.max()) + 1)
adam = torch.optim.Adam([{"params": net.one.parameters(), "weight_decay": 5e-4},
                         {"params": net.two.parameters(), "weight_decay": 0.0}], lr=0.01)
best, kept = -1.0, None
for epoch in range(200):
    net.train()
    adam.zero_grad()
    F.cross_entropy(net(X, E)[tr], Y[tr]).backward()
    adam.step()
    net.eval()
    with torch.no_grad():
        now = net(X, E).argmax(1)
        right = float((now[va] == Y[va]).float().mean())
        if right > best:
            best, kept = right, now
guess = kept.numpy()
"""

TAIL = """
end = time.perf_counter()
print(json.dumps({"seconds": end - start, "import": imported - start, "cpu": time.process_time() - cpu,
                  "accuracy": float((guess[test] == y[test]).mean())}))
"""


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--runs", type=int, default=5)
    flags.add_argument("--data", default="cora")
    args = flags.parse_args()
    found: dict[str, list[dict[str, float]]] = {"consm": [], "PyG": []}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arrays.npz")
        subprocess.run([sys.executable, "-c", PREPARE, path, args.data, os.environ.get("CONSM_DATA", "")], check=True)
        for _ in range(args.runs):
            for name, code in (("consm", OURS), ("PyG", THEIRS)):
                done = subprocess.run([sys.executable, "-c", code + TAIL, path], check=True, capture_output=True, text=True)
                found[name].append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{args.data}, medians of {args.runs} cold processes, seconds\n")
    print(f"{'':6} {'arrays to predictions':>22} {'of it import':>13} {'processor':>10} {'test accuracy':>14}")
    middle = {n: {k: statistics.median(r[k] for r in runs) for k in runs[0]} for n, runs in found.items()}
    for name, m in middle.items():
        print(f"{name:6} {m['seconds']:22.3f} {m['import']:13.3f} {m['cpu']:10.2f} {m['accuracy']:14.3f}")
    ratio = middle["PyG"]["seconds"] / middle["consm"]["seconds"]
    bare = (middle["PyG"]["seconds"] - middle["PyG"]["import"]) / (middle["consm"]["seconds"] - middle["consm"]["import"])
    print(f"\nPyG takes {ratio:.1f} times as long; without the imports {bare:.1f} times")


main()
