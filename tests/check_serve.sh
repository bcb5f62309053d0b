#!/usr/bin/env bash
# examples/serve with a real server and client. Needs a python with fastapi, uvicorn, httpx and numpy:
# $CONSM_SERVE_PYTHON, the one of check_python.sh, or python3; without one it says that it is skipped.
# usage: BUILD_DIR=… check_serve.sh PATH-TO-consm
set -uo pipefail
consm=$1
build=$(realpath "${BUILD_DIR:-$(dirname "$consm")}")
skip() { echo "SKIPPED: the endpoint: $1"; exit 0; }
grep -qaE '__asan_init|__tsan_init' "$consm" && skip "a library with sanitizers does not load into python"
[ -e "$build/libconsm.so" ] || skip "needs libconsm.so"
python=
for each in "${CONSM_SERVE_PYTHON:-}" "$build/python/tools/bin/python" python3; do
    [ -n "$each" ] && "$each" -c 'import fastapi, httpx, numpy, uvicorn' 2> /dev/null && { python=$each; break; }
done
[ -n "$python" ] || skip "needs fastapi, uvicorn, httpx and numpy"
CONSM_LIBRARY=$build/libconsm.so PYTHONPATH=$PWD/python timeout 120 "$python" examples/serve/test_app.py
