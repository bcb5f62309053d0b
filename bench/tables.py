#!/usr/bin/env python3
"""Measures all times of docs/results.md on this machine and makes their tables.

    python3 bench/tables.py [-o tables] [--only peers,authors] [--quick]

Builds consm if needed, then measures: epochs beside PyTorch Geometric's (only consm's without torch and
torch_geometric), the instruction sets, the authors' 300 rounds, 1 to all threads, a graph of 1M nodes, a
processor that is busy with other work, every kernel with the machine's limit, ConSM as a whole. Each measurement is
written to its own file in the folder as soon as it is done, so an interrupted program continues. DIR/tables.md
is written each time: rows for docs/results.md, and which targets are met.

Measurements with two threads use two processors of different cores (--cpus names them). Nothing else should run on
the machine. All of it takes about an hour and a half, most of it for PyG. --quick runs everything with the smallest
settings: it shows that everything works, but its times mean nothing.
"""
import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ["cora", "citeseer", "chameleon", "squirrel", "actor", "pubmed"]
MODELS = ["mlp", "gcn", "gat", "appnp", "gcnii", "gin"]
AUTHORS = ["--profile", "authors", "--zeta", "0.8", "--backbone", "gcn", "--match-steps", "140", "--gnn-steps", "500",
           "--split", "paper", "--threads", "2"]


class Lab:
    """The machine: which processors there are, and how a command is timed on some of them."""

    def __init__(self, given):
        self.quick = given.quick
        self.build = pathlib.Path(given.build)
        self.consm, self.bench = str(self.build / "consm"), str(self.build / "consm-bench")
        self.all = sorted(os.sched_getaffinity(0))
        self.pair = [int(c) for c in given.cpus.split(",")] if given.cpus else two_cores(self.all)
        self.log = []

    def start(self, words, cpus=None, **environment):
        """A command on these processors, its output to be read."""
        said = " ".join([f"{k}={v}" for k, v in environment.items()] + [str(w) for w in words])
        self.log.append(said.replace(f"{ROOT}/", "").replace(sys.executable, "python3"))
        return subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, text=True, cwd=ROOT,
                                env={**os.environ, **environment},
                                preexec_fn=lambda: os.sched_setaffinity(0, cpus or self.pair))

    def run(self, *words, cpus=None, **environment):
        """Its output, and how long it took by the clock and on processors."""
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        child = self.start(words, cpus, **environment)
        out = child.communicate()[0]
        taken, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if child.returncode != 0:
            raise RuntimeError(f"{self.log[-1]}: exit code {child.returncode}")
        return out, taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def lines(self, *words, **more):
        return [json.loads(line) for line in self.run(*words, **more)[0].splitlines() if line.startswith("{")]


def two_cores(cpus):
    """The first two processors that do not share a core."""
    def core(cpu):
        try:
            return pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
        except OSError:
            return cpu
    others = [c for c in cpus[1:] if core(c) != core(cpus[0])]
    return [cpus[0]] + (others or cpus[1:])[:1]


# ---- measurements: each function returns the content of its file -----------------------------------------------

def machine(lab):
    facts = pathlib.Path("/proc/cpuinfo").read_text()
    names = {line.split(":", 1)[1].strip() for line in facts.splitlines() if line.startswith("model name")}
    return {"processor": ", ".join(names) or platform.machine(), "processors": len(lab.all), "pair": lab.pair,
            "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True,
                                     text=True).stdout.strip()}


def beside(name):
    def measure(lab):
        words = ["--sets", name, "--threads", 2, "--json", "--consm", lab.consm]
        if not all(importlib.util.find_spec(module) for module in ("torch", "torch_geometric")):
            print("torch or torch_geometric is not installed: only consm is measured", file=sys.stderr)
            words += ["--alone"]
        if lab.quick:
            words += ["--models", "mlp,gcn", "--seconds", "0.05"]
        return lab.lines(sys.executable, "bench/beside_pyg.py", *words)
    return measure


def instruction_sets(lab):
    sets = ["neon"] if platform.machine() == "aarch64" else ["base", "avx2", "avx512"]
    case = "peers gat cora" if lab.quick else "peers gat squirrel"
    found = {}
    for name in sets:
        try:
            found[name] = [line for line in lab.lines(lab.bench, "--threads", 2, "--alone", "--json", "--filter", case,
                                                      CONSM_SIMD=name) if "train_ms" in line][0]["train_ms"]
        except (RuntimeError, IndexError):
            found[name] = None  # not on this processor, or the set is not here
    return found


def authors(lab):
    rounds = 1 if lab.quick else 300
    out, taken, processor = lab.run(lab.consm, "train", "cora", *AUTHORS, "--rounds", rounds, "--json")
    run = json.loads(out.splitlines()[0])
    return {"rounds": rounds, "seconds": taken, "processor_seconds": processor, "test_acc": run["test_acc"]}


def powers(most):
    counts = [2 ** k for k in range(10) if 2 ** k < most]
    return counts + [most]


def threads(lab):
    """The middle one of three runs on Cora, on all processors there are."""
    found = {}
    for count in powers(len(lab.all)) + [None]:
        words = [lab.consm, "train", "cora", "--model", "gcn", "--split", "paper", "--epochs", 40 if lab.quick else 400,
                 "--json"] + (["--threads", count] if count else [])
        runs = [lab.lines(*words, cpus=lab.all)[0] for _ in range(1 if lab.quick else 3)]
        found[str(count or "default")] = statistics.median(r["train_ms"] + r["eval_ms"] for r in runs)
    return found


def large(count):
    def measure(lab):
        if lab.quick:
            return None
        cpus = lab.all if count > 2 else lab.pair
        return [line for line in lab.lines(lab.bench, "--alone", "--threads", count, "--json", "--filter",
                                           "large epoch 1M", cpus=cpus) if "epoch" in line][0]
    return measure


def company(lab):
    """Seconds on two processors, one of them busy; then four runs side by side and one after another."""
    found = {}
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"],
                            preexec_fn=lambda: os.sched_setaffinity(0, lab.pair[-1:]))
    try:
        for model in ("gcn", "gat"):
            for count in (1, 2, None):
                words = [lab.consm, "train", "cora", "--model", model, "--split", "paper", "--epochs",
                         50 if lab.quick else 1000] + (["--threads", count] if count else [])
                found[f"{model} {count or 'default'}"] = [lab.run(*words)[1] for _ in range(1 if lab.quick else 3)]
    finally:
        busy.kill()
        busy.wait()
    words = [lab.consm, "train", "cora", "--model", "gcn", "--split", "paper", "--epochs", 50 if lab.quick else 2000]
    found["after one another"] = sum(lab.run(*words)[1] for _ in range(4))
    begin = time.perf_counter()
    for child in [lab.start(words) for _ in range(4)]:
        child.communicate()
    found["side by side"] = time.perf_counter() - begin
    return found


def kernels(lab):
    words = ["--filter", "spmm cora"] if lab.quick else []
    return lab.lines(lab.bench, "--threads", 2, "--alone", "--json", "--kernels", *words)


def whole(name):
    def measure(lab):
        if lab.quick:
            return None
        return [line for line in lab.lines(lab.bench, "--threads", 2, "--alone", "--json", "--filter", name)
                if "consm" in line]
    return measure


def plan(lab):
    steps = {"machine": machine}
    steps |= {f"peers-{name}": beside(name) for name in (SETS[:1] if lab.quick else SETS)}
    steps |= {"authors": authors, "simd": instruction_sets, "threads": threads, "company": company, "kernels": kernels}
    steps |= {f"large-{count}": large(count) for count in powers(len(lab.all))}
    steps |= {f"consm-{name}": whole(f"consm {name}") for name in ("default", "score", "large")}
    return steps


# ---- the tables --------------------------------------------------------------------------------------------------

def peers_table(have):
    rows = {(r["model"], r["set"]): r for name in have if name.startswith("peers-") for r in have[name]}
    sets = [s for s in SETS if any(s == name for _, name in rows)]
    if not sets:
        return
    yield "| | " + " | ".join(s.capitalize() for s in sets) + " |"
    yield "|---" * (len(sets) + 1) + "|"
    for model in MODELS:
        cells = [rows.get((model, s)) for s in sets]
        if any(cells):
            yield f"| {model.upper()} | " + " | ".join(
                "–" if not r else f"{r['train_ms']:.2f}" if not r["pyg_ms"] else
                f"{r['train_ms']:.2f}, {r['pyg_ms'] / r['train_ms']:.0f}×" for r in cells) + " |"
    memory = [f"{r['peak_mb']:.0f} MB against {r['pyg_mb']:.0f}" for r in rows.values() if r["pyg_ms"]]
    whole_epochs = [(r["pyg_ms"] + r["pyg_eval_ms"]) / (r["train_ms"] + r["eval_ms"]) for r in rows.values()
                    if r["pyg_ms"]]
    if memory:
        yield ""
        yield (f"With the evaluation after it an epoch is {min(whole_epochs):.0f} to {max(whole_epochs):.0f} times as "
               f"fast. Peak memory, first and last: {memory[0]}, {memory[-1]}.")


def threads_table(have):
    cora = have.get("threads") or {}
    far = {name.split("-")[1]: value["ms"] for name, value in have.items() if name.startswith("large-") and value}
    counts = list(cora) or list(far)
    if not counts:
        return
    yield "| threads | " + " | ".join(counts) + " |"
    yield "|---" * (len(counts) + 1) + "|"
    yield "| Cora, GCN, with evaluation | " + " | ".join(f"{cora[c]:.2f}" if c in cora else "–" for c in counts) + " |"
    yield "| 1M/10M, GCN | " + " | ".join(f"{far[c]:.0f}" if c in far else "–" for c in counts) + " |"


def kernels_table(have):
    slow = [k for k in have.get("kernels") or [] if k.get("ceiling_ms") and k["ms"] > 2 * k["ceiling_ms"]]
    if not slow:
        return
    yield "| kernel | shape | takes | times its ceiling |"
    yield "|---|---|---|---|"
    for k in slow:
        yield f"| `{k['kernel']}` | {k['shape']} | {1e3 * k['ms']:.1f} µs | {k['ms'] / k['ceiling_ms']:.1f} |"


def bars_table(have):
    """What we want on two x86-64 threads, as far as it was measured."""
    rows = {(r["model"], r["set"]): r for name in have if name.startswith("peers-") for r in have[name]}
    bars = []
    if ("gat", "squirrel") in rows:
        ms = rows["gat", "squirrel"]["train_ms"]
        bars.append(("GAT on Squirrel, two threads", "≤ 15 ms", f"{ms:.2f} ms", ms <= 15))
    for (model, name), r in rows.items():
        least = 15 if model == "appnp" else 25 if model == "gat" and name in ("cora", "squirrel") else 20
        if r["pyg_ms"]:
            times = r["pyg_ms"] / r["train_ms"]
            bars.append((f"{model.upper()} on {name.capitalize()} beside PyG", f"≥ {least}×", f"{times:.1f}×",
                         times >= least))
    done = have.get("authors")
    if done and done["rounds"] == 300:
        bars.append(("the authors' 300 rounds on Cora", "≤ 240 s", f"{done['seconds']:.1f} s", done["seconds"] <= 240))
    if have.get("large-2"):
        times = have["large-2"]["of_gather"]
        bars.append(("1M/10M, its bytes over the gather bandwidth", "≤ 2", f"{times:.2f}", times <= 2))
    busy = have.get("company")
    if busy:
        for model in ("gcn", "gat"):
            times = statistics.median(busy[f"{model} default"]) / statistics.median(busy[f"{model} 1"])
            bars.append((f"{model.upper()}, one of two processors busy, beside one thread", "≤ 1.3", f"{times:.2f}",
                         times <= 1.3))
        times = busy["side by side"] / busy["after one another"]
        bars.append(("four runs side by side, beside one after another", "≤ 1.2", f"{times:.2f}", times <= 1.2))
    if bars:
        yield "| | wanted | here | |"
        yield "|---|---|---|---|"
        yield from (f"| {what} | {wanted} | {here} | {'met' if met else '**not met**'} |"
                    for what, wanted, here, met in bars)


def others(have):
    if have.get("simd"):
        yield "GAT, instruction sets: " + ", ".join(
            f"{name} {ms:.1f} ms" if ms else f"{name} not here" for name, ms in have["simd"].items()) + "."
    done = have.get("authors")
    if done:
        yield (f"- The authors' schedule on Cora, {done['rounds']} rounds: {done['seconds']:.1f} s, "
               f"{done['processor_seconds']:.1f} s of processor time.")
    for name, value in have.items():
        if name.startswith("large-") and value:
            yield (f"- 1M/10M, {value['threads']} threads: {value['ms']:.0f} ms, {value['of_copy']:.2f} times its bytes "
                   f"copied, {value['of_gather']:.2f} gathered, {value['of_ceiling']:.2f} times its own ceiling.")
        if name.startswith("consm-") and value:
            yield from (f"- {r['consm']}, {r['set']}: {r['seconds']:.2f} s, {r['peak_mb']:.0f} MB." for r in value)
    for name, value in (have.get("company") or {}).items():
        yield f"- Company, {name}: " + (", ".join(f"{s:.2f}" for s in value) if isinstance(value, list) else
                                        f"{value:.2f}") + " s."


def write_tables(folder, records, quick):
    have = {name: r["found"] for name, r in records.items() if r["found"]}
    facts = have.get("machine", {})
    out = [f"# {facts.get('processor')}, {facts.get('processors')} processors, commit {facts.get('commit')}", ""]
    if quick:
        out += ["**Made with --quick: these are no measurements.**", ""]
    for title, rows in (("Bars", bars_table), ("Epochs in ms, and times as fast as PyG's best of four ways", peers_table),
                        ("Threads, ms", threads_table), ("The rest", others),
                        ("Above twice their ceiling, two threads", kernels_table)):
        lines = list(rows(have))
        out += [f"## {title}", ""] + lines + [""] if lines else []
    out += ["## Commands", ""]
    for name, record in ((n, r) for n, r in records.items() if r["commands"]):
        out += [f"- {name}, {record['began']}, load {record['load']:.1f}: " +
                "; ".join(f"`{c}`" for c in dict.fromkeys(record["commands"]))]
    (folder / "tables.md").write_text("\n".join(out) + "\n")


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("-o", "--out", default="tables", help="the folder")
    ask.add_argument("--build", default=str(ROOT / "build/release"), help="where consm and consm-bench are")
    ask.add_argument("--cpus", help="the two processors, as in 2,4")
    ask.add_argument("--only", help="measurements by name or its beginning: peers,authors,large-2")
    ask.add_argument("--quick", action="store_true")
    given = ask.parse_args()
    lab = Lab(given)
    if not pathlib.Path(lab.bench).exists():
        subprocess.run(["make", "all"], cwd=ROOT, check=True)
    folder, records, failed = pathlib.Path(given.out), {}, 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, measure in plan(lab).items():
        path = folder / f"{name}.json"
        wanted = not given.only or any(name.startswith(only) for only in given.only.split(","))
        if not path.exists() and wanted:
            print(f"{name} …", file=sys.stderr, flush=True)
            lab.log, load = [], os.getloadavg()[0]
            began = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
            try:
                found = measure(lab)
            except (RuntimeError, OSError) as fault:
                print(f"{name}: {fault}", file=sys.stderr)
                failed += 1
                continue
            whole_file = folder / f"{name}.new"
            whole_file.write_text(json.dumps({"began": began, "load": load, "commands": lab.log, "found": found}))
            whole_file.rename(path)
        if path.exists():
            records[name] = json.loads(path.read_text())
            write_tables(folder, records, given.quick)
    print(folder / "tables.md")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
