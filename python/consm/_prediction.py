"""A prediction of the library, as arrays."""
from __future__ import annotations

from typing import Any, Optional

from . import _lib
from ._arrays import Array

_FLAGS = ("in_set", "seen")
_WIDE = ("probability", "log_odds", "in_set")


class Prediction:
    """What the library predicted. A part becomes an array when it is first read: a question about one node reads
    one part."""

    label: Array  # (n) class numbers
    confidence: Array  # (n) the label's probability
    probability: Array  # (n, c)
    log_odds: Array  # (n, c)
    in_set: Optional[Array]  # (n, c)
    seen: Optional[Array]  # (n) whether its label trained, validated or calibrated

    def __init__(self, made: _lib.Handle) -> None:
        self._made = made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = self._part(name)
        setattr(self, name, value)
        return value

    def _part(self, name: str) -> Optional[Array]:
        p = self._made.pointer.contents
        pointer = getattr(p, name)
        if not pointer:
            return None
        found = _lib.copied(pointer, (p.nodes, p.classes) if name in _WIDE else (p.nodes,))
        return found.astype(bool) if name in _FLAGS else found


class Some(Prediction):
    """Some nodes of a prediction."""

    def __init__(self, whole: Prediction, places: Array) -> None:
        self._whole, self._places = whole, places

    def _part(self, name: str) -> Optional[Array]:
        found: Optional[Array] = getattr(self._whole, name)
        return None if found is None else found[self._places]
