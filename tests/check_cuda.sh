#!/usr/bin/env bash
# The CUDA plug-in on a machine without a card: it is compiled if nvcc is there, it exports two names, the
# library itself does not depend on CUDA, and a missing part gives a one-line message.
# scripts/test-cuda has the tests that need a card.
# usage: BUILD_DIR=… check_cuda.sh PATH-TO-consm
set -uo pipefail
consm=$1
build=${BUILD_DIR:-$(dirname "$consm")}
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
run=("$consm" train karate --model gcn --per-class 4 --epochs 5 --json)

nm -D "$build/libconsm.so" | grep -E ' (cuda|cublas|cu[A-Z])' > "$work/names" &&
    fault "libconsm.so: $(head -1 "$work/names")"
"${run[@]}" --device cuda > "$work/out" 2> "$work/err"
code=$?
if [ "$code" -eq 0 ]; then
    grep -q '"device": "cuda:0"' "$work/out" || fault "--device cuda: $(head -1 "$work/out")"
    echo "check_cuda: a card trained; scripts/test-cuda tests it"
else
    [ "$code" -eq 2 ] || fault "--device cuda ended with $code"
    [ "$(wc -l < "$work/err")" -eq 1 ] && grep -q 'device cuda' "$work/err" ||
        fault "--device cuda said: $(cat "$work/err")"
    "${run[@]}" --device auto > "$work/out" 2>&1 && grep -q '"device": "cpu"' "$work/out" ||
        fault "--device auto: $(head -1 "$work/out")"
fi
for verb in bench "study accuracy --datasets"; do
    # shellcheck disable=SC2086
    "$consm" $verb karate --models gcn --seeds 1 --epochs 5 --split random --jobs 1 --device cuda -o "$work/runs" \
        > "$work/out" 2> "$work/err"
    if [ "$?" -ne "$code" ]; then
        fault "$verb --device cuda: $(cat "$work/err")"
    elif [ "$code" -ne 0 ]; then
        grep -q 'device cuda' "$work/err" || fault "$verb --device cuda said: $(cat "$work/err")"
    else
        grep -q '"device":"cuda:0"' "$work/runs/runs.jsonl" || fault "$verb: a card trained nothing"
    fi
done
"${run[@]}" --device cuda:x > "$work/out" 2>&1 && fault "--device cuda:x was taken"

if [ -f "$build/libconsm_cuda.so" ]; then
    names=$(nm -D --defined-only "$build/libconsm_cuda.so" | awk '{print $3}' | grep -v '^_fini$\|^_init$')
    [ "$names" = "consm_plugin
consm_plugin_wake" ] || fault "libconsm_cuda.so exports $names"
    [ "$code" -eq 0 ] || echo "SKIPPED: no NVIDIA card: the CUDA sources were compiled, nothing was run on a card"
    verdict
fi
[ "$faults" = 0 ] || verdict
echo "SKIPPED: no nvcc: the CUDA sources were not compiled"
exit 77 # which ctest shows
