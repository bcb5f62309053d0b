#!/usr/bin/env bash
# The scripts of `make test` with missing tools: without git (an unpacked tarball, a bare machine) they find the
# same files; a missing tool skips its step with one line; and the format of CUDA files and tables is checked.
# usage: check_scripts.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"

# A tree of a few files, without .git, and a PATH on which only what is named can be found.
tree=$work/tree
mkdir -p "$tree/scripts" "$tree/src/cuda" "$tree/cli" "$tree/build/release" "$work/bin"
cp scripts/files scripts/format scripts/lint scripts/tidy "$tree/scripts/"
cp .clang-format .shellcheckrc "$tree/"
cp src/cuda/*.cu "$tree/src/cuda/"
printf '/* One. */\nint one(void);\n' > "$tree/src/one.c"
printf 'ROW(one)\n' > "$tree/src/rows.def"
printf 'int  built ;\n' > "$tree/build/release/built.c"
for tool in bash env sed grep find sort xargs dirname printf; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
bare() { (cd "$tree" && PATH=$work/bin "$@") > "$work/out" 2>&1; }

bare scripts/files 'src/*.c' '*.def' || fault "files: $(cat "$work/out")"
[ "$(cat "$work/out")" = "$(printf 'src/one.c\nsrc/rows.def')" ] || fault "files without git: $(cat "$work/out")"
if [ -e .git ] && command -v git > /dev/null; then
    scripts/files 'src/*.def' 'src/*.cuh' > "$work/known"
    git ls-files 'src/*.def' 'src/*.cuh' | diff - "$work/known" || fault "files with git"
fi
bare scripts/format --check || fault "format without clang-format: $(cat "$work/out")"
[ "$(grep -c '^SKIPPED: formatting' "$work/out")" = 1 ] && [ "$(wc -l < "$work/out")" = 1 ] ||
    fault "format without clang-format said: $(cat "$work/out")"
bare scripts/lint || fault "lint without linters: $(cat "$work/out")"
[ "$(grep -c '^SKIPPED: ' "$work/out")" = 2 ] || fault "lint without linters said: $(cat "$work/out")"
printf 'ROW(\tone)\n' > "$tree/src/rows.def"
bare scripts/format --check && fault "a tab in a table was taken"
printf 'ROW(one)\n' > "$tree/src/rows.def"

for name in clang-format-14 clang-format; do
    command -v $name > /dev/null && [ ! -e "$work/bin/clang-format" ] && ln -s "$(command -v $name)" "$work/bin/clang-format"
done
if bare scripts/format --check && grep -q SKIPPED "$work/out"; then
    cat "$work/out"
else
    [ ! -s "$work/out" ] || fault "format: $(head -5 "$work/out")"
    printf 'int  two ;\n' > "$tree/src/cuda/two.cu"
    bare scripts/format --check && fault "a CUDA file that is not formatted was taken"
fi

# SECURITY.md has its sections.
grep -q '^## What a version means' SECURITY.md || fault "SECURITY.md does not say what a version means"

# The command may not see the insides of the public objects, not even through another header.
mkdir "$work/included"
cp -r cli src scripts "$work/included"
mkdir -p "$work/included/docs/explanation"
cp docs/explanation/architecture.md "$work/included/docs/explanation"
for header in app/objects.h app/model_json.h; do
    cp cli/cmd_edges.c "$work/included/cli"
    echo "#include \"$header\"" >> "$work/included/cli/cmd_edges.c"
    "$work/included/scripts/check-includes" > "$work/out" 2>&1 && fault "check-includes: $header may be in cli/"
    grep -q "cli/cmd_edges.c .*app/objects.h" "$work/out" || fault "check-includes: $(cat "$work/out")"
done

# Calls go down only, as includes do.
cp cli/cmd_edges.c "$work/included/cli"
"$work/included/scripts/check-includes" || fault "check-includes: the copy has faults"
echo 'int planted(struct consm_options *o) { return consm_options_set(o, "split", "auto"); }' >> "$work/included/src/app/report.c"
"$work/included/scripts/check-includes" > "$work/out" 2>&1 && fault "check-includes: app may call a function of api"
grep -q "src/app/report.c:.*app may not call consm_options_set() of api" "$work/out" || fault "check-includes: $(cat "$work/out")"

# The tarball: the same bytes twice, under the version of the header, which CITATION.cff has too, with the changelog's date.
version=$("$consm" --version | sed 's/consm //')
grep -qx "version: $version" CITATION.cff || fault "CITATION.cff has another version than $version"
grep -qx "  version: \"$version\"" packaging/recipe.yaml || fault "packaging/recipe.yaml has another version than $version"
grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)" CHANGELOG.md || fault "CHANGELOG.md has no dated section $version"
dated=$(sed -n "s/^## $version (\(.*\))\$/\1/p" CHANGELOG.md)
grep -qx "date-released: $dated" CITATION.cff || fault "CITATION.cff has another date than CHANGELOG.md: $dated"
if [ -e .git ] && command -v git > /dev/null; then
    for try in a b; do scripts/dist "$work/$try" > "$work/out" 2>&1 || fault "dist: $(cat "$work/out")"; done
    cmp "$work/a/consm-$version.tar.gz" "$work/b/consm-$version.tar.gz" || fault "dist: not the same bytes twice"
    mkdir "$work/unpacked"
    tar xzf "$work/a/consm-$version.tar.gz" -C "$work/unpacked" || fault "dist: no tarball of $version"
    (cd "$work/unpacked/consm-$version" && GIT_CEILING_DIRECTORIES=$work scripts/check-includes &&
        cmake -S . -B build -DCONSM_CORE_ONLY=ON) > "$work/out" 2>&1 || fault "the tarball: $(tail -5 "$work/out")"
    # Hidden files are those that belong there: no cache of a tool.
    find "$work/unpacked/consm-$version" -mindepth 1 -maxdepth 1 -name '.*' -printf '%f\n' |
        grep -vxE '\.(ci|github|clang-format|clang-tidy|dockerignore|editorconfig|gitignore|shellcheckrc)' &&
        fault "the tarball has hidden files that do not belong there"
    (cd "$work/unpacked/consm-$version" && scripts/files '*.c' | wc -l) > "$work/count"
    [ "$(cat "$work/count")" = "$(git ls-tree -r --name-only HEAD | grep -c '\.c$')" ] ||
        fault "the tarball has $(cat "$work/count") C files"
else
    echo "SKIPPED: the tarball is made from a clone of git"
fi

scripts/bootstrap nonsense > "$work/out" 2>&1 && fault "bootstrap takes any word"
grep -q '^usage: scripts/bootstrap' "$work/out" || fault "bootstrap nonsense: $(cat "$work/out")"
# A system without an optional package: one line, and the rest continues.
mkdir "$work/stubs"
# shellcheck disable=SC2016 # for the stub
printf '#!/bin/sh\ncase "$*" in *libxgboost-dev*) exit 1 ;; esac\necho installed\n' > "$work/stubs/dpkg-query"
printf '#!/bin/sh\nexit 0\n' > "$work/stubs/apt-get"
printf '#!/bin/sh\nexit 1\n' > "$work/stubs/apt-cache"
printf '#!/bin/sh\nexec "$@"\n' > "$work/stubs/sudo"
chmod +x "$work"/stubs/*
PATH=$work/stubs:$PATH scripts/bootstrap test > "$work/out" 2>&1 || fault "bootstrap without an optional package: $(cat "$work/out")"
grep -q 'has no package libxgboost-dev' "$work/out" || fault "bootstrap does not name libxgboost-dev: $(cat "$work/out")"
# … and a build does not ask for it alone.
PATH=$work/stubs:$PATH scripts/bootstrap > "$work/out" 2>&1 || fault "bootstrap build: $(cat "$work/out")"
[ ! -s "$work/out" ] || fault "bootstrap build asked for an optional package: $(cat "$work/out")"
# The matrix of compilers fails if a build or a test failed.
cp scripts/matrix "$tree/scripts/"
matrix() { (cd "$tree" && PATH=$work/stubs:$PATH scripts/matrix "$@") > "$work/out" 2>&1; }
printf '#!/bin/sh\nexit 0\n' > "$work/stubs/cmake"
printf '#!/bin/sh\necho "100%% tests passed, 0 tests failed out of 3"\n' > "$work/stubs/ctest"
chmod +x "$work"/stubs/*
matrix gcc || fault "matrix: $(cat "$work/out")"
grep -q '^| gcc .* ok | none of 3 failed |$' "$work/out" || fault "matrix: $(cat "$work/out")"
printf '#!/bin/sh\necho "67%% tests passed, 1 tests failed out of 3"\n' > "$work/stubs/ctest"
matrix gcc && fault "matrix: a failed test was accepted"
grep -q '^| gcc .* ok | 1 of 3 failed |$' "$work/out" || fault "matrix: $(cat "$work/out")"
printf '#!/bin/sh\nexit 1\n' > "$work/stubs/cmake"
matrix gcc && fault "matrix: a failed build was accepted"
grep -q '^| gcc .* FAILED | *|$' "$work/out" || fault "matrix: $(cat "$work/out")"
# The meta-gradient of the attack.
if python3 -c 'import numpy, scipy' 2> /dev/null; then
    python3 scripts/metattack --check > "$work/out" 2>&1 || fault "$(tail -n 1 "$work/out")"
else
    echo "SKIPPED: scripts/metattack --check: needs a python3 with NumPy and SciPy"
fi
# What the tests need is in bootstrap's list.
for package in git file dpkg-dev libopenmpi-dev libmetis-dev libxgboost-dev shellcheck; do
    grep -qw -- "$package" scripts/bootstrap || fault "bootstrap does not install $package"
done
verdict
