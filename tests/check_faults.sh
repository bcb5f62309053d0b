#!/usr/bin/env bash
# Every allocation, write, sync and rename of every command fails once (tests/fault_shim.c), and the power
# fails at every sync and rename: no crash, and the file is complete, either the old one or the new one.
# FAULTS_ALL=1 tests every call; otherwise a sample, which takes seconds.
# usage: check_faults.sh CONSM
set -uo pipefail
consm=$(realpath "$1")
# shellcheck source=tests/faults.sh
source "$(dirname "$0")/faults.sh"
shim=$(realpath "${BUILD_DIR:-build/release}")/libfault_shim.so
if [[ ${BUILD_DIR:-} = *san* ]] || [ ! -f "$shim" ]; then
    echo "SKIPPED: faults are injected into release builds"
    exit 0
fi
graph=csbm:nodes=60,features=5
"$consm" train "$graph" --model gcn --epochs 2 --per-class 4 -o "$work/first" > "$work/out" 2>&1 ||
    fault "no model: $(cat "$work/out")"
model=$work/first/model.safetensors

# Command | what it writes | how the result is opened. No PATH: no browser is started for PNG figures.
commands=(
    "train $graph --model gcn --epochs 2 --per-class 4 --checkpoint-every 1 -o $work/t|$work/t/model.safetensors|predict FILE $graph"
    "predict $model $graph -o $work/p.csv|$work/p.csv|"
    "edges $model $graph -o $work/e.csv|$work/e.csv|"
    "convert $graph $work/c.npz|$work/c.npz|info FILE"
    "convert $graph $work/c.safetensors|$work/c.safetensors|info FILE"
    "convert $graph $work/plain|$work/plain|info FILE"
    "generate $graph -o $work/g.npz|$work/g.npz|info FILE"
    "split $graph --per-class 4 -o $work/s.csv|$work/s.csv|"
    "study datasets --datasets karate -o $work/study|$work/study/runs.jsonl|report $work/study"
    "bench $graph --models mlp --seeds 1 --epochs 2 --per-class 4 -o $work/bench|$work/bench/runs.jsonl|report $work/bench"
    "report $work/study|$work/study/report.html|"
    "evaluate $model $graph||"
    "explain $model $graph 0||"
    "info $graph||"
    "models||"
    "help train||"
)
# Two files that belong together, into an existing folder; needs METIS.
! "$consm" partition "$graph" -k 3 -o "$work/parts" > /dev/null 2>&1 ||
    commands+=("partition $graph -k 3 -o $work/parts|$work/parts/rows.safetensors|info $work/parts")
tried=0
step=$((${FAULTS_ALL:-0} ? 0 : 3))
for entry in "${commands[@]}"; do
    IFS='|' read -r command file open <<< "$entry"
    opened=
    # shellcheck disable=SC2086 # words
    "$consm" $command > /dev/null 2>&1 || fault "consm $command fails by itself"
    for kind in memory write sync rename power; do
        # METIS does not survive an allocation that is refused inside it.
        [[ $kind != memory || $command != partition* ]] || continue
        # shellcheck disable=SC2086 # words
        coproc served { LD_PRELOAD=$shim PATH=$work FAULT_KIND=$kind FAULT_FILE=$file FAULT_HIT=$work/hit \
            FAULT_PRINT=$work/err "$consm" $command 2>&1; }
        for ((n = 1; ; n += 1 + n * step)); do
            echo $n >&"${served[1]}"
            read -r code hit now <&"${served[0]}" || { fault "consm $command, $kind $n: no answer"; break; }
            [ "$hit" = 1 ] || break
            tried=$((tried + 1))
            [ "$code" -le 2 ] || [ "$kind$code" = power99 ] ||
                fault "consm $command, $kind $n: exit $code: $(head -c 200 "$work/err")"
            [ -z "$file" ] || [ -s "$file" ] || [ -d "$file" ] || fault "consm $command, $kind $n: $file is gone"
            # Older models are kept under other names.
            [ ! -e "$file.1" ] || rm -f "$file".[0-9]*
            # A result that was opened before need not be opened again.
            # shellcheck disable=SC2086 # words
            [ -z "$open" ] || [ "$now" = "$opened" ] || "$consm" ${open/FILE/$file} > /dev/null 2> "$work/why" ||
                fault "consm $command, $kind $n: $file is broken: $(head -c 200 "$work/why")"
            opened=$now
        done
        # shellcheck disable=SC1083,SC2093 # closes the input of the coprocess "served"
        exec {served[1]}>&-
        # shellcheck disable=SC2154
        wait "$served_PID" 2> /dev/null
        [ "$n" -gt 1 ] || [ "$kind" != memory ] || fault "consm $command: no fault happened"
    done
done

# Another program cuts an input file short while it is mapped: one line, no signal. Every mapped file in turn.
"$consm" convert "$graph" "$work/graph.safetensors" > /dev/null 2>&1 || fault "no graph to cut short"
"$consm" convert "$graph" "$work/lists" > /dev/null 2>&1 || fault "no lists to cut short"
for command in "info g.safetensors" "info lists" "predict m.safetensors g.safetensors -o p.csv"; do
    for ((n = 1; n < 20; n++)); do
        rm -rf "$work/short" && mkdir "$work/short" && cp -r "$work/lists" "$work/short/lists"
        cp "$work/graph.safetensors" "$work/short/g.safetensors" && cp "$model" "$work/short/m.safetensors"
        # shellcheck disable=SC2086 # words
        read -r code hit _ < <(cd "$work/short" && echo $n | LD_PRELOAD=$shim FAULT_KIND=shorter \
            FAULT_HIT=$work/hit FAULT_PRINT=$work/err "$consm" $command)
        [ "$hit" = 1 ] || break
        tried=$((tried + 1))
        [ "$code" = 1 ] && [ "$(cat "$work/err")" = "consm: an input file shrank while consm read it, or its disk failed; run the command again" ] ||
            fault "consm $command, file $n cut short: exit $code: $(head -c 200 "$work/err")"
    done
    [ $n -gt 1 ] || fault "consm $command: no file was cut short"
done
echo "$tried faults"
verdict
