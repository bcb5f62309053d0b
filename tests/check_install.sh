#!/usr/bin/env bash
# The installation: its files, their exported names, and a project outside the tree that finds and uses them with
# pkg-config and find_package, shared and static; the packages of cpack; the examples.
# usage: BUILD_DIR=… check_install.sh PATH-TO-consm
set -uo pipefail
consm=$1
build=${BUILD_DIR:-$(dirname "$consm")}
source=$PWD
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
if grep -qaE '__asan_init|__tsan_init' "$consm"; then
    echo "SKIPPED: a build with sanitizers is not for installing"
    exit 0
fi
must() { "$@" > "$work/log" 2>&1 || { fault "$*"; tail -20 "$work/log"; }; }

prefix=$work/prefix
must cmake --install "$build" --prefix "$prefix"
libdir=$(dirname "$(find "$prefix" -name libconsm.a)")
for file in bin/consm include/consm.h include/consm_ot.h; do
    [ -e "$prefix/$file" ] || fault "no $file"
done
for file in libconsm.so libconsm.so.0 libconsm.a pkgconfig/consm.pc cmake/consm/consm-config.cmake; do
    [ -e "$libdir/$file" ] || fault "no $file"
done
must "$prefix/bin/consm" --version
for file in man/man1/consm.1 man/man1/consm-train.1 bash-completion/completions/consm \
    zsh/site-functions/_consm fish/vendor_completions.d/consm.fish; do
    [ -s "$prefix/share/$file" ] || fault "no share/$file"
done

for file in README.md CITATION.cff docs/reference/c.md docs/tutorial.md examples/train_csv.c; do
    [ -s "$prefix/share/doc/consm/$file" ] || fault "no share/doc/consm/$file"
done
# The files that installed pages link to are installed.
for page in $(cd "$prefix/share/doc/consm" && find docs -name '*.md'); do
    for link in $(grep -oE '\]\([^)# :]+' "$prefix/share/doc/consm/$page" | cut -c3- | grep -vx https); do
        [ -e "$prefix/share/doc/consm/$(dirname "$page")/$link" ] || fault "$page: $link is not installed"
    done
done

# ---- names ----------------------------------------------------------------------------------------
nm -D --defined-only "$libdir/libconsm.so" | awk '{ print $3 }' > "$work/shared"
grep -vE '^(consm_[a-z0-9_]+@@CONSM_0\.1|CONSM_0\.1)$' "$work/shared" && fault "foreign names in libconsm.so"
nm -g --defined-only "$libdir/libconsm.a" | awk 'NF == 3 { print $3 }' > "$work/static"
grep -v '^consm_' "$work/static" && fault "foreign names in libconsm.a"
sed 's/@.*//; /^CONSM/d' "$work/shared" | sort > "$work/a"
sort "$work/static" > "$work/b"
diff "$work/a" "$work/b" || fault "the two libraries export different names"
# The library exports exactly the names of the headers.
{
    grep -ohE 'consm_[a-z0-9_]+\(' "$source"/include/*.h | tr -d '('
    grep -ohE '^CONSM_OP\([a-z0-9_]+' "$source"/include/*.h | sed 's/CONSM_OP(/consm_/'
} | sort -u > "$work/declared"
for name in $(cat "$work/a"); do
    grep -qx "$name" "$work/declared" || fault "$name is exported but not declared"
done
for name in $(grep -vx consm_ "$work/declared"); do
    grep -qx "$name" "$work/a" || fault "$name is declared but not exported"
done
objdump -p "$libdir/libconsm.so" | grep 'SONAME.*libconsm.so.0' > /dev/null || fault "soname"

# Downloads and YAML belong to the command: a program that links the library does not get them.
readelf -d "$libdir/libconsm.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libpthread|ld-linux-.*|libz|libjansson)\.so' &&
    fault "libconsm.so needs more than libc, libm, threads, zlib and jansson"

# ---- a project outside the tree -------------------------------------------------------------------
mkdir "$work/project"
cat > "$work/project/main.c" <<'C'
#include <consm.h>
#include <stdio.h>
/* Generic names of the program's own, which the library must not disturb. */
int sum(int a, int b);
int sum(int a, int b) { return a + b; }
int main(void)
{
    struct consm_dataset *data;
    struct consm_dataset_info info = {.size = sizeof info};
    if (consm_dataset_open(&data, "karate", NULL) < 0)
        return 1;
    consm_dataset_info(&info, data);
    printf("%s %s %d\n", consm_version(), info.name, sum((int)info.nodes, 1));
    consm_dataset_free(data);
    return 0;
}
C
cat > "$work/project/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(outside LANGUAGES C)
find_package(consm 0.1 REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared PRIVATE consm::consm)
add_executable(static main.c)
target_link_libraries(static PRIVATE consm::static)
C
says() {
    local out
    out=$("$@") || fault "$* failed"
    [ "$out" = "$("$consm" --version | sed 's/consm //') karate 35" ] || fault "$*: $out"
}
must cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix"
must cmake --build "$work/project/build"
says "$work/project/build/shared"
says "$work/project/build/static"
ldd "$work/project/build/static" | grep libconsm > /dev/null && fault "the static program needs libconsm.so"
export PKG_CONFIG_PATH=$libdir/pkgconfig
pc() { pkg-config "$@" consm; }
# shellcheck disable=SC2046
must cc -o "$work/by-pc" "$work/project/main.c" $(pc --cflags --libs) -Wl,-rpath,"$libdir"
says "$work/by-pc"
# shellcheck disable=SC2046
must cc -o "$work/by-pc-static" "$work/project/main.c" $(pc --cflags) "$libdir/libconsm.a" \
    $(pkg-config --libs $(pc --print-requires-private)) -lm -lpthread
says "$work/by-pc-static"

# Each header alone, in C11 and in C++. The example at its top is a whole program.
for header in consm consm_ot; do
    echo "#include <$header.h>" > "$work/h.c"
    must cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -fsyntax-only "$work/h.c"
    if command -v c++ > /dev/null; then
        must c++ -x c++ -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only "$work/h.c"
    fi
    sed -n "/^ \*     #include <$header.h>/,/^ \*     }\$/p" "$source/include/$header.h" |
        sed 's/^ \* \{0,5\}//' > "$work/top.c"
    # shellcheck disable=SC2046
    must cc -std=c11 -Wall -Wextra -Werror -o "$work/$header" "$work/top.c" $(pc --cflags --libs) \
        -Wl,-rpath,"$libdir"
    (cd "$work" && "./$header" > "$header.out") || fault "the example of $header.h fails"
done
[ "$(wc -l < "$work/consm.out")" = 34 ] || fault "the header's example prints $(wc -l < "$work/consm.out") lines"
grep -qE '^1(\.0+[0-9]*)? in [1-9][0-9]* iterations$' "$work/consm_ot.out" || fault "consm_ot.h: $(cat "$work/consm_ot.out")"

# ---- examples, against what is installed -----------------------------------------------------------
for example in train_csv service custom_model arrays; do
    # shellcheck disable=SC2046
    must cc -std=c11 -Wall -Wextra -Werror -o "$work/$example" "$source/examples/$example.c" \
        $(pc --cflags --libs) -Wl,-rpath,"$libdir"
done
"$work/train_csv" "$source/examples/friends" "$work/friends.safetensors" > "$work/out" 2> "$work/log" ||
    fault "train_csv: $(cat "$work/log")"
[ "$(grep -cE '^[A-Z][a-z]+,(chess|choir),[01]\.[0-9]+$' "$work/out")" = 22 ] || fault "train_csv: $(cat "$work/out")"
printf '%s\nnowhere\n%s\n' "$source/examples/friends" "$source/examples/friends" |
    "$work/service" "$work/friends.safetensors" > "$work/out" || fault service
[ "$(grep -c '"nodes": 30' "$work/out")" = 2 ] && grep -q '"error": "unknown dataset' "$work/out" ||
    fault "service: $(cat "$work/out")"
"$work/service" "$work/h.c" < /dev/null 2> "$work/log" && fault "service takes any file for a model"
"$work/custom_model" > "$work/out" || fault custom_model
awk '/^test accuracy/ { exit !($4 + 0 > $6 + 0.1) }' "$work/out" || fault "custom_model: $(tail -1 "$work/out")"

"$work/arrays" "$work/arrays.checkpoint" > "$work/out" || fault arrays
grep -q '^hidden  *64 ' "$work/out" || fault "arrays: $(cat "$work/out")"
awk '/^60 training and 40 validation nodes; test accuracy/ { found = $9 > 0.9 } END { exit !found }' "$work/out" ||
    fault "arrays: $(tail -1 "$work/out")"

# ---- packages -------------------------------------------------------------------------------------
# CPack finds the dependencies of a .deb with file(1) and dpkg-shlibdeps(1).
generators="TGZ;DEB"
for tool in file dpkg-deb dpkg-shlibdeps; do
    command -v $tool > /dev/null && continue
    echo "SKIPPED: the .deb needs $tool (Debian: file, dpkg-dev)"
    generators=TGZ
done
(cd "$work" && cpack -G "$generators" --config "$build/CPackConfig.cmake" -B "$work/packages" > "$work/log" 2>&1) ||
    { fault cpack; tail -20 "$work/log"; }
tar tzf "$work"/packages/consm-*.tar.gz > "$work/list" || fault "no .tar.gz"
for file in bin/consm include/consm.h include/consm_ot.h libconsm.so.0 libconsm.a consm.pc consm-config.cmake; do
    grep -qF "$file" "$work/list" || fault "no $file in the .tar.gz"
done
grep dist-packages "$work/list" && fault "the .tar.gz holds the Python package"
# No file is in two Debian packages; together they hold everything that is installed.
held() { # PACKAGE FILE…
    dpkg-deb -c "$work/packages/$1"_*.deb > "$work/list" 2> "$work/log" || fault "no $1_*.deb: $(cat "$work/log")"
    for file in "${@:2}" "share/doc/$1/copyright" "share/doc/$1/changelog\.gz"; do
        grep -qE "/$file( -> .*)?\$" "$work/list" || fault "no $file in $1"
    done
}
needs() { dpkg-deb -f "$work/packages/$1"_*.deb Depends | grep -F "$2" > /dev/null || fault "$1 does not depend on $2"; }
if [ $generators != TGZ ]; then
    version=$("$consm" --version | sed 's/consm //')
    held libconsm0 'libconsm\.so\.0'
    needs libconsm0 libjansson
    held libconsm-dev include/consm.h 'libconsm\.so' 'libconsm\.a' 'consm\.pc' 'consm-config\.cmake'
    needs libconsm-dev "libconsm0 (= $version)"
    held consm bin/consm 'man1/consm-train\.1\.gz' completions/consm
    needs consm libcurl
    held consm-doc 'docs/tutorial\.md'
    held python3-consm 'dist-packages/consm/_lib\.py' "consm-$version\.dist-info/entry_points\.txt"
    needs python3-consm "libconsm0 (= $version)"
    for plugin in mpi trees cuda; do
        [ -e "$libdir/libconsm_$plugin.so" ] || continue
        held "consm-$plugin" "libconsm_$plugin\.so"
        needs "consm-$plugin" "consm (= $version) | libconsm0 (= $version)"
    done
    for file in "$work"/packages/*.deb; do
        dpkg-deb -c "$file" | awk '$1 !~ /^d/ { print $6 }'
    done | sort | uniq -d > "$work/twice"
    [ ! -s "$work/twice" ] || fault "in two packages: $(cat "$work/twice")"
    dpkg-deb --fsys-tarfile "$work"/packages/python3-consm_*.deb | tar xO --wildcards '*/entry_points.txt' > "$work/entries"
    [ "$(grep -c '^consm = consm\._networkx:' "$work/entries")" = 2 ] || fault "entry points: $(cat "$work/entries")"
fi

verdict
