"""The HTML of an estimator in a notebook."""
from __future__ import annotations

from html import escape
from typing import Any

from . import _rare

_STYLE = "border-collapse:collapse;margin:0.4em 0"
_CELL = "padding:0.15em 0.8em;text-align:right;border-bottom:1px solid #8884"
_HEAD = (("nodes", "nodes"), ("accuracy", "accuracy"), ("macro_f1", "macro-F1"),
         ("balanced_accuracy", "balanced"), ("average_precision", "average precision"), ("roc_auc", "ROC-AUC"),
         ("ece", "calibration error"))


def _row(cells: list[str], tag: str = "td") -> str:
    inside = "".join(f'<{tag} style="{_CELL}">{c}</{tag}>' for c in cells)
    return f"<tr>{inside}</tr>"


def _figure(name: str, value: Any) -> str:
    if name == "nodes":
        return f"{value:,}"
    return "–" if value != value else f"{value:.3f}" if name == "ece" else f"{100 * value:.1f} %"


def model(fitted: Any) -> str:
    """The estimator's parameters, and its metrics once it is fitted."""
    head = f"<strong>{escape(repr(fitted))}</strong>"
    if not hasattr(fitted, "metrics_"):
        return f"<div>{head}<br>not fitted yet</div>"
    info = fitted.info_
    classes = ", ".join(escape(str(c)) for c in fitted.classes_[:8].tolist())
    classes += ", …" if len(fitted.classes_) > 8 else ""
    about = (f"{escape(str(info['dataset']))}: {info['trained']:,} training, {info['validated']:,} validation, "
             f"{info['tested']:,} test nodes; best epoch {info['best_epoch']:,} of {info['epochs']:,}; "
             f"{info['parameters']:,} parameters; classes {classes}")
    if hasattr(fitted, "backbone_"):
        about += f"; backbone {escape(fitted.backbone_)}"
    if fitted.threshold_ is not None:
        about += f"; predicts {escape(str(fitted.threshold_class_))} at probability ≥ {fitted.threshold_:.3f}"
    said = _rare.uncertainty(fitted.classes_, info, fitted.metrics_)
    if said:
        about += f"<br><em>{escape(said)}</em>"
    rows = [_row([""] + [title for _, title in _HEAD], "th")]
    for role, figures in fitted.metrics_.items():
        rows.append(_row([escape(role)] + [_figure(name, figures[name]) for name, _ in _HEAD]))
    return f'<div>{head}<br>{about}<table style="{_STYLE}">{"".join(rows)}</table></div>'
