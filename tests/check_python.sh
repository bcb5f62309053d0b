#!/usr/bin/env bash
# The Python package: a wheel built from this tree and made self-contained (auditwheel), installed with only
# NumPy and tried from a folder outside the repository, with every installed python3.N; then its tests, notebooks
# and types with all optional packages.
# Virtual environments stay in the build folder. Without network it is skipped with a message.
# usage: BUILD_DIR=… check_python.sh PATH-TO-consm
set -uo pipefail
consm=$(realpath "$1")
build=$(realpath "${BUILD_DIR:-$(dirname "$consm")}")
root=$PWD
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
skip() { echo "SKIPPED: the Python package: $1"; exit 0; }
grep -qaE '__asan_init|__tsan_init' "$consm" && skip "a library with sanitizers does not load into python"
command -v python3 > /dev/null || skip "needs python3"
home=$build/python
mkdir -p "$home"
quiet_pip() { env -u XDG_CACHE_HOME "$1/bin/python" -m pip --disable-pip-version-check --no-input "${@:2}" > "$home/pip.log" 2>&1; }

# ---- the environment of the tests ---------------------------------------------------------------
tools=$home/tools
if ! cmp -s python/tests/requirements.txt "$tools/requirements.txt"; then
    rm -rf "$tools"
    python3 -m venv "$tools" > "$home/venv.log" 2>&1 || skip "python3 -m venv failed (Debian: python3-venv)"
    quiet_pip "$tools" install --no-compile --retries 1 --timeout 20 -r python/tests/requirements.txt ||
        skip "pip could not install what the tests use (no network?): $(tail -1 "$home/pip.log")"
    cp python/tests/requirements.txt "$tools/requirements.txt"
fi

# ---- the wheel ----------------------------------------------------------------------------------
# The wheel's build begins with the objects of this one and Ninja's record of their commands and headers: Ninja compiles
# what differs. scripts/wheels begins with nothing.
rm -rf "$home/wheel" "$home/build"
mkdir "$home/build"
(cd "$build" && find .ninja_log .ninja_deps CMakeFiles/consm_{core,objects,simd_*}.dir -type f ! -name '*.d' -exec cp -p --parents -t "$home/build" {} +)
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
CC=$(cached CMAKE_C_COMPILER) quiet_pip "$tools" wheel --no-deps --no-build-isolation -C build-dir="$home/build" \
    -C cmake.define.CONSM_WERROR="$(cached CONSM_WERROR)" -w "$home/wheel" . ||
    { fault "pip wheel: $(grep -iE 'error|warning' "$home/pip.log" | head -5)"; verdict; exit $?; }
if "$tools/bin/python" -m auditwheel --help > /dev/null 2>&1; then # libraries it needs go into it
    PATH=$tools/bin:$PATH "$tools/bin/python" -m auditwheel repair -w "$home/wheel/many" "$home/wheel"/*.whl \
        > "$home/auditwheel.log" 2>&1 || fault "auditwheel: $(tail -2 "$home/auditwheel.log")"
    mv "$home/wheel/many"/*.whl "$home/wheel/" && rm "$home/wheel"/*-linux_*.whl
fi
wheel=$(ls "$home/wheel"/consm-*.whl)
case $wheel in *-py3-none-*) ;; *) fault "not one wheel for every Python: $wheel" ;; esac
bytes=$(stat -c %s "$wheel")
[ "$bytes" -lt 15000000 ] || fault "the wheel has $bytes bytes: expected less than 15 MB"

# With only NumPy, from a folder outside the repository.
beside_numpy() { # PYTHON: its environment is made once, the wheel is put into it anew
    local there
    there=$home/empty-$("$1" -c 'import sys; print(sys.implementation.cache_tag + sys.abiflags)')
    [ -x "$there/bin/python" ] || "$1" -m venv --without-pip "$there" > "$home/venv.log" 2>&1 ||
        { echo "SKIPPED: $1: $(tail -1 "$home/venv.log")"; return; }
    quiet_pip "$tools" --python "$there/bin/python" install --no-compile --only-binary=:all: numpy ||
        { echo "SKIPPED: $1: no NumPy for it: $(tail -1 "$home/pip.log")"; return; }
    quiet_pip "$tools" --python "$there/bin/python" install --no-deps --force-reinstall "$wheel" ||
        fault "pip install: $(tail -1 "$home/pip.log")"
    (cd "$work" && env -u PYTHONPATH -u CONSM_LIBRARY "$there/bin/python" "$root/python/tests/start.py") > "$work/out" 2>&1 ||
        fault "$1 beside NumPy alone: $(tail -3 "$work/out")"
}
default=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
beside_numpy "$default"
for other in python3.9 python3.1{0..5} python3.1{3..5}t; do
    found=$(command -v "$other") && [ "$(realpath "$found")" != "$default" ] && beside_numpy "$found"
done

# ---- the tests ----------------------------------------------------------------------------------
quiet_pip "$tools" install --no-deps --force-reinstall "$wheel" || fault "pip install: $(tail -1 "$home/pip.log")"
(cd "$work" && env -u PYTHONPATH -u CONSM_LIBRARY CONSM_COMMAND="$consm" MYPY_CACHE_DIR="$home/mypy" \
    "$tools/bin/python" -m pytest -rs \
    -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$work" "$root/python/tests") > "$work/out" 2>&1 ||
    fault "pytest: $(grep -E '^(E  |FAILED|ERROR)' "$work/out" | head -20; tail -2 "$work/out")"
grep -E '^SKIPPED' "$work/out"
tail -1 "$work/out"
verdict
