#!/usr/bin/env python3
"""Trains every configuration of space.py on every task of tasks.py and records the results.

A line of the record is one run: the best validation so far after 5, 10, 20 … updates, and the figures of the
judging nodes, read once, at the end. Runs that are in the record are not repeated. Workers on a card take the
larger graphs first, workers on processors the smaller ones.

--whole runs ConSM with its defaults instead of configurations.

usage: run.py RECORD.jsonl --data FOLDER [--configs 200 | --whole] [--card 6] [--cpu 8] [--seconds 540]
"""
from __future__ import annotations

import argparse
import json
import os
import queue
import sys
import threading
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np  # noqa: E402

import consm  # noqa: E402
from consm import _run  # noqa: E402
from space import configurations  # noqa: E402
from tasks import LOOKS, Task, open_graph, roles, tasks  # noqa: E402

WHOLE = {"method": "consm"}
FIGURES = ("accuracy", "macro_f1", "balanced_accuracy", "roc_auc", "nll", "average_precision")


class Recorder(_run.Progress):
    """Keeps the best validation so far after LOOKS updates."""

    def __init__(self) -> None:
        super().__init__()
        self.curve: list[float] = []

    def _hear(self, context, progress) -> bool:
        now = progress.contents
        if len(self.curve) < len(LOOKS) and now.epoch >= LOOKS[len(self.curve)]:
            self.curve.append(round(float(now.best_val), 5))
        return super()._hear(context, progress)


local = threading.local()


def _progress() -> Recorder:
    local.progress = Recorder()
    return local.progress


_run.Progress = _progress  # type: ignore[assignment,misc]


def metric_of(y: np.ndarray, train: np.ndarray) -> str:
    """Two uneven classes are judged by how they are ranked, all else by accuracy."""
    count = np.bincount(y[train])
    return "roc-auc" if len(count) == 2 and count.min() < 0.35 * count.sum() else "accuracy"


def budget(task: Task) -> tuple[int, int]:
    """Updates at most, and without a better validation: many labels take longer to learn."""
    few = task.regime in ("5 a class", "20 a class")
    return (300, 150) if few else (1000, 200)


def one(held, task: Task, number: int, config: dict, device: str) -> dict:
    graph, y, masks = held
    train, val, judge = masks
    limits = dict(zip(("epochs", "patience"), budget(task))) if config != WHOLE else {}
    labels = np.where(train | val | judge, y, -1)
    options = {k: v for k, v in config.items() if k != "method"}
    metric = metric_of(y, train)
    began = time.monotonic()
    model = consm.GraphClassifier(str(config["method"]), device=device, threads=1, metric=metric, random_state=0,
                                  progress=False, **limits, **options)
    model.fit(graph, labels, train_mask=train, val_mask=val, test_mask=judge)
    figures = {role: {k: round(model.metrics_[role][k], 5) for k in FIGURES} for role in ("validation", "test")}
    return {"task": task.name, "config": number, "metric": metric, "curve": local.progress.curve, **figures,
            "best": model.best_iter_, "epochs": model.n_iter_,
            "ms": round(model.info_["train_ms"] + model.info_["eval_ms"], 4), "device": device,
            "seconds": round(time.monotonic() - began, 3)}


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("record")
    p.add_argument("--data", required=True)
    p.add_argument("--configs", type=int, default=200)
    p.add_argument("--whole", action="store_true")
    p.add_argument("--from-config", type=int, default=0)
    p.add_argument("--card", type=int, default=0)
    p.add_argument("--cpu", type=int, default=2)
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--part", default="0/1", help="I/N: configurations whose number is I modulo N, for N processes")
    p.add_argument("--only", default="", help="only configurations of these numbers, with commas between")
    p.add_argument("--regimes", default="", help="only these, with commas between")
    p.add_argument("--graphs", default="", help="only these, with commas or spaces between")
    a = p.parse_args()
    part, parts = map(int, a.part.split("/"))
    end = time.monotonic() + a.seconds
    warnings.simplefilter("ignore")
    done = set()
    if os.path.exists(a.record):
        with open(a.record) as lines:
            done = {(r["task"], r["config"]) for r in map(json.loads, lines)}
    held, cost = {}, {}
    opened: dict[str, tuple] = {}
    for task in tasks():
        if a.graphs and task.graph.split(":")[0] not in a.graphs.replace(",", " ").split():
            continue
        if a.regimes and task.regime not in a.regimes.split(","):
            continue
        if task.graph not in opened:
            opened[task.graph] = open_graph(consm, task.graph, a.data)
        graph, y, may = opened[task.graph]
        masks = roles(task, y, may)
        if masks is not None:
            held[task] = (graph, y, masks)
            cost[task] = graph.n_edges + graph.n_nodes * 4
    configs = [WHOLE] if a.whole else configurations(a.configs)
    numbers = [int(k) for k in a.only.split(",")] if a.only else range(a.from_config, len(configs))
    jobs = {number: [t for t in sorted(held, key=lambda t: cost[t]) if (t.name, number) not in done]
            for number in numbers if number % parts == part}
    total = sum(map(len, jobs.values()))
    print(f"{len(held)} tasks, {len(configs)} configurations, {total} runs to do", flush=True)
    lock = threading.Lock()
    order = list(jobs)
    counted = [0, 0]
    out = open(a.record, "a")

    def take(card: bool):
        """The next run: of the first configuration that has some left, the largest or the smallest graph."""
        with lock:
            while order and not jobs[order[0]]:
                order.pop(0)
            for number in order[:3]:
                if jobs[number]:
                    task = jobs[number].pop() if card else jobs[number].pop(0)
                    return number, task
        return None

    def work(device: str) -> None:
        while time.monotonic() < end:
            job = take(device != "cpu")
            if job is None:
                return
            number, task = job
            try:
                row = one(held[task], task, number, configs[number], device)
            except consm.ConsmError as fault:
                row = {"task": task.name, "config": number, "fault": str(fault)[:200]}
            with lock:
                out.write(json.dumps(row) + "\n")
                out.flush()
                counted["fault" in row] += 1
                if sum(counted) % 500 == 0:
                    print(f"{sum(counted)} of {total}, {counted[1]} failed, {end - time.monotonic():.0f} s left, "
                          f"config {number}", flush=True)

    workers = [threading.Thread(target=work, args=("cuda" if i < a.card else "cpu",)) for i in range(a.card + a.cpu)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print(f"{counted[0]} runs, {counted[1]} failed", flush=True)


if __name__ == "__main__":
    main()
