"""Figures with matplotlib. Every function draws into ax, or into a new figure, and returns ax."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array
from ._errors import ConsmValueError

BINS = 10


def axes(ax: Any = None) -> Any:
    """ax, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot_… needs matplotlib: pip install matplotlib") from None
    import sys
    if "matplotlib.pyplot" in sys.modules or "ipykernel" in sys.modules:  # the caller shows it
        import matplotlib.pyplot as plt
        return plt.subplots()[1]
    return Figure().add_subplot()


def roc_points(truth: Array, probability: Array) -> tuple[Array, Array]:
    """(false positive rate, recall) of a class, from the highest threshold to the lowest."""
    if truth.all() or not truth.any():
        raise ConsmValueError("a ROC curve needs labelled nodes of the class and of other classes")
    order = np.argsort(-probability, kind="stable")
    hits = np.cumsum(truth[order])
    last = np.r_[np.flatnonzero(np.diff(probability[order])), len(order) - 1]  # ties are one step
    said = last + 1
    recall, false = hits[last] / truth.sum(), (said - hits[last]) / (~truth).sum()
    return np.r_[0.0, false], np.r_[0.0, recall]


def roc(ax: Any, curves: list[tuple[str, Array, Array]], title: str) -> Any:
    """Recall by false positive rate."""
    ax = axes(ax)
    ax.plot([0, 1], [0, 1], linestyle=":", color="grey", linewidth=1)
    for name, false, recall in curves:
        area = float(np.sum(np.diff(false) * (recall[1:] + recall[:-1]) / 2))
        ax.plot(false, recall, label=f"{name} (area {area:.3f})")
    ax.set(xlabel="false positive rate", ylabel="recall", title=title, xlim=(0, 1), ylim=(0, 1.02))
    ax.legend()
    return ax


def reliability(ax: Any, confidence: Array, right: Array) -> Any:
    """Accuracy by confidence, with the number of nodes of each bin."""
    ax = axes(ax)
    bin_of = np.minimum((confidence * BINS).astype(int), BINS - 1)
    count = np.bincount(bin_of, minlength=BINS)
    there = count > 0
    said = np.bincount(bin_of, confidence, BINS)[there] / count[there]
    found = np.bincount(bin_of, right, BINS)[there] / count[there]
    ax.plot([0, 1], [0, 1], linestyle=":", color="grey", linewidth=1)
    ax.plot(said, found, marker="o")
    for x, y, n in zip(said, found, count[there]):
        ax.annotate(f"{n:,}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize=8)
    ax.set(xlabel="confidence", ylabel="accuracy", title=f"{len(confidence):,} nodes", xlim=(0, 1),
           ylim=(0, 1.02))
    return ax


def trust(ax: Any, score: Array, kept: Array) -> Any:
    """How many edges have which trust, and which of them are kept."""
    ax = axes(ax)
    edges = np.linspace(0, 1, 2 * BINS + 1)
    labels = [f"kept ({int(kept.sum()):,})", f"dropped ({int((~kept).sum()):,})"]
    ax.hist([score[kept], score[~kept]], bins=edges, stacked=True, label=labels, color=["#2f6f6b", "#b8b8b8"])
    ax.set(xlabel="trust", ylabel="edges", title=f"{len(score):,} edges", xlim=(0, 1))
    ax.legend()
    return ax


def neighbourhood(ax: Any, centre: Any, names: list[Any], labels: Array, score: Array, kept: Array,
                  hidden: int) -> Any:
    """A node in the middle of its neighbours: colours are predicted classes, wide edges are trusted."""
    from matplotlib.lines import Line2D
    ax = axes(ax)
    angle = 2 * np.pi * np.arange(len(names) - 1) / max(1, len(names) - 1)
    x, y = np.r_[0.0, np.cos(angle)], np.r_[0.0, np.sin(angle)]
    for i in range(1, len(names)):
        ax.plot([0, x[i]], [0, y[i]], color="grey", linewidth=0.5 + 3 * float(score[i - 1]),
                linestyle="-" if kept[i - 1] else ":", zorder=1)
    classes = list(dict.fromkeys(labels.tolist()))
    colours = [f"C{classes.index(v) % 10}" for v in labels.tolist()]
    ax.scatter(x, y, s=[220] + [120] * (len(names) - 1), c=colours, zorder=2)
    for i, name in enumerate(names):
        ax.annotate(str(name), (x[i], y[i]), textcoords="offset points", xytext=(7, 7), fontsize=8)
    ax.legend(handles=[Line2D([], [], marker="o", linestyle="", color=f"C{k % 10}", label=str(c))
                       for k, c in enumerate(classes)])
    more = f" ({hidden:,} more not shown)" if hidden else ""
    ax.set(title=f"{centre} and its neighbours{more}", xlim=(-1.4, 1.4), ylim=(-1.3, 1.3))
    ax.set_axis_off()
    return ax


