"""Columns of a table as features, by a recipe that is kept and used again on the next table.

Numbers stay, booleans become 0 and 1, dates days since 1970, categories and text one column a value
(the most frequent LIMIT; the rest are 0 everywhere). What is missing becomes the column's mean, with a
column that says so. Columns are named as the library names them, so that a model knows them again.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from ._arrays import Array
from ._errors import ConsmValueError

LIMIT = 50


@dataclass
class Column:
    """How one column was read."""
    name: str
    kind: str  # number, date, category
    values: list[str] = field(default_factory=list)  # of categories
    fill: float = 0.0  # for what is missing
    blanks: bool = False  # a column says where it was missing


def _blank(series: Any) -> Array:
    return np.asarray(series.isna().to_numpy(), bool)


def _kind(series: Any) -> str:
    kind = getattr(series.dtype, "kind", "O")
    if kind == "M":
        return "date"
    if kind in "iufb" and str(series.dtype) != "category":
        return "number"
    if str(series.dtype) in ("boolean", "Int64", "Int32", "Int16", "Int8", "Float64", "Float32"):
        return "number"
    return "category"


def _numbers(series: Any, kind: str) -> Array:
    """float64 with NaN where there is nothing."""
    if kind == "date":
        days = series.to_numpy(dtype="datetime64[s]")
        out = days.astype("int64").astype(np.float64) / 86400
        out[np.isnat(days)] = np.nan
        return np.asarray(out)
    try:
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError) as fault:
        raise ConsmValueError(f"column {series.name!r}: {fault}: expected numbers") from None


def learn(frame: Any) -> list[Column]:
    """The recipe of a table's columns."""
    recipe = []
    for name in frame.columns:
        series = frame[name]
        if getattr(series, "ndim", 1) != 1:
            raise ConsmValueError(f"two columns are called {name!r}: expected different names")
        blank = _blank(series)
        column = Column(str(name), _kind(series), blanks=bool(blank.any()))
        if column.kind == "category":
            counts = series[~blank].astype(str).value_counts()
            ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            column.values = sorted(value for value, _ in ranked[:LIMIT])
        else:
            numbers = _numbers(series, column.kind)
            known = numbers[~np.isnan(numbers)]
            column.fill = float(known.mean()) if known.size else 0.0
        recipe.append(column)
    names = feature_names(recipe)
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise ConsmValueError(f"two features would be called {twice!r}: rename a column")
    return recipe


def feature_names(recipe: list[Column]) -> list[str]:
    names = []
    for column in recipe:
        names += [f"{column.name}={value}" for value in column.values] if column.kind == "category" else [column.name]
        names += [f"{column.name} is missing"] if column.blanks else []
    return names


def apply(recipe: list[Column], frame: Any) -> tuple[Array, list[str]]:
    """(features float32 (nodes, columns), names). A column that the recipe has must be there."""
    have = {str(name): name for name in frame.columns}
    absent = [c.name for c in recipe if c.name not in have]
    if absent:
        raise ConsmValueError(f"the table lacks {len(absent)} of the model's {len(recipe)} columns: "
                              f"{', '.join(absent[:5])}{', …' if len(absent) > 5 else ''}")
    parts: list[Array] = []
    for column in recipe:
        series = frame[have[column.name]]
        blank = _blank(series)
        if column.kind == "category":
            text = series.astype(object).where(~series.isna(), None).map(lambda v: None if v is None else str(v))
            parts += [np.asarray((text == value).to_numpy(), np.float32) for value in column.values]
        else:
            if _kind(series) != column.kind:
                raise ConsmValueError(f"column {column.name!r} holds {series.dtype}: expected "
                                      f"{'dates' if column.kind == 'date' else 'numbers'} as in training")
            numbers = _numbers(series, column.kind)
            parts.append(np.where(np.isnan(numbers), column.fill, numbers).astype(np.float32))
        if column.blanks:
            parts.append(blank.astype(np.float32))
    if not parts:
        return np.zeros((len(frame), 0), np.float32), []
    return np.ascontiguousarray(np.stack(parts, axis=1)), feature_names(recipe)


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
