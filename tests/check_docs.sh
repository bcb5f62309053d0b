#!/usr/bin/env bash
# The documents: links, anchors, commands, flags, file names, code blocks and the length of lines
# (tests/docs.py), and what the site needs. The pages that are walk-throughs are run by check_tutorial.sh.
# usage: check_docs.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
if ! command -v python3 > /dev/null; then
    echo "SKIPPED: checking the documents needs python3"
    exit 0
fi
python3 tests/docs.py "$consm" || fault "the documents"
"$consm" help | sed -n 's/^  \([a-z]*\)  *\(.*\)/| `\1` | \2 |/p' | grep -vxFf docs/reference/command.md > "$work/found"
[ ! -s "$work/found" ] || fault "docs/reference/command.md lacks: $(cat "$work/found")"
# The pages of the site: each one is in the menu, and each parameter has its whole help, its default and its values.
if python3 scripts/docs "$consm" --stage "$work/stage"; then
    (cd "$work/stage" && find . -name '*.md' ! -path './studies/results/*' -printf '%P\n') | while read -r page; do
        grep -q ": $page\$" mkdocs.yml || echo "$page"
    done > "$work/found"
    [ ! -s "$work/found" ] || fault "pages that mkdocs.yml leaves out: $(cat "$work/found")"
    parameters=$("$consm" help train | sed '1,/^In brackets: the default/d' | grep -c '^ *--')
    grep -cE '^\| .--[a-z-]+ [A-Z]+. \| [^|]{9,} \| [^|;]+; [^|]+ \|$' "$work/stage/reference/parameters.md" | grep -qx "$parameters" ||
        fault "the site's page of parameters does not have $parameters whole rows"
else
    fault "scripts/docs --stage"
fi
# The checker itself finds a planted fault of every kind.
mkdir -p "$work/plant/docs"
cat > "$work/plant/docs/bad.md" <<'PAGE'
# Bad
[none](nowhere.md), [no anchor](#nothing), `src/base/nothing.c`, `make nothing`, `--no-such-flag`.
```
consm train karate --no-such-flag
consm dance
```
```python
def (
```
```c
int main(void) { consm_nothing_at_all(); }
```
```c
int main(void) { return 3; }
```
```json
{"a": }
```
PAGE
python3 -c 'print("word " * 50)' >> "$work/plant/docs/bad.md"
echo "# Another title" >> "$work/plant/docs/bad.md"
python3 tests/docs.py "$consm" "$work/plant" > "$work/found" && fault "planted faults pass"
for text in "no nowhere.md" "no heading #nothing" "no file src/base/nothing.c" "no target nothing" \
    "no flag --no-such-flag" "consm train has no --no-such-flag" "no verb dance" "python" "c does not compile" "json" \
    "characters" "2 titles"; do
    grep -qF -- "$text" "$work/found" || fault "the checker misses: $text"
done
# Programs are run where the library needs no sanitizer's run-time.
library=$(dirname "$consm")/libconsm.so
if [ -e "$library" ] && ! grep -qaE '__asan_init|__tsan_init' "$library"; then
    grep -qF "the program fails" "$work/found" || fault "the checker misses a program that fails"
fi
verdict
