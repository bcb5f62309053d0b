#!/usr/bin/env bash
# usage: check_tables.sh PATH-TO-consm
# bench/tables.py with a complete set of invented measurements: it measures nothing again, writes every table, compares
# figures with their targets in the right direction, and leaves out what was not measured. A killed consm-bench
# leaves no files.
set -euo pipefail
command -v python3 > /dev/null || { echo "SKIPPED: no python3: tables are not made"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fault() { echo "check_tables: $1"; cat "$work/tables.md"; exit 1; }
build=$(dirname "$1")
[ -e "$build/consm-bench" ] || { echo "SKIPPED: no consm-bench in this build"; exit 77; }
python3 - "$work" << 'END'
import json, pathlib, sys
sys.path.insert(0, "bench")
import tables
lab = tables.Lab(type("given", (), {"quick": False, "build": "none", "cpus": None}))
peer = lambda model, name, ms, pyg: {"model": model, "set": name, "train_ms": ms, "eval_ms": ms, "peak_mb": 10,
                                     "pyg_ms": pyg, "pyg_eval_ms": pyg, "pyg_mb": 500, "pyg_default_ms": pyg}
found = {name: None for name in tables.plan(lab)}
found |= {"machine": {"processor": "Some", "processors": 2, "commit": "abc"},
          "peers-cora": [peer("gcn", "cora", 0.5, 10.0), peer("gat", "cora", 1.0, 24.0), peer("appnp", "cora", 1.0, 15.0)],
          "peers-squirrel": [peer("gat", "squirrel", 15.5, None)],
          "authors": {"rounds": 300, "seconds": 239.9, "processor_seconds": 470, "test_acc": 0.8},
          "simd": {"base": 30.0, "avx512": None},
          "threads": {"1": 0.29, "2": 0.27, "default": 0.28},
          "large-2": {"epoch": "1M", "threads": 2, "ms": 530.4, "of_copy": 1.5, "of_gather": 1.48, "of_ceiling": 2.0},
          "company": {f"{m} {t}": [s, s, 9.0] for m, s in (("gcn", 1.0), ("gat", 2.0)) for t in (1, 2, "default")} |
                     {"after one another": 8.0, "side by side": 10.0},
          "kernels": [{"kernel": "slow", "shape": "cora x 7", "ms": 0.05, "ceiling_ms": 0.02},
                      {"kernel": "fast", "shape": "cora x 7", "ms": 0.05, "ceiling_ms": 0.03}]}
for name, value in found.items():
    record = {"began": "2026-01-01 00:00", "load": 0.5, "commands": ["consm x"] if value else [], "found": value}
    (pathlib.Path(sys.argv[1]) / f"{name}.json").write_text(json.dumps(record))
END
python3 bench/tables.py --build "$build" -o "$work" > "$work/out" 2>&1 || fault "$(cat "$work/out")"
[ "$(cat "$work/out")" = "$work/tables.md" ] || fault "something was measured: $(cat "$work/out")"
while read -r line; do
    grep -qxF -- "$line" "$work/tables.md" || fault "no line: $line"
done << 'END'
# Some, 2 processors, commit abc
| GCN on Cora beside PyG | ≥ 20× | 20.0× | met |
| GAT on Cora beside PyG | ≥ 25× | 24.0× | **not met** |
| APPNP on Cora beside PyG | ≥ 15× | 15.0× | met |
| GAT on Squirrel, two threads | ≤ 15 ms | 15.50 ms | **not met** |
| the authors' 300 rounds on Cora | ≤ 240 s | 239.9 s | met |
| 1M/10M, its bytes over the gather bandwidth | ≤ 2 | 1.48 | met |
| GCN, one of two processors busy, beside one thread | ≤ 1.3 | 1.00 | met |
| four runs side by side, beside one after another | ≤ 1.2 | 1.25 | **not met** |
| | Cora | Squirrel |
| GAT | 1.00, 24× | 15.50 |
| GCN | 0.50, 20× | – |
| threads | 1 | 2 | default |
| Cora, GCN, with evaluation | 0.29 | 0.27 | 0.28 |
| 1M/10M, GCN | – | 530 | – |
GAT, instruction sets: base 30.0 ms, avx512 not here.
| `slow` | cora x 7 | 50.0 µs | 2.5 |
END
! grep -qF "\`fast\`" "$work/tables.md" || fault "a kernel below twice its ceiling"
! grep -q "GAT on Squirrel beside PyG" "$work/tables.md" || fault "a bar that was not measured"

# consm-bench killed while it writes its large files leaves nothing behind.
mkdir "$work/large"
TMPDIR=$work/large "$build/consm-bench" --threads 1 --seconds 0.01 --filter "10M edges" > "$work/out" 2>&1 &
process=$!
until ls "$work/large"/*/folder/edges.csv* > "$work/began" 2> /dev/null; do
    kill -0 "$process" 2> /dev/null || fault "consm-bench ended before it wrote: $(cat "$work/out")"
    sleep 0.02
done
kill -KILL "$process"
wait "$process" 2> /dev/null || true
for _ in $(seq 1000); do [ -z "$(ls "$work/large")" ] && break; sleep 0.02; done
[ -z "$(ls "$work/large")" ] || fault "a killed consm-bench left $(find "$work/large" -type f)"
