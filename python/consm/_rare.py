"""Rare classes: the uncertainty of their metrics, and their most probable nodes."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._arrays import Array
from ._errors import ConsmValueError
from ._explain import Explanation

FEW = 10  # nodes of a class, below which its metrics are called uncertain


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> ["%.2f" % bound for bound in wilson(2, 2)]
    ['0.34', '1.00']
    """
    if count == 0:
        return 0.0, 1.0
    z = 1.959963984540054
    share, room = hits / count, 1 + z * z / count
    middle = (share + z * z / (2 * count)) / room
    half = z * float(np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))) / room
    return max(0.0, middle - half), min(1.0, middle + half)


def _named(info: dict[str, Any]) -> int:
    """The positive class: the one with a threshold, or that of the metric; -1: none."""
    return int(info["threshold_class"] if info["threshold_class"] >= 0 else info["positive"])


def uncertainty(classes: Array, info: dict[str, Any], metrics: dict[str, dict[str, Any]]) -> Optional[str]:
    """The warning if validation has so few nodes of the positive class that its metrics are uncertain."""
    number, figures = _named(info), metrics.get("validation")
    if figures is None or not 0 <= number < len(classes):
        return None
    of = figures["classes"][classes[number]]
    if of["support"] >= FEW:
        return None
    parts = []
    for name, count in (("precision", of["predicted"]), ("recall", of["support"])):
        low, high = wilson(round(of[name] * count), count)
        parts.append(f"{name} {of[name]:.2f} (95 % interval {low:.2f} to {high:.2f})" if count else f"{name} unknown")
    return (f"validation has {of['support']} node{'' if of['support'] == 1 else 's'} of class {classes.tolist()[number]!r}, so model selection "
            f"is uncertain: {', '.join(parts)}. Label more nodes of this class, at least {FEW} for validation")


def asked_class(info: dict[str, Any], metrics: dict[str, dict[str, Any]]) -> int:
    """The positive class, or else the rarest in training."""
    number = _named(info)
    if number >= 0:
        return number
    figures = metrics.get("train") or metrics["validation"]
    return int(np.argmin([of["support"] for of in figures["classes"].values()]))


def ranked(probability: Array, log_odds: Array, wanted: Array, k: int) -> Array:
    """The k wanted nodes with the highest probability, highest first. Log-odds break ties: they differ where shrunk
    and rounded probabilities are equal."""
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise ConsmValueError(f"k is {k!r}: expected a whole number >= 1")
    order = np.lexsort((-log_odds, -probability))
    return np.asarray(order[wanted[order]][:k])


def suspects(ids: Array, probability: Array, labels: Array, told: list[Explanation]) -> Any:
    """The table of Answers.suspects."""
    import pandas as pd
    columns = {"probability": probability, "label": labels}
    if told:
        columns.update({kind: np.array([e.main(kind) for e in told]) for kind in ("feature", "neighbour", "edge")})
    return pd.DataFrame(columns, index=pd.Index(ids, name="id"))
