#!/usr/bin/env bash
# Help in all its forms: every verb has a page without faults, and completion knows verbs, flags and
# the words a flag may be.
# usage: check_help.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
verbs=$("$consm" help | awk '/^  [a-z]/ { print $1 }')
[ "$(wc -w <<< "$verbs")" -ge 8 ] || fault "few verbs: $verbs"
lint=$(command -v mandoc || true)
for verb in "" $verbs; do
    "$consm" help --man $verb > "$work/page.1" || fault "help --man $verb"
    grep -q '^\.SH NAME' "$work/page.1" || fault "no NAME in the page of $verb"
    if [ -n "$lint" ] && ! mandoc -Tlint -W error "$work/page.1" > "$work/lint"; then
        fault "the page of consm $verb: $(cat "$work/lint")"
    fi
    if [ -n "$lint" ] && [ -n "$verb" ]; then
        mandoc -Tutf8 "$work/page.1" | sed 's/.\x08//g' > "$work/page.txt"
        for flag in $("$consm" help "$verb" | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE '\-\-[a-z-]+'); do
            grep -qF -- "$flag" "$work/page.txt" || fault "no $flag in the page of $verb"
        done
    fi
    "$consm" help $verb > "$work/help"
    [ -z "$verb" ] || grep -q "^  consm $verb" "$work/help" || fault "help $verb has no example"
done

"$consm" help --completion bash > "$work/bash" || fault "bash completion"
bash -n "$work/bash" || fault "bash completion does not parse"
# complete WORDS…: what bash would offer for the last word. (Readers take all of it: grep -q would
# leave early, and the broken pipe would count as a fault.)
complete_words() {
    bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _consm; printf "%s\n" "${COMPREPLY[@]}"' \
        "$work/bash" "$@"
}
complete_words consm tr | grep -x train > /dev/null || fault "consm tr<tab>"
complete_words consm help pre | grep -x predict > /dev/null || fault "consm help pre<tab>"
complete_words consm train --hid | grep -x -- --hidden > /dev/null || fault "consm train --hid<tab>"
complete_words consm train --model gc | grep -x gcn > /dev/null || fault "consm train --model gc<tab>"
complete_words consm train -m gc | grep -x gcn > /dev/null || fault "consm train -m gc<tab>"
complete_words consm train --class-weights b | grep -x balanced > /dev/null || fault "--class-weights b<tab>"
complete_words consm train kar | grep -x karate > /dev/null || fault "consm train kar<tab>"
for shell in zsh fish; do
    "$consm" help --completion $shell > "$work/$shell" || fault "$shell completion"
    for word in train predict hidden class-weights balanced; do
        grep -q "$word" "$work/$shell" || fault "no $word in the completion for $shell"
    done
    if command -v $shell > /dev/null; then
        $shell -n "$work/$shell" || fault "$shell completion does not parse"
    fi
done
"$consm" help --completion tcsh 2> "$work/err" && fault "tcsh"
grep -q "bash, zsh or fish" "$work/err" || fault "$(cat "$work/err")"
# The reference is what the header says.
if command -v python3 > /dev/null; then
    python3 scripts/api-reference --check || fault "docs/api.md"
fi
verdict
