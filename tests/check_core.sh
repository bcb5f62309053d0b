#!/usr/bin/env bash
# -DCONSM_CORE_ONLY=ON builds what docs/architecture.md promises: configured where pkg-config knows
# nothing, linked whole into a program, which then needs the C library, libm and threads.
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
# Without optimisation: what is asked is whether it builds and what it needs.
must cmake -S . -B "$work/build" -DCONSM_CORE_ONLY=ON -DCMAKE_BUILD_TYPE=None
must cmake --build "$work/build" -j 2
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
