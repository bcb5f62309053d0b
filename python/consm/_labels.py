"""Converts labels of any type to class numbers and back."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, as_numpy
from ._errors import ConsmValueError


def as_labels(y: Any, what: str = "y") -> Array:
    """One label per node as a flat array; a column of a table is one, too. Masked labels are unknown."""
    if isinstance(y, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(y)
        y = np.array(y.data, object if hidden.any() else None)
        if hidden.any():
            y[hidden] = None
    if hasattr(y, "to_numpy") and hasattr(y, "dtype") and str(y.dtype) in ("category", "string"):
        y = y.to_numpy(dtype=object)
    elif hasattr(y, "to_numpy") and getattr(getattr(y, "dtype", None), "kind", "O") != "O":
        y = y.to_numpy(dtype=object) if hasattr(y, "isna") and bool(y.isna().any()) else y.to_numpy()
    array = as_numpy(y, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ConsmValueError(f"{what}: found shape {array.shape}, expected one label per node")
    if array.dtype.kind in "cVM":
        raise ConsmValueError(f"{what}: found {array.dtype}, expected labels: numbers, text or booleans")
    return array


def missing(y: Array) -> Array:
    """Which labels are None, NaN (pandas' NA too) or -1."""
    if y.dtype.kind == "f":
        return np.asarray(np.isnan(y) | (y == -1))
    if y.dtype.kind == "i":
        return np.asarray(y == -1)
    if y.dtype.kind == "O":
        return np.fromiter((_is_missing(v) for v in y), bool, len(y))
    return np.zeros(len(y), bool)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value)) or value == -1
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value == -1


def encode(y: Array) -> tuple[Array, Array]:
    """(classes, numbers): the labels that occur, in order, and each node's place among them or -1."""
    unknown = missing(y)
    known = y[~unknown]
    if known.dtype.kind == "O" and known.size:
        kinds = {type(v) for v in known.tolist()}
        if kinds <= {str} or kinds <= {bool, np.bool_} or kinds <= {int, np.int64, np.int32}:
            known = np.array(known.tolist())
        elif kinds <= {int, float, np.float64, np.int64, np.float32, np.int32}:
            known = known.astype(np.float64)
        else:
            listed = ", ".join(sorted(k.__name__ for k in kinds))
            raise ConsmValueError(f"y: its labels have several types ({listed}): expected one type")
    if known.dtype.kind == "f":
        if not np.isfinite(known).all():
            raise ConsmValueError("y: a label is infinite: expected classes")
        if known.size and not (known == np.floor(known)).all():
            raise ConsmValueError("Unknown label type: continuous. y: labels are fractions, expected "
                                  "classes (whole numbers, text or booleans)")
    classes, places = np.unique(known, return_inverse=True)
    numbers = np.full(len(y), -1, np.int32)
    numbers[~unknown] = places.reshape(-1)
    return classes, numbers


UNSAID, TEXT, INTEGER, REAL, BOOLEAN = range(5)  # enum consm_class_kind: the type of the classes in a model file
_KINDS = {"U": TEXT, "i": INTEGER, "u": INTEGER, "f": REAL, "b": BOOLEAN}


def kind_of(classes: Array) -> int:
    return _KINDS.get(classes.dtype.kind, UNSAID)


def name_of(value: Any) -> str:
    """What a class is called in model files: 1.0 is "1"."""
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def names(classes: Array) -> list[str]:
    """What classes are called in model files."""
    return [name_of(c) for c in classes.tolist()]


def from_names(texts: list[str], kind: int = UNSAID) -> Array:
    """The classes of a file, as they were. Where the file does not say: numbers if all are, as str() would
    write them, and none is -1, which would mean unknown."""
    if kind == BOOLEAN and set(texts) <= {"False", "True"}:
        return np.array([t == "True" for t in texts])
    if kind == TEXT:
        return np.array(texts)
    try:
        numbers = [int(t) for t in texts]
    except ValueError:
        return np.array(texts)
    if [str(n) for n in numbers] != texts or (kind == UNSAID and -1 in numbers):
        return np.array(texts)
    return np.array(numbers, np.float64 if kind == REAL else None)
