#!/usr/bin/env bash
# Small annoyances: a full disk behind a pipe, flags without effect, names in messages that cannot be typed,
# data that changed under a configuration, Ctrl-C.
# usage: check_cli_manners.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
begun_output_is_fine=yes
said() { grep -qF -- "$1" "$work/out" "$work/err" || fault "not said: $1; but: $(cat "$work/out" "$work/err")"; }

: > "$work/out"
if [ -c /dev/full ]; then
    "$consm" info karate > /dev/full 2> "$work/err"
    [ $? = 1 ] || fault "info > /dev/full: exit code"
    said "cannot write to standard output"
fi
expect 2 "--class-weights heavy: expected one of none, balanced" train karate --class-weights heavy
expect 2 "did you mean gcn?" train karate --model gnc
expect 2 "did you mean gcn?" train karate --model GCN
expect 0 "warning: gcn does not use --heads" train karate -m gcn --heads 2 --epochs 2
expect 0 "warning: gam does not use --epochs; use --warmup, --rounds and --gnn-steps" train karate -m gam --epochs 2 --warmup 2 \
    --rounds 1 --gnn-steps 2 --match-steps 2
expect 0 "warning: consm does not use --patience; use --round-patience" train karate --patience 2 --backbone gcn --warmup 2 --rounds 1 \
    --match-steps 2
expect 1 "is a folder: expected a file, such as $work/model.safetensors" predict "$work" karate
expect 0 "" train karate -m gat --heads 2 --epochs 2
[ ! -s "$work/err" ] || fault "gat uses --heads: $(cat "$work/err")"

# bench reads labels from a separate file.
awk 'BEGIN { for (i = 0; i < 60; i++) print i "," (i + 1) % 60 }' > "$work/e.csv"
awk 'BEGIN { for (i = 0; i < 60; i++) print i "," (i < 30 ? "x" : "y") }' > "$work/l.csv"
"$consm" bench "$work/e.csv" --labels "$work/l.csv" --models mlp --seeds 1 --epochs 2 -o "$work/bench" > "$work/out" 2> "$work/err" ||
    fault "bench --labels: $(cat "$work/err")"
said "Report:"

# A configuration remembers its data.
mkdir "$work/g"
cp "$work/e.csv" "$work/g/edges.csv"
awk 'BEGIN { print "id,label"; for (i = 0; i < 60; i++) print i "," (i < 30 ? "x" : "y") }' > "$work/g/nodes.csv"
expect 0 "" train "$work/g" -m gcn --epochs 3 -q -o "$work/o"
expect 0 "" train --config "$work/o/config.yaml" -q
[ ! -s "$work/err" ] || fault "a warning about the same data: $(cat "$work/err")"
echo "0,30" >> "$work/g/edges.csv"
expect 0 "warning: the data changed since $work/o/config.yaml was written" train --config "$work/o/config.yaml" -q

# What was not measured is null.
grep -q '"test": {"nodes": 0, "accuracy": null' "$work/o/metrics.json" || fault "test figures without test nodes"
grep -o '"test": .*' "$work/o/metrics.json" | grep -q '"precision": 0' && fault "a precision of no nodes"

# Ctrl-C ends with 130.
"$consm" train csbm:nodes=20000 -m gat --epochs 100000 > /dev/null 2>&1 &
process=$!
# By now the process is the command, no longer the shell, and handles SIGINT.
until { grep -q '^Name:.consm$' "/proc/$process/status" && grep -q '^SigCgt:.*[2367abef]$' "/proc/$process/status"; } ||
    ! kill -0 $process; do sleep 0.05; done
kill -INT $process
wait $process
[ $? = 130 ] || fault "Ctrl-C: exit code"

# A parameter whose default is auto is listed like any other.
"$consm" models --json | grep '"model": "consm"' | grep -q '"zeta": "auto", "rounds": 3' || fault "models --json leaves auto parameters out"

"$consm" help train > "$work/out" || fault "help train"
for topic in "^training:" "^most models:" "^ConSM: matching module:"; do
    grep -q "$topic" "$work/out" || fault "help train has no topic $topic"
done
verdict
