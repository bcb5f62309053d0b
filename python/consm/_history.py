"""The learning curve of a model as columns. A model stores it, also in its file and over a resumed fit."""
from __future__ import annotations

from ctypes import byref
from typing import Any, NamedTuple

import numpy as np

from . import _lib, _structs
from ._arrays import Array


class _Point(NamedTuple):
    member: int
    candidate: int  # of ConSM, from 1; 0: an epoch of the run itself
    number: int  # of the epoch or update
    loss: float
    validation: float
    backbone: str
    chosen: bool  # the run continued from this candidate


def _points(model: Any) -> list[_Point]:
    found: list[_Point] = []
    row = _structs.Epoch()
    while _lib.lib.consm_model_epoch(byref(row), model, len(found)) == 0:
        found.append(_Point(int(row.member), int(row.candidate), int(row.number), float(row.loss),
                            float(row.val_score), _lib.decode(row.backbone), bool(row.chosen)))
    return found


def _best(validation: Array) -> Array:
    """The best so far; NaN where nothing was validated yet."""
    return np.fmax.accumulate(validation) if validation.size else validation


def _run_of(points: list[_Point], member: int) -> list[_Point]:
    """Every epoch of a member: those of the candidate that it continued from, then its own."""
    own = [p for p in points if p.member == member and p.candidate == 0]
    before = [p for p in points if p.member == member and p.chosen and (not own or p.number <= own[0].number)]
    if before and own and before[-1].number == own[0].number:  # stored twice: the candidate's has the loss
        own[0] = own[0]._replace(loss=before.pop().loss)
    return before + own


def _column(points: list[_Point], name: str, kind: Any) -> Array:
    return np.array([getattr(p, name) for p in points], kind)


def history(points: list[_Point]) -> dict[str, Array]:
    """Loss and validation of every epoch."""
    runs = [_run_of(points, member) for member in dict.fromkeys(p.member for p in points)]
    rows = [p for run in runs for p in run]
    best = [_best(_column(run, "validation", np.float64)) for run in runs]
    return {"member": _column(rows, "member", np.int64), "epoch": _column(rows, "number", np.int64),
            "loss": _column(rows, "loss", np.float64), "validation": _column(rows, "validation", np.float64),
            "best_validation": np.concatenate(best) if best else np.array([], np.float64)}


def tournament(points: list[_Point]) -> dict[str, Array]:
    """Loss and validation of every update of the candidates."""
    rows = [p for p in points if p.candidate]
    best: list[float] = []
    so_far: dict[tuple[int, int], float] = {}
    for p in rows:
        known = so_far.get((p.member, p.candidate), np.nan)
        so_far[p.member, p.candidate] = float(np.fmax(known, p.validation))
        best.append(so_far[p.member, p.candidate])
    return {"member": _column(rows, "member", np.int64), "candidate": _column(rows, "candidate", np.int64),
            "backbone": _column(rows, "backbone", object), "update": _column(rows, "number", np.int64),
            "loss": _column(rows, "loss", np.float64), "validation": _column(rows, "validation", np.float64),
            "best_validation": np.array(best, np.float64)}


def of(model: Any) -> tuple[dict[str, Array], dict[str, Array]]:
    """history_ and tournament_ of a trained or loaded model."""
    points = _points(model)
    return history(points), tournament(points)
