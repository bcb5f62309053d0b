"""Columns of a table for the library. It turns them into features as it does for a file, and a model stores how:
the next table, here or in a file, is read in the same way.
"""
from __future__ import annotations

from ctypes import POINTER, c_double, cast, pointer
from typing import Any, Optional

import numpy as np

from . import _lib, _structs
from ._arrays import Array
from ._errors import ConsmValueError

NULLABLE = ("boolean", "Int64", "Int32", "Int16", "Int8", "UInt64", "UInt32", "UInt16", "UInt8", "Float64", "Float32")


def _days(series: Any) -> Array:
    """Days since 1970, NaN where there is nothing."""
    if getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_convert(None)
    moments = series.to_numpy(dtype="datetime64[s]")
    out = moments.astype("int64").astype(np.float64) / 86400
    out[np.isnat(moments)] = np.nan
    return np.ascontiguousarray(out)


def _numbers(series: Any) -> Array:
    try:
        return np.ascontiguousarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError) as fault:
        raise ConsmValueError(f"column {series.name!r}: {fault}: expected numbers") from None


def _texts(series: Any) -> Any:
    blank = series.isna().to_numpy()
    return _lib.names([None if none else _lib.encode(str(value), f"column {series.name!r}")
                       for value, none in zip(series.tolist(), blank)])


class Table:
    """A DataFrame whose columns will become features. It never changes."""

    def __init__(self, frame: Any) -> None:
        for name in frame.columns:
            if getattr(frame[name], "ndim", 1) != 1:
                raise ConsmValueError(f"two columns have the name {name!r}: expected unique names")
        self.frame = frame

    def __len__(self) -> int:
        return len(self.frame)

    def hand_over(self, a: _structs.Arrays) -> list[Any]:
        """Puts the columns into arrays; what is returned must live as long as they are read."""
        keep: list[Any] = []
        places = (POINTER(_structs.Column) * len(self.frame.columns))()
        for place, name in enumerate(self.frame.columns):
            series = self.frame[name]
            kind = str(series.dtype)
            column = _structs.Column(name=_lib.encode(str(name), "a column's name"))
            numeric = getattr(series.dtype, "kind", "O") in "iufb" and kind != "category"
            if getattr(series.dtype, "kind", "O") == "M":
                column.days = True
            if column.days or numeric or kind in NULLABLE:
                values = _days(series) if column.days else _numbers(series)
                column.number = cast(_lib.address(values), POINTER(c_double))
            else:
                values = _texts(series)
                column.text = values
                column.category = kind == "category"
            keep += [values, column]
            places[place] = pointer(column)
        a.columns, a.column = len(places), places
        return keep + [places]


def as_frame(value: Any, what: str) -> Optional[Any]:
    """A pandas DataFrame, or whatever can be made one; None stays None."""
    if value is None:
        return None
    import pandas as pd
    if isinstance(value, pd.DataFrame):
        return value
    try:
        return pd.DataFrame(value)
    except Exception as fault:
        raise ConsmValueError(f"{what}: {fault}: expected a DataFrame") from None
