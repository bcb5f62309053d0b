#!/usr/bin/env python3
"""Writes tests/data/formats: one small graph as networkx, SciPy and NumPy themselves save it, and the seeds of
fuzz_graphs, whose first byte says the format. It was run with networkx 3.6.1, SciPy 1.17.1, NumPy 2.4.6:

    python3 tests/data/make_formats.py
"""
import gzip
import json
import os
import pathlib

import networkx as nx
import numpy as np
import scipy.sparse as sp

here = pathlib.Path(__file__).resolve().parent
out = here / "formats"
seeds = here.parent / "fuzz" / "corpus" / "graphs"
out.mkdir(exist_ok=True)
seeds.mkdir(exist_ok=True)
os.chdir(out)

g = nx.Graph()
g.add_node("Ann & Bo", club="chess", age=31, vip=True)
g.add_node("Zoë", club="choir", age=44, vip=False)
g.add_node("<c>", club="chess", vip=False)
g.add_node("d", age=58, vip=True)
g.add_edge("Ann & Bo", "Zoë", weight=0.5)
g.add_edge("Zoë", "<c>", weight=2.0)
g.add_edge("<c>", "d", weight=1.0)

nx.write_graphml_xml(g, "g.graphml")
nx.write_gexf(g, "g.gexf")
nx.write_gml(g, "g.gml")
pathlib.Path("g.json").write_text(json.dumps(nx.node_link_data(g)), encoding="utf-8")
pathlib.Path("links.json").write_text(json.dumps(nx.node_link_data(g, edges="links")), encoding="utf-8")
nx.write_pajek(g, "g.net")
plain = nx.convert_node_labels_to_integers(g)
nx.write_adjlist(nx.Graph(plain.edges), "g.adjlist")
nx.write_edgelist(nx.Graph(plain.edges), "g.edgelist")

a = nx.to_scipy_sparse_array(plain, weight="weight", format="csr")
for kind in ("csr", "csc", "coo", "bsr"):
    sp.save_npz(f"{kind}.npz", sp.csr_matrix(a).asformat(kind))
sp.save_npz("array.npz", a)
x = np.array([[31, 1], [44, 0], [40, 0], [58, 1]], np.float32)
y = np.array([0, 1, 0, -1])
edge_index = np.array([[0, 1, 2], [1, 2, 3]])
np.savez("pyg.npz", edge_index=edge_index, x=x, y=y, train_mask=np.array([1, 1, 0, 0], bool),
         test_mask=np.array([0, 0, 1, 0], bool), edge_weight=np.array([0.5, 2, 1]))
np.savez("objects.npz", adj=sp.csr_matrix(a), features=sp.csr_matrix(x), labels=y)
np.savez_compressed("matrix.npz", A=np.asarray(a.todense()), X=x, y=y[:, None])

for name in sorted(p.name for p in out.iterdir() if not p.name.endswith((".gz", ".zst"))):
    data = (out / name).read_bytes()
    if not name.endswith(".npz"):
        with gzip.GzipFile(out / (name + ".gz"), "wb", mtime=0) as packed:
            packed.write(data)
formats = ["graphml", "gexf", "gml", "json", "net", "adjlist"]
for number, suffix in enumerate(formats):
    (seeds / suffix).write_bytes(bytes([number]) + (out / f"g.{suffix}").read_bytes())
(seeds / "gzip").write_bytes(bytes([6]) + (out / "g.gml.gz").read_bytes())
