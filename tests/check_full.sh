#!/usr/bin/env bash
# Every verb with standard output on a full device must fail with a message.
# usage: check_full.sh CONSM
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
source "$(dirname "$0")/faults.sh"
[ -c /dev/full ] || { echo "SKIPPED: there is no /dev/full"; exit 77; }
graph=csbm:nodes=60,features=5
"$consm" train $graph --model gcn --epochs 2 --per-class 4 -o "$work/m" > /dev/null 2>&1 || fault "no model"
"$consm" study datasets --datasets karate -o "$work/study" > /dev/null || fault "no study"
model=$work/m/model.safetensors
commands=(
    "--version" "--help" "help" "help train" "help formats" "help --man" "help --man info"
    "help --completion bash" "help --completion zsh" "help --completion fish" "info --help"
    "train $graph --model gcn --epochs 2 --per-class 4" "train karate --model gcn --epochs 2 --per-class 2 --json"
    "predict $model $graph" "predict $model $graph --json" "evaluate $model $graph" "explain $model $graph 3"
    "edges $model $graph" "clean $model $graph --drop 0.1 -o $work/cleaned --json" "study datasets --datasets karate -o $work/another"
    "bench karate --models gcn --epochs 2 --seeds 1 --per-class 2" "report $work/study"
    "models" "models --json" "info" "info karate" "info $graph --json"
    "split karate --per-class 2" "compare $model $model $graph" "convert --help" "partition --help" "info $graph --ranks 4" "generate $graph -o $work/g.npz" "fetch --help"
)
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # words
    "$consm" $command > "$work/out" 2> "$work/err" < /dev/null || { fault "consm $command: $(cat "$work/err")"; continue; }
    [ -s "$work/out" ] || fault "consm $command prints nothing"
    rm -rf "$work/another" "$work/g.npz" "$work/cleaned"
    # shellcheck disable=SC2086 # words
    "$consm" $command > /dev/full 2> "$work/err" < /dev/null
    code=$?
    [ $code = 1 ] || fault "consm $command > /dev/full: exit $code"
    grep -q 'standard output' "$work/err" || fault "consm $command > /dev/full: says $(cat "$work/err")"
done
for verb in $("$consm" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    printf '%s\n' "${commands[@]}" | grep "^$verb" > /dev/null || fault "$verb is not tried"
done
verdict
