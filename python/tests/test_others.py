"""Integration with networkx's backends and PyTorch Geometric."""
from __future__ import annotations

import types

import numpy as np
import pytest

import consm


def named_graph(world):
    nx = pytest.importorskip("networkx", minversion="3.2")
    g = nx.Graph()
    g.add_nodes_from(world.ids)
    g.add_edges_from(zip(world.ids[world.source], world.ids[world.target]))
    for i in np.flatnonzero(world.known):
        g.nodes[world.ids[i]]["label"] = "yes" if world.truth[i] else "no"
    return nx, g


def test_networkx_calls_the_backend(world):
    nx, g = named_graph(world)
    from networkx.algorithms import node_classification
    if "consm" not in nx.utils.backends.backends:
        pytest.skip("the package is not installed, only on the path: networkx cannot see its entry points")
    for function in (node_classification.harmonic_function, node_classification.local_and_global_consistency):
        labels = function(g, backend="consm", method="gcn", epochs=40)
        right = np.array(labels) == np.array(["no", "yes"])[world.truth]
        assert len(labels) == world.n and right.mean() > 0.75
        assert right[world.known].all()  # known labels stay
        with pytest.raises(nx.NetworkXError, match="No node on the input graph is labeled"):
            function(g, label_name="nothing", backend="consm")
    pytest.importorskip("scipy")  # networkx needs it
    plain = node_classification.harmonic_function(g)
    assert len(plain) == world.n  # without backend=: networkx's own function


def test_networkx_backend_by_itself(world):
    nx, g = named_graph(world)
    from consm import _networkx
    labels = _networkx.backend.harmonic_function(_networkx.backend.convert_from_nx(g), method="gcn", epochs=40)
    assert len(labels) == world.n and set(labels) == {"yes", "no"}
    assert _networkx.info()["backend_name"] == "consm"
    assert _networkx.backend.should_run("harmonic_function", (), {}) is not True


def data_of(world):
    rng = np.random.default_rng(1)
    loops = np.arange(5)
    edges = np.concatenate([np.stack([world.source, world.target]), np.stack([world.target, world.source]),
                            np.stack([loops, loops])], axis=1)
    test = rng.random(world.n) < 0.5
    return types.SimpleNamespace(edge_index=edges, x=world.x, y=world.truth, num_nodes=world.n,
                                 train_mask=~test & (np.arange(world.n) % 3 > 0), val_mask=~test & (np.arange(world.n) % 3 == 0),
                                 test_mask=test)


def test_trust_for_every_column_of_edge_index(world):
    from consm import pyg
    data = data_of(world)
    trust, kept = pyg.edge_trust(data, method="gcn", epochs=40)
    m = len(world.source)
    assert (trust[:m] == trust[m:2 * m]).all() and (trust[-5:] == 1).all() and kept[-5:].all()
    same = world.truth[data.edge_index[0]] == world.truth[data.edge_index[1]]
    assert trust[same].mean() > trust[~same].mean()
    # Labels of test nodes are not looked at.
    data.y = np.where(data.test_mask, 1 - world.truth, world.truth)
    assert (pyg.edge_trust(data, method="gcn", epochs=40)[0] == trust).all()
    with pytest.raises(consm.ConsmValueError, match="train_mask"):
        pyg.edge_trust(types.SimpleNamespace(edge_index=data.edge_index, x=world.x, num_nodes=world.n))


def test_transform(world):
    torch = pytest.importorskip("torch")
    pyg_data = pytest.importorskip("torch_geometric.data")
    from consm.pyg import transform
    plain = data_of(world)
    data = pyg_data.Data(x=torch.tensor(plain.x, dtype=torch.float32), y=torch.tensor(plain.y),
                         edge_index=torch.tensor(plain.edge_index), edge_attr=torch.arange(plain.edge_index.shape[1]),
                         **{k: torch.tensor(getattr(plain, k)) for k in ("train_mask", "val_mask", "test_mask")})
    weighed = transform(method="gcn", epochs=40)(data)
    assert weighed.edge_weight.shape == (plain.edge_index.shape[1],) and data.edge_weight is None
    dropped = transform(drop=True, method="gcn", epochs=40)(data)
    kept = dropped.edge_index.shape[1]
    assert 0 < kept < plain.edge_index.shape[1] and len(dropped.edge_attr) == kept
    g = consm.Graph.from_pyg(data)
    assert (g.edge_index == plain.edge_index).all() and (g.train_mask == plain.train_mask).all()
