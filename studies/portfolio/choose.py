#!/usr/bin/env python3
"""Chooses ConSM's candidate backbones from the record of run.py, and writes them as a table for C.

Greedy forward selection: in every step the configuration is added that lowers the mean loss on validation
most, with a small price for its training time. The loss of a task is the best validation of any
configuration, less the best among the chosen ones: a run should never validate worse than a method it
could have chosen. Graphs count alike, however many tasks they have. The same is done with one graph left
out at a time (a graph and its attacked copies together). README.md reports the regret on the graph that was
left out: the best figure of any configuration on the judging nodes, less that of the chosen configuration
that validates best.

--gated N reserves the last N places for configurations with a feature gate, chosen in the same way. The first
places then go to configurations that do not scale columns (README.md says why).

--without GRAPH chooses as if this graph were not in the record. --whole FILE.jsonl reports the regret of whole runs of
ConSM (run.py --whole) instead.

usage: choose.py RECORD.jsonl[.gz] [--count 20] [--gated 4] [--table ../../src/train/consm/portfolio.def] [--pack RECORD.jsonl.gz]
"""
from __future__ import annotations

import argparse
import gzip
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from space import configurations  # noqa: E402
from tasks import LOOKS, Task  # noqa: E402

FIGURE = {"accuracy": "accuracy", "roc-auc": "roc_auc"}
MOST_REGRET = 6.0  # points; one odd task must not decide
PRICE = 0.002  # points that a candidate must gain for each typical training's cost, 20 of them at most
RUNGS = ((0.20, 60, 8), (0.40, 120, 4))  # share of the length, minimum updates, candidates kept


def read(path: str) -> list[dict]:
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [compact(r) for r in rows if "fault" not in r]


def compact(r: dict) -> dict:
    if "val" in r:
        return r
    figure = FIGURE[r["metric"]]
    val = r["validation"][figure]
    return {"task": r["task"], "config": r["config"], "metric": r["metric"], "val": 0.5 if val != val else val,
            "test": r["test"][figure], "best": r["best"], "epochs": r["epochs"], "ms": r["ms"], "curve": r["curve"]}


class Record:
    """Validation and judging figures by task (rows) and configuration (columns)."""

    def __init__(self, rows: list[dict]) -> None:
        tasks = sorted({r["task"] for r in rows})
        configs = sorted({r["config"] for r in rows})
        row = {t: i for i, t in enumerate(tasks)}
        column = {c: j for j, c in enumerate(configs)}
        self.val = np.full((len(tasks), len(configs)), -1.0)
        self.test = np.full(self.val.shape, -1.0)
        self.at: dict[tuple[str, int], dict] = {}
        for r in rows:
            i, j = row[r["task"]], column[r["config"]]
            self.val[i, j], self.test[i, j] = r["val"], 100 * r["test"]
            self.at[r["task"], r["config"]] = r
        widely = (self.test >= 0).sum(0) >= 0.5 * (self.test >= 0).sum(0).max()  # tried on most tasks
        whole = (self.test[:, widely] >= 0).mean(1) > 0.95  # tasks on which nearly all of these were tried
        often = (self.test[whole] >= 0).mean(0) > 0.95
        self.tasks = [t for t, w in zip(tasks, whole) if w]
        self.configs = [c for c, o in zip(configs, often) if o]
        self.val, self.test = self.val[whole][:, often], self.test[whole][:, often]
        self.best = self.test.max(1)
        self.family = np.array([Task(*t.split(" | ")).family for t in self.tasks])
        self.weight = np.array([1 / np.sqrt((self.family == f).sum()) for f in self.family])
        spent = [[r["ms"] * r["epochs"] for (_, number), r in self.at.items() if number == c] for c in self.configs]
        mean = np.array([np.mean(s) for s in spent])
        every = configurations(1 + max(self.configs))
        self.gate = [j for j, c in enumerate(self.configs) if every[c].get("feature_gate") == "yes"]
        self.plain = [j for j, c in enumerate(self.configs) if every[c]["normalize_features"] != "scale"]
        self.plain = [j for j in self.plain if j not in self.gate]
        self.price = PRICE * np.minimum(mean / np.median(mean), 20)

    def regret(self, chosen: list[int], mask: np.ndarray) -> float:
        picked = np.array(chosen)[self.val[:, chosen].argmax(1)]
        lost = np.minimum(self.best - self.test[np.arange(len(self.tasks)), picked], MOST_REGRET)
        weight = self.weight * mask
        return float((lost * weight).sum() / weight.sum())

    def below(self, chosen: list[int], mask: np.ndarray) -> float:
        """Mean points by which the chosen validate below the best of all."""
        lost = np.minimum(100 * (self.val.max(1) - self.val[:, chosen].max(1)), MOST_REGRET)
        weight = self.weight * mask
        return float((lost * weight).sum() / weight.sum())

    def greedy(self, count: int, mask: np.ndarray, gated: int = 0) -> list[int]:
        """The last `gated` have a feature gate, the others do not scale columns; 0: all, as they come."""
        chosen: list[int] = []
        while len(chosen) < count:
            pool = range(len(self.configs)) if not gated else self.plain if len(chosen) < count - gated else self.gate
            left = (j for j in pool if j not in chosen)
            chosen.append(min((self.below(chosen + [j], mask) + self.price[j], j) for j in left)[1])
        return chosen

    def left_out(self, count: int, gated: int = 0) -> tuple[float, float]:
        """Mean regret on graphs that the choice did not see: of the chosen, and of all configurations."""
        own = total = whole = 0.0
        everyone = list(range(len(self.configs)))
        for family in sorted(set(self.family)):
            seen = (self.family != family).astype(float)
            share = (self.weight * (1 - seen)).sum()
            own += share * self.regret(self.greedy(count, seen, gated), 1 - seen)
            whole += share * self.regret(everyone, 1 - seen)
            total += share
        return own / total, whole / total

    def halving(self, chosen: list[int]) -> tuple[float, float]:
        """Mean regret when candidates are stopped early (RUNGS), and the median cost in units of the
        most expensive candidate's whole training."""
        lost, cost = [], []
        for i, task in enumerate(self.tasks):
            runs = {j: self.at[task, self.configs[j]] for j in chosen if (task, self.configs[j]) in self.at}
            whole = 300 if "20 a class" in task or "5 a class" in task else 1000
            alive, before, spent = list(runs), 0, 0.0
            for share, least, stay in RUNGS:
                until = max(least, int(share * whole))
                spent += sum(runs[j]["ms"] * max(0, min(until, runs[j]["epochs"]) - before) for j in alive)
                alive.sort(key=lambda j: -_validation_after(runs[j], until))
                alive, before = alive[:stay], until
            spent += sum(runs[j]["ms"] * max(0, runs[j]["epochs"] - before) for j in alive)
            picked = max(alive, key=lambda j: self.val[i, j])
            lost.append(min(self.best[i] - self.test[i, picked], MOST_REGRET))
            cost.append(spent / max(r["ms"] * r["epochs"] for r in runs.values()))
        return float((np.array(lost) * self.weight).sum() / self.weight.sum()), float(np.median(cost))


def _validation_after(run: dict, updates: int) -> float:
    looks = sum(look <= updates for look in LOOKS)
    return run["curve"][min(looks, len(run["curve"])) - 1] if run["curve"] else -1.0


def print_whole(record: Record, rows: list[dict]) -> None:
    """The best figure of any configuration, less that of the whole of ConSM."""
    best = dict(zip(record.tasks, record.best))
    lost = {r["task"]: best[r["task"]] - 100 * r["test"] for r in rows if r["task"] in best}
    for regime in ("", *sorted({t.split(" | ")[1] for t in lost})):
        part = [v for t, v in lost.items() if t.endswith(regime)]
        error = np.std(part, ddof=1) / len(part) ** 0.5
        print(f"{regime or 'all':12s} {len(part):3d} tasks: regret {np.mean(part):.2f} ± {error:.2f} points")


def table(record: Record, chosen: list[int], command: str) -> str:
    every = configurations(1 + max(record.configs))
    lines = ["/* ConSM's candidate backbones, the most useful first: a model and what differs from its defaults.",
             f" * Generated by `{command}`; studies/portfolio/README.md says from what and how",
             " * good the choice is. Do not edit. */"]
    for j in chosen:
        config = every[record.configs[j]]
        settings = [f"{k}={v}" for k, v in config.items() if k != "method"]
        half = len(settings) if len(settings) < 9 else 6
        text = '"\n    " '.join(" ".join(part) for part in (settings[:half], settings[half:]) if part)
        lines.append(f'CANDIDATE({str(config["method"]).upper()}, "{text}")')
    return "\n".join(lines) + "\n"


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("record")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--gated", type=int, default=0)
    p.add_argument("--without", help="a graph; its attacked copies are left out, too")
    p.add_argument("--whole")
    p.add_argument("--table")
    p.add_argument("--pack")
    a = p.parse_args()
    rows = read(a.record)
    if a.pack:
        rows.sort(key=lambda r: (r["config"], r["task"]))
        with gzip.GzipFile(a.pack, "wb", mtime=0) as out:
            out.write("".join(json.dumps(r) + "\n" for r in rows).encode())
    record = Record(rows)
    if a.whole:
        print_whole(record, read(a.whole))
        return
    everyone = (record.family != a.without).astype(float)
    chosen = record.greedy(a.count, everyone, a.gated)
    own, whole = record.left_out(a.count, a.gated)
    halved, cost = record.halving(chosen)
    print(f"{len(record.tasks)} tasks of {len(set(record.family))} graphs, {len(record.configs)} configurations")
    print(f"regret of the {a.count} chosen: {record.regret(chosen, everyone):.2f} points on the graphs they were chosen on, "
          f"{own:.2f} on a graph left out; of all configurations {whole:.2f}")
    print(f"with candidates stopped early: {halved:.2f} points, {cost:.1f} times the training of the most expensive one (median)")
    for j in chosen:
        print(f"  {record.configs[j]:3d}  {configurations(1 + record.configs[j])[-1]}")
    if a.table:
        command = f"studies/portfolio/choose.py studies/portfolio/record.jsonl.gz --count {a.count}"
        command += f" --gated {a.gated}" if a.gated else ""
        command += f" --without {a.without}" if a.without else ""
        with open(a.table, "w") as out:
            out.write(table(record, chosen, command))


if __name__ == "__main__":
    main()
