# shellcheck shell=bash disable=SC2154 # consm is the sourcing script's
# Shared by the checks of the command (sourced, not run): $work, a folder that is deleted at the end; a count of
# faults, so that one run shows all of them; and the verdict.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
faults=0

fault() {
    echo "FAULT: $*"
    faults=$((faults + 1))
}

# expect CODE TEXT consm-arguments…: checks the exit code, and that stdout or stderr contains the text. A failure prints
# exactly one line to stderr (a list of faults may follow, indented; warnings may precede it) and nothing to stdout, unless
# begun_output_is_fine is set (a long run shows its heading before it can fail). A success prints only warnings to stderr.
# The output stays in $work/out and $work/err.
expect() {
    local code=$1 text=$2 got
    shift 2
    "$consm" "$@" > "$work/out" 2> "$work/err" < /dev/null
    got=$?
    [ $got = "$code" ] || fault "consm $*: exit $got, expected $code: $(cat "$work/err")"
    [ -z "$text" ] || cat "$work/out" "$work/err" | grep -F -- "$text" > /dev/null ||
        fault "consm $*: expected \"$text\", got: $(cat "$work/out" "$work/err")"
    if [ "$code" != 0 ]; then
        [ "$(grep -cvE '^(consm: warning: |  )' "$work/err")" = 1 ] || fault "consm $*: not one line: $(cat "$work/err")"
        [ -n "${begun_output_is_fine:-}" ] || [ ! -s "$work/out" ] ||
            fault "consm $*: a failure printed to stdout: $(cat "$work/out")"
    elif grep -v "warning: " "$work/err" > /dev/null; then
        fault "consm $*: noise without a terminal: $(cat "$work/err")"
    fi
}

verdict() {
    [ $faults = 0 ] && echo "all as expected"
    exit $((faults > 0))
}
