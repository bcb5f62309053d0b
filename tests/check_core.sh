#!/usr/bin/env bash
# -DCONSM_CORE_ONLY=ON builds what docs/explanation/architecture.md says: it is configured without pkg-config's
# packages and linked into a program, which then needs only the C library, libm and threads.
# A compiler warning does not stop a build unless CONSM_WERROR is ON; a compiler for 32-bit machines is refused
# with one line.
# usage: check_core.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
if grep -qaE '__asan_init|__tsan_init' "$consm"; then
    echo "SKIPPED: the core is built by itself once, in the release build's tests"
    exit 0
fi
must() { "$@" > "$work/log" 2>&1 || { fault "$*"; tail -20 "$work/log"; }; }

mkdir "$work/pkgconfig"
export PKG_CONFIG_LIBDIR=$work/pkgconfig
pkg-config --exists jansson && fault "pkg-config still knows jansson"
# Without optimisation: the test checks only that it builds, and what it needs.
# -Wpadded stands for all that a newer compiler may warn about.
core=(-S . -DCONSM_CORE_ONLY=ON -DCMAKE_BUILD_TYPE=None)
must cmake "${core[@]}" -B "$work/build" -DCMAKE_C_FLAGS=-Wpadded
must cmake --build "$work/build" -j 2
grep -q 'warning: ' "$work/log" || fault "-Wpadded found nothing to warn about"
must cmake "${core[@]}" -B "$work/strict" -DCMAKE_C_FLAGS=-Wpadded -DCONSM_WERROR=ON
cmake --build "$work/strict" -j 2 > "$work/log" 2>&1 && fault "CONSM_WERROR=ON goes on after a warning"
narrow=-m32
[ "$(uname -m)" != aarch64 ] || narrow=-mabi=ilp32
cmake "${core[@]}" -B "$work/narrow" -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS=$narrow \
    -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY > "$work/log" 2>&1 && fault "32 bits are taken"
grep -q 'consm needs a 64-bit machine' "$work/log" || { fault "32 bits: said"; tail "$work/log"; }
[ -e "$work/build/libconsm_core.a" ] || fault "no libconsm_core.a"
find "$work/build" -name 'libconsm.*' -o -name consm -type f | grep . && fault "more than the core was built"
cat > "$work/main.c" <<'C'
#include "train/train.h"
#include <stdio.h>
int main(void)
{
    puts(consm_version());
    return model_list()[0] == NULL;
}
C
must cc -Iinclude -Isrc -D_GNU_SOURCE -o "$work/main" "$work/main.c" -Wl,--whole-archive \
    "$work/build/libconsm_core.a" -Wl,--no-whole-archive -Wl,--as-needed -lpthread -lm
[ "$("$work/main")" = "$("$consm" --version | sed 's/consm //')" ] || fault "the program says $("$work/main")"
readelf -d "$work/main" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libpthread|ld-linux-.*)\.so' &&
    fault "the core needs more than libc, libm and threads"

verdict
