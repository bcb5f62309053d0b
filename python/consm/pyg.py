"""For models of PyTorch Geometric: adds trust as edge weights, or drops distrusted edges.

    from consm.pyg import transform
    data = transform(random_state=0)(data)          # data.edge_weight is each edge's trust
    data = transform(drop=True)(data)               # without the edges that are not trusted

Your own model does not change. Only labels of train_mask and val_mask are read.
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from ._arrays import Array
from ._errors import ConsmValueError
from ._graph import Graph
from ._model import GraphClassifier


def edge_trust(data: Any, model: Optional[GraphClassifier] = None, **parameters: Any) -> tuple[Array, Array]:
    """Returns (trust, kept), one per column of data.edge_index. Self-loops are trusted. Without a fitted model, one
    is trained, by default ConSM."""
    graph = Graph.from_pyg(data)
    if model is None:
        if graph.y is None or graph.train_mask is None:
            raise ConsmValueError("data lacks y or train_mask: expected both, or a fitted model")
        known = graph.train_mask if graph.val_mask is None else graph.train_mask | graph.val_mask
        y = np.where(known, graph.y, -1)
        model = GraphClassifier(parameters.pop("method", "consm"), **parameters)
        model.fit(graph, y, train_mask=graph.train_mask, val_mask=graph.val_mask)
    scores = model.edge_trust(graph)
    n = graph.n_nodes
    left, right = np.asarray(scores["source"]), np.asarray(scores["target"])
    keys = left.astype(np.int64) * n + right
    order = np.argsort(keys)
    ends = graph.edge_index
    low, high = np.minimum(ends[0], ends[1]).astype(np.int64), np.maximum(ends[0], ends[1]).astype(np.int64)
    trust, kept = np.ones(len(low), np.float32), np.ones(len(low), bool)
    plain = low != high
    place = order[np.searchsorted(keys, (low * n + high)[plain], sorter=order)]
    trust[plain] = np.asarray(scores["trust"])[place]
    kept[plain] = np.asarray(scores["kept"])[place]
    return trust, kept


def transform(model: Optional[GraphClassifier] = None, *, drop: bool = False,
              **parameters: Any) -> Callable[[Any], Any]:
    """Makes a transform for torch_geometric, also for a Compose. drop False: adds trust as edge_weight, or multiplies
    an existing edge_weight by it. drop True: removes the edges that are not kept, with their attributes. parameters
    are those of GraphClassifier."""
    def apply(data: Any) -> Any:
        import torch
        trust, kept = edge_trust(data, model, **dict(parameters))
        out = data.clone() if hasattr(data, "clone") else data
        if not drop:
            weight = torch.from_numpy(trust).to(data.edge_index.device)
            before = getattr(data, "edge_weight", None)
            out.edge_weight = weight if before is None else before * weight
            return out
        chosen = torch.from_numpy(kept).to(data.edge_index.device)
        for key in ("edge_attr", "edge_weight", "edge_type"):
            value = getattr(data, key, None)
            if value is not None:
                setattr(out, key, value[chosen])
        out.edge_index = data.edge_index[:, chosen]
        return out
    return apply
