#!/usr/bin/env bash
# The shared library driven from Python's ctypes, without a header or a compiler.
# usage: BUILD_DIR=… check_ctypes.sh PATH-TO-consm
set -uo pipefail
consm=$1
build=${BUILD_DIR:-$(dirname "$consm")}
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
command -v python3 > /dev/null || { echo "SKIPPED: ctypes needs python3"; exit 0; }
if grep -qaE '__asan_init|__tsan_init' "$consm"; then
    echo "SKIPPED: a library with sanitizers does not load into a program without"
    exit 0
fi
python3 tests/ctypes_smoke.py "$build/libconsm.so" tests/data/abi.txt > "$work/out" 2>&1 ||
    fault "ctypes: $(tail -3 "$work/out")"
verdict
