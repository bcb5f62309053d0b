"""Converts arrays for the library, without a copy if the type fits.

Accepts NumPy of any integer and float type, DLPack (torch, jax, cupy on the host), `__array_interface__`
and lists. Other values are refused; the message names the argument.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._errors import ConsmTypeError, ConsmValueError

Array = np.ndarray[Any, Any]


def as_numpy(value: Any, what: str) -> Array:
    """Any array as NumPy's, sharing its memory where it can be shared."""
    if type(value) is list:
        return _converted(value, what)
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise ConsmValueError(f"{what}: {int(np.ma.getmaskarray(value).sum())} entries are masked: expected a value in "
                              "each (fill them, as with .filled(0))")
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray) if type(value) is not np.ndarray else value
    for step in ("detach", "cpu"):  # tensors with gradients, or on a card
        if hasattr(value, step) and hasattr(value, "__dlpack__"):
            value = getattr(value, step)()
    if hasattr(value, "__dlpack__") and hasattr(np, "from_dlpack"):
        try:
            return np.asarray(np.from_dlpack(value))
        except (TypeError, RuntimeError, BufferError, ValueError, AttributeError):
            pass  # booleans before DLPack 1.0, foreign devices: the ordinary way may still do
    return _converted(value, what)


def _converted(value: Any, what: str) -> Array:
    try:
        return np.asarray(value)
    except Exception as fault:
        raise ConsmTypeError(f"{what}: cannot convert {type(value).__name__} to an array: {fault}") from None


def integers(value: Any, what: str, ndim: Optional[int] = 1) -> Array:
    """int32 or int64, in one piece."""
    array = as_numpy(value, what)
    if array.size == 0 and array.dtype.kind in "fOU":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ConsmTypeError(f"{what}: found {array.dtype}, expected integers")
    if array.dtype == np.uint64 and array.size and int(array.max()) > 2**63 - 1:
        raise ConsmValueError(f"{what}: found {int(array.max())}, expected less than 2**63")
    return _shaped(_typed(array, (np.int32, np.int64), np.int64), what, ndim)


def reals(value: Any, what: str, ndim: Optional[int] = 1) -> Array:
    """float32 or float64, in one piece."""
    array = as_numpy(value, what)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as fault:
            raise ConsmTypeError(f"{what}: {fault}: expected numbers") from None
    if array.dtype.kind == "c":
        raise ConsmValueError(f"{what}: found {array.dtype}. Complex data not supported: expected real numbers")
    if array.dtype.kind not in "iufb":
        raise ConsmTypeError(f"{what}: found {array.dtype}, expected numbers")
    other = np.float64 if array.dtype.itemsize > 4 else np.float32
    return _shaped(_typed(array, (np.float32, np.float64), other), what, ndim)


def mask(value: Any, what: str, count: int) -> Array:
    """A bool per node; positions are taken too."""
    array = as_numpy(value, what)
    if array.dtype.kind == "b":
        if array.shape != (count,):
            raise ConsmValueError(f"{what}: found shape {array.shape}, expected ({count},)")
        return array
    places = integers(array, what)
    if places.size and (places.min() < 0 or places.max() >= count):
        raise ConsmValueError(f"{what}: expected a bool per node, or node numbers from 0 to {count - 1}")
    chosen = np.zeros(count, bool)
    chosen[places] = True
    return chosen


def _typed(array: Array, kinds: tuple[Any, ...], other: Any) -> Array:
    native = any(array.dtype == np.dtype(k) for k in kinds) and array.dtype.isnative
    if not native:
        with np.errstate(over="ignore"):
            array = array.astype(other)
    return np.require(array, None, ["C_CONTIGUOUS", "ALIGNED"])


def _shaped(array: Array, what: str, ndim: Optional[int]) -> Array:
    if ndim is not None and array.ndim != ndim:
        raise ConsmValueError(f"{what}: found shape {array.shape}, expected {ndim} dimension{'s' * (ndim > 1)}")
    return array


def is_wide(array: Optional[Array]) -> bool:
    return array is not None and array.dtype.itemsize == 8
