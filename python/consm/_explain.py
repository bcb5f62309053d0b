"""What a node's label hangs on, for people and programs."""
from __future__ import annotations

from ctypes import POINTER, byref, c_void_p, cast
from typing import Any, NamedTuple, Optional

from . import _lib, _run, _structs
from ._arrays import Array
from ._errors import ConsmValueError


class Explanation(NamedTuple):
    """An effect is the label's probability less its probability without the thing: positive where it
    speaks for the label. Every list begins with the largest change.

    node, label, probability
    edges        [(source, target, effect)]   without that edge
    neighbours   [(node, effect)]             without any of the neighbour's edges
    features     [(name, effect)]             without the feature, on all nodes the model reads
    in_reach     how many edges, neighbours and features could have been tried
    """
    node: Any
    label: Any
    probability: float
    edges: list[tuple[Any, Any, float]]
    neighbours: list[tuple[Any, float]]
    features: list[tuple[str, float]]
    in_reach: tuple[int, int, int]

    def __str__(self) -> str:
        lines = [f"{self.node}: {self.label} with probability {self.probability:.3f}"]
        for title, rows in (("edges", [(f"{a} – {b}", e) for a, b, e in self.edges]),
                            ("neighbours", self.neighbours), ("features", self.features)):
            for name, effect in rows[:5]:
                lines.append(f"  {title:<10} {effect:+.4f}  {name}")
        return "\n".join(lines)


def explain(model: _lib.Handle, graph: Any, data: _lib.Handle, place: int, label: Optional[int], limit: int,
            threads: int, classes: Array) -> Explanation:
    if not isinstance(limit, int) or limit < 1:
        raise ConsmValueError(f"limit is {limit!r}: expected a whole number from 1 on")
    progress = _run.Progress()
    options = _structs.ExplainOptions(limit=limit, of_label=label is not None, label=label or 0, threads=threads)
    options.progress = cast(progress.callback, c_void_p)
    made = _lib.Handle(_lib.lib.consm_explanation_free, POINTER(_structs.ExplanationStruct))
    _run.run(_lib.lib.consm_explain, _lib.Out(made), model, data, place, byref(options), progress=progress)
    e = made.pointer.contents
    ids = graph.ids()
    buffer = _lib.buffer()
    edges = zip(*(_lib.copied(a, (int(e.edges),)).tolist() for a in (e.edge_from, e.edge_to, e.edge_effect)))
    neighbours = zip(*(_lib.copied(a, (int(e.neighbours),)).tolist() for a in (e.neighbour, e.neighbour_effect)))
    features = zip(*(_lib.copied(a, (int(e.features),)).tolist() for a in (e.feature, e.feature_effect)))
    return Explanation(
        _plain(ids[place]), _plain(classes[e.label]), float(e.probability),
        [(_plain(ids[a]), _plain(ids[b]), w) for a, b, w in edges],
        [(_plain(ids[a]), w) for a, w in neighbours],
        [(_lib.decode(_lib.lib.consm_model_feature(model.pointer, k, buffer)), w) for k, w in features],
        (int(e.edges_in_reach), int(e.neighbours_in_reach), int(e.features_in_reach)))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
