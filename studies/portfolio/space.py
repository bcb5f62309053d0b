"""The configurations that a portfolio may contain: known good ones first, then draws from a space, then
(from number 300 on) those that were thought of later.

A draw depends only on its number, so that a list can grow without changing its earlier entries.
"""
from __future__ import annotations

import random

Config = dict[str, object]


def _known() -> list[Config]:
    """Plain settings of every model, those of papers, and what earlier lists held."""
    out: list[Config] = []

    def add(method: str, **values: object) -> None:
        out.append({"method": method, "normalize_features": "none", **values})

    # plain settings
    add("gcn"); add("mlp"); add("gat"); add("appnp"); add("gcnii"); add("h2gcn"); add("fagcn")
    add("gin"); add("dropedge"); add("grand")
    # the list of ten, and the eight for rare classes, that this study replaced
    add("gcn", lr=0.05, dropout=0.8, input_dropout=0.5)
    add("gcn", normalize_features="row", lr=0.01, input_dropout=0.5)
    add("appnp", normalize_features="row", lr=0.01, dropout=0.8, input_dropout=0.8)
    add("h2gcn", normalize_features="row", lr=0.1, weight_decay=2e-3, dropout=0.3, reach=1, layers=1)
    add("gcnii", lr=0.005)
    add("gat", lr=0.02, dropout=0.4, attention_dropout=0.6)
    add("gcn", lr=0.005, hidden=256, norm="layer")
    add("dropedge", lr=0.05, dropout=0.8)
    add("grand", normalize_features="row", lr=0.03, input_dropout=0.5, hops=8, hidden=32)
    add("gcn", lr=0.005, weight_decay=5e-3, dropout=0.8)
    add("gcn", lr=0.03, weight_decay=0, dropout=0)
    add("gat", lr=0.02, weight_decay=5e-5, dropout=0.2, attention_dropout=0.2)
    add("h2gcn", lr=0.03, weight_decay=0, dropout=0)
    add("mlp", lr=0.03, weight_decay=0, dropout=0)
    add("mlp", lr=0.01)
    add("gat", attention_dropout=0.6, dropout=0.6)
    add("gin", lr=0.03, weight_decay=0, dropout=0)
    # GRAND's authors: Cora, Citeseer, Pubmed (Feng et al. 2020, their repository's settings)
    add("grand", normalize_features="row", lr=0.01, hops=8, hidden=32, dropout=0.5, input_dropout=0.5,
        samples=4, consistency=1.0, sharpening=0.5, node_dropout=0.5)
    add("grand", normalize_features="row", lr=0.01, hops=2, hidden=32, dropout=0.2, input_dropout=0.0,
        samples=2, consistency=0.7, sharpening=0.3, node_dropout=0.5)
    add("grand", normalize_features="row", lr=0.2, hops=5, hidden=32, dropout=0.8, input_dropout=0.6,
        samples=4, consistency=1.0, sharpening=0.2, node_dropout=0.5, norm="batch")
    # deep and wide with residual connections and layer norm (Luo et al. 2024)
    add("gcn", layers=5, hidden=256, residual="yes", norm="layer", lr=0.003, dropout=0.2)
    add("gcn", layers=8, hidden=128, residual="yes", norm="batch", lr=0.01, dropout=0.2, weight_decay=0)
    add("gcn", layers=12, hidden=64, residual="yes", norm="layer", lr=0.01, dropout=0.2, weight_decay=0)
    add("gcn", layers=4, hidden=512, residual="yes", norm="batch", lr=0.005, dropout=0.5)
    add("gat", layers=5, hidden=128, residual="yes", norm="layer", lr=0.003, dropout=0.2, attention_dropout=0.0,
        weight_decay=0)
    add("gat", layers=8, hidden=64, residual="yes", norm="batch", lr=0.005, dropout=0.2, attention_dropout=0.0)
    add("gcn", layers=3, hidden=512, norm="layer", lr=0.001, dropout=0.7, residual="yes")
    add("gcn", layers=2, hidden=256, residual="yes", lr=0.01, dropout=0.5, normalize_features="row")
    add("gcnii", layers=16, hidden=64, lr=0.01, alpha=0.1, theta=0.5, dropout=0.6)
    add("gcnii", layers=32, hidden=128, lr=0.01, alpha=0.2, theta=0.6, dropout=0.7, normalize_features="row")
    add("appnp", lr=0.01, hops=10, alpha=0.1, dropout=0.5, weight_decay=5e-3, normalize_features="row")
    add("mlp", hidden=256, lr=0.01, dropout=0.7, weight_decay=1e-3, normalize_features="row")
    add("mlp", hidden=512, layers=3, lr=0.003, dropout=0.5, weight_decay=1e-4, normalize_features="standard")
    add("h2gcn", lr=0.01, weight_decay=5e-4, dropout=0.5, hidden=128, normalize_features="row")
    add("fagcn", lr=0.01, eps=0.3, dropout=0.5, layers=4, normalize_features="row")
    return out


def _draw(number: int) -> Config:
    r = random.Random(f"consm portfolio {number}")
    method = r.choice(["gcn"] * 5 + ["gat"] * 2 + ["appnp"] * 2 + ["gcnii"] * 2 + ["h2gcn"] * 4 + ["fagcn"] * 2
                      + ["grand"] * 2 + ["mlp"] * 2 + ["gin"] * 2 + ["dropedge"])
    c: Config = {"method": method}
    c["lr"] = r.choice([0.001, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05])
    c["weight_decay"] = r.choice([0, 5e-5, 5e-4, 5e-4, 2e-3, 5e-3, 1e-2])
    c["dropout"] = r.choice([0, 0.2, 0.3, 0.5, 0.5, 0.7, 0.8])
    c["input_dropout"] = r.choice([0, 0, 0.3, 0.5, 0.8])
    c["normalize_features"] = r.choice(["none", "none", "row", "row", "standard"])
    c["hidden"] = r.choice([32, 64, 64, 128, 256, 512] if method in ("gcn", "mlp", "h2gcn", "dropedge")
                           else [32, 64, 64, 128, 256])
    if method in ("gcn", "gat"):
        deep = r.random() < 0.45
        c["layers"] = r.choice([3, 4, 5, 6, 8] if deep else [1, 2, 2, 2, 3])
        c["residual"] = "yes" if deep or r.random() < 0.3 else "no"
        c["norm"] = r.choice(["batch", "layer"] if deep else ["none", "none", "batch", "layer"])
        if deep:
            c["hidden"] = r.choice([64, 128] if c["layers"] > 4 else [64, 128, 256])
    if method == "gat":
        c["attention_dropout"] = r.choice([0, 0.3, 0.6])
        c["hidden"] = r.choice([64, 128])
    if method == "mlp":
        c["layers"] = r.choice([1, 2, 2, 3])
    if method == "gin":
        c["norm"] = r.choice(["none", "batch"])
    if method == "dropedge":
        c["edge_dropout"] = r.choice([0.2, 0.5, 0.7])
        c["layers"] = r.choice([2, 2, 3])
    if method == "appnp":
        c["hops"] = r.choice([2, 5, 10, 20])
        c["alpha"] = r.choice([0.05, 0.1, 0.2, 0.5])
    if method == "gcnii":
        c["layers"] = r.choice([2, 4, 8, 16, 32])
        c["alpha"] = r.choice([0.1, 0.2, 0.5])
        c["theta"] = r.choice([0.5, 1.0, 1.5])
        c["hidden"] = r.choice([64, 128])
    if method == "h2gcn":
        c["layers"] = r.choice([1, 1, 2, 3])
        c["reach"] = r.choice([1, 1, 2])
    if method == "fagcn":
        c["eps"] = r.choice([0.1, 0.2, 0.3, 0.5])
        c["layers"] = r.choice([2, 3, 4, 6])
    if method == "grand":
        c["hops"] = r.choice([1, 2, 4, 8])
        c["samples"] = r.choice([2, 4])
        c["consistency"] = r.choice([0.5, 0.7, 1.0])
        c["sharpening"] = r.choice([0.2, 0.3, 0.5])
        c["norm"] = r.choice(["none", "none", "batch"])
        c["hidden"] = r.choice([32, 64, 128])
        c["input_dropout"] = r.choice([0, 0.3, 0.5, 0.6])
    return c


DRAWN = 300  # configurations before the later ones


def _later() -> list[Config]:
    """GRAND with the batch norm of its authors (a factor for every feature), and columns of deviation 1."""
    gate: Config = {"method": "grand", "normalize_features": "scale", "feature_gate": "yes", "hidden": 32}
    scaled: Config = {"normalize_features": "scale"}
    return [
        # as GRAND's authors for Pubmed
        {**gate, "norm": "batch", "lr": 0.2, "hops": 5, "dropout": 0.8, "input_dropout": 0.6, "sharpening": 0.2},
        {**gate, "norm": "batch", "lr": 0.05, "hops": 5, "dropout": 0.8, "input_dropout": 0.6, "sharpening": 0.2},
        {**gate, "norm": "batch", "lr": 0.05, "hops": 2, "dropout": 0.5, "input_dropout": 0.3, "sharpening": 0.3,
         "samples": 2},
        {**gate, "norm": "batch", "lr": 0.1, "hops": 8, "dropout": 0.5, "input_dropout": 0.5},
        {**gate, "lr": 0.05, "hops": 4, "dropout": 0.5, "input_dropout": 0.6, "sharpening": 0.3, "samples": 2},
        {**gate, "lr": 0.01, "hops": 8, "dropout": 0.5, "input_dropout": 0.5},
        {**gate, "normalize_features": "row", "lr": 0.05, "hops": 4, "dropout": 0.5, "input_dropout": 0.6,
         "sharpening": 0.3, "samples": 2},
        {**gate, "norm": "batch", "lr": 0.2, "hops": 5, "dropout": 0.8, "input_dropout": 0.6, "sharpening": 0.2,
         "hidden": 64, "samples": 2, "weight_decay": 0.002},
        {"method": "grand", **scaled, "lr": 0.01, "hops": 4, "dropout": 0.5, "input_dropout": 0.5, "samples": 2},
        {"method": "gcn", **scaled, "lr": 0.01, "input_dropout": 0.5},
        {"method": "appnp", **scaled, "lr": 0.01, "dropout": 0.8, "input_dropout": 0.5},
        {"method": "h2gcn", **scaled, "lr": 0.02, "dropout": 0.5, "input_dropout": 0.5, "reach": 1, "layers": 1},
        {"method": "h2gcn", **scaled, "lr": 0.02, "weight_decay": 0.002, "dropout": 0.8, "input_dropout": 0.5,
         "layers": 2},
        {"method": "mlp", **scaled, "hidden": 256, "lr": 0.01, "dropout": 0.7, "input_dropout": 0.5},
        {"method": "fagcn", **scaled, "lr": 0.01, "eps": 0.3, "dropout": 0.5, "input_dropout": 0.5, "layers": 4},
        {"method": "gat", **scaled, "lr": 0.01, "dropout": 0.5, "input_dropout": 0.5, "attention_dropout": 0.3},
    ]


def configurations(count: int) -> list[Config]:
    known, later = _known(), _later()
    drawn = known + [_draw(i) for i in range(max(0, min(count, DRAWN) - len(known)))]
    return drawn[:count] + later[:max(0, count - DRAWN)]
