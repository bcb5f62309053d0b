"""Explanations of a node's prediction."""
from __future__ import annotations

from ctypes import POINTER, byref, c_void_p, cast
from typing import Any, Callable, NamedTuple, Optional

from . import _lib, _run, _structs
from ._arrays import Array
from ._errors import ConsmValueError

SHOWN = 5  # rows of each kind that people see

# What the library tells of each kind, by the names of the columns here.
_VALUES = {
    "edge": {"weight": "edge_weight", "trust": "edge_trust"},
    "neighbour": {"label": "neighbour_label", "said": "neighbour_said", "probability": "neighbour_probability",
                  "weight": "neighbour_weight", "trust": "neighbour_trust"},
    "feature": {"value": "feature_value", "low": "feature_low", "high": "feature_high", "mean": "feature_mean"},
}


class Explanation(NamedTuple):
    """The evidence for and against a node's label, found by removing one item at a time.

    An effect is the label's probability minus its probability without the item: positive if the item supports
    the label. Effects in log-odds tell items apart where the probability is almost 1: 0.69 means that the odds
    halve without the item. Every list starts with the largest absolute change of the log-odds.

    Attributes
    ----------
    node, label, probability
        The node, the explained label, and its probability.
    edges : list of (source, target, effect)
        Effect of removing the edge.
    neighbours : list of (node, effect)
        Effect of removing all edges of the neighbour.
    features : list of (name, effect)
        Effect of hiding the feature on all nodes that the model reads.
    in_reach : (int, int, int)
        How many edges, neighbours and features could be tried without the limit.
    log_odds : float
        Of the label.
    rows : list of dict
        All items with kind, name, effect, log_odds and their values. A feature has value, mean, low and high
        (90 % of the nodes are between them). A neighbour has its label (None: unknown), its predicted class
        (said) and its probability of the explained label. Edges have weight and trust.
    """
    node: Any
    label: Any
    probability: float
    edges: list[tuple[Any, Any, float]]
    neighbours: list[tuple[Any, float]]
    features: list[tuple[str, float]]
    in_reach: tuple[int, int, int]
    log_odds: float
    rows: list[dict[str, Any]]

    def to_frame(self) -> Any:
        """The rows as a DataFrame."""
        import pandas as pd
        return pd.DataFrame(self.rows)

    def main(self, kind: str) -> str:
        """The strongest evidence for the label among the edges, neighbours or features; "" if there is none."""
        best = next((row for row in self.rows if row["kind"] == kind and row["log_odds"] > 0), None)
        return "" if best is None else f"{best['name']} ({best['log_odds']:+.2f})"

    def __str__(self) -> str:
        lines = [f"{self.node}: {self.label} with probability {self.probability:.3f} (log-odds {self.log_odds:+.2f})"]
        for kind in _VALUES:
            for row in [r for r in self.rows if r["kind"] == kind][:SHOWN]:
                lines.append(f"  {kind:<10} {row['log_odds']:+8.3f}  {row['name']}{_behind(row)}")
        return "\n".join(lines)


def _behind(row: dict[str, Any]) -> str:
    """The values behind an effect, in a few words."""
    if row["kind"] == "feature":
        return f"  {row['value']:.4g} (usually {row['low']:.4g} to {row['high']:.4g})"
    if row["kind"] == "neighbour":
        known = f"label {row['label']}" if row["label"] is not None else f"predicted {row['said']}"
        return f"  {known}, trust {row['trust']:.2f}"
    return f"  weight {row['weight']:.4g}, trust {row['trust']:.2f}"


def explain(model: _lib.Handle, predictor: _lib.Handle, ids_of: Callable[[Any], Array], place: int,
            label: Optional[int], limit: int, classes: Array) -> Explanation:
    if not isinstance(limit, int) or limit < 1:
        raise ConsmValueError(f"limit is {limit!r}: expected a whole number >= 1")
    progress = _run.Progress()
    options = _structs.ExplainOptions(limit=limit, of_label=label is not None, label=label or 0)
    options.progress = cast(progress.callback, c_void_p)
    made = _lib.Handle(_lib.lib.consm_explanation_free, POINTER(_structs.ExplanationStruct))
    _run.run(_lib.lib.consm_predictor_explain, _lib.Out(made), predictor, place, byref(options), progress=progress)
    e = made.pointer.contents
    buffer = _lib.buffer()
    named = [_plain(v) for v in classes.tolist()]

    def column(name: str, count: int) -> list[Any]:
        pointer = getattr(e, name)
        return _lib.copied(pointer, (count,)).tolist() if pointer else [None] * count

    def table(kind: str, count: int, names: list[Any]) -> list[dict[str, Any]]:
        columns = {"name": names, "effect": column(f"{kind}_effect", count), "log_odds": column(f"{kind}_log_odds", count)}
        columns.update({ours: column(theirs, count) for ours, theirs in _VALUES[kind].items()})
        for of in ("label", "said"):
            if of in columns:
                columns[of] = [None if v is None or v < 0 else named[v] for v in columns[of]]
        return [{"kind": kind, **dict(zip(columns, row))} for row in zip(*columns.values())]

    count = {"edge": int(e.edges), "neighbour": int(e.neighbours), "feature": int(e.features)}
    sources, targets = (ids_of(column(name, count["edge"])) for name in ("edge_from", "edge_to"))
    ends = [(_plain(a), _plain(b)) for a, b in zip(sources, targets)]
    nodes = [_plain(a) for a in ids_of(column("neighbour", count["neighbour"]))]
    features = [_lib.decode(_lib.lib.consm_model_feature(model.pointer, k, buffer))
                for k in column("feature", count["feature"])]
    edge_rows = table("edge", count["edge"], [f"{a} – {b}" for a, b in ends])
    node_rows = table("neighbour", count["neighbour"], nodes)
    feature_rows = table("feature", count["feature"], features)
    return Explanation(
        _plain(ids_of([place])[0]), named[e.label], float(e.probability),
        [(a, b, row["effect"]) for (a, b), row in zip(ends, edge_rows)],
        [(row["name"], row["effect"]) for row in node_rows],
        [(row["name"], row["effect"]) for row in feature_rows],
        (int(e.edges_in_reach), int(e.neighbours_in_reach), int(e.features_in_reach)),
        float(e.log_odds), edge_rows + node_rows + feature_rows)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
