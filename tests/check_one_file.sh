#!/usr/bin/env bash
# examples/consm_in_one_file.c on folders that the command wrote: it reaches the accuracy of the library's ConSM
# on a GCN, and stays short with only libc.
# usage: BUILD_DIR=… check_one_file.sh PATH-TO-consm
set -uo pipefail
consm=$(realpath "$1")
build=$(realpath "${BUILD_DIR:-$(dirname "$consm")}")
source=$(realpath "$(dirname "$0")/../examples/consm_in_one_file.c")
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"

[ "$(wc -l < "$source")" -lt 500 ] || fault "it has grown beyond a page of 500 lines"
grep '#include' "$source" | grep -vE '<(math|stdbool|stdio|stdlib|string)\.h>' && fault "it needs more than libc"

# run FOLDER LABELS: its accuracy, and the library's on the same graph, differ by six points at most
run() {
    "$build/example_consm_in_one_file" "$work/$1" "$2" 0 > "$work/out" 2>&1 || fault "$1: $(cat "$work/out")"
    mine=$(sed -n 's/^test accuracy //p' "$work/out")
    theirs=$("$consm" train "$work/$1" --model consm --backbone gcn --split random --per-class "$2" --seeds 1 --json |
        sed -n 's/.*"test_acc_mean": *\([0-9.]*\).*/\1/p')
    awk -v a="$mine" -v b="$theirs" 'BEGIN { exit !(a != "" && b != "" && a - b < 0.06 && b - a < 0.06) }' ||
        fault "$1: the one file has '$mine', the library '$theirs'"
}
"$consm" generate csbm --nodes 240 --classes 3 --features 8 --homophily 0.8 -o "$work/csbm" > /dev/null || fault "generate"
run csbm 10
"$consm" convert karate "$work/karate" > "$work/out" 2>&1 || fault "convert: $(cat "$work/out")"
"$build/example_consm_in_one_file" "$work/karate" 4 0 > "$work/out" 2>&1 || fault "karate: $(cat "$work/out")"
awk '/^test accuracy/ { exit !($3 > 0.85) }' "$work/out" || fault "karate: $(tail -1 "$work/out")"
"$build/example_consm_in_one_file" "$work/nowhere" > "$work/out" 2>&1 && fault "a folder that is not there was read"
grep -q 'nowhere/nodes.csv: cannot open' "$work/out" || fault "said: $(cat "$work/out")"
verdict
