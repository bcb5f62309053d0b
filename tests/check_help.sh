#!/usr/bin/env bash
# Help in all its forms: every verb has a valid manual page, and completion knows verbs, flags and the words
# that a flag accepts.
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
# Typed words and their completion with <tab>, the same for all three shells.
typed=("tr" "help pre" "train --hid" "train --model gcni" "train -m gcni" "train --class-weights b"
    "train kar" "study acc" "generate cs" "convert --to np" "info --format geo")
becomes=(train predict --hidden gcnii gcnii balanced karate accuracy csbm npz geom-gcn)
for i in "${!typed[@]}"; do
    # shellcheck disable=SC2086 # words of a command line
    complete_words consm ${typed[i]} | grep -x -- "${becomes[i]}" > /dev/null ||
        fault "bash: consm ${typed[i]}<tab> offers $(complete_words consm ${typed[i]} | head -3)"
done
for shell in zsh fish; do
    "$consm" help --completion $shell > "$work/_consm" || fault "$shell completion"
    if ! command -v $shell > /dev/null; then
        echo "SKIPPED: trying completion in $shell needs $shell"
        grep -q "balanced" "$work/_consm" || fault "no balanced in the completion for $shell"
        continue
    fi
    $shell -n "$work/_consm" || fault "$shell completion does not parse"
    if [ $shell = fish ]; then
        # shellcheck disable=SC2016 # fish expands it
        for line in "${typed[@]}"; do
            HOME=$work fish --no-config -c 'source $argv[1]; complete -C "consm $argv[2]" | head -1 | cut -f1' \
                "$work/_consm" "$line"
        done > "$work/tabs"
    else
        timeout 900 zsh -f tests/complete.zsh "$work" "$work/tabs" "${typed[@]/#/consm }" ||
            fault "zsh did not answer"
    fi
    for i in "${!typed[@]}"; do
        line=$(sed -n "$((i + 1))p" "$work/tabs")
        case "consm ${line#consm } " in
            *" ${becomes[i]} "* | *" ${becomes[i]}= "*) ;;
            *) fault "$shell: consm ${typed[i]}<tab> becomes: $line" ;;
        esac
    done
done
"$consm" help --completion tcsh 2> "$work/err" && fault "tcsh"
grep -q "bash, zsh or fish" "$work/err" || fault "$(cat "$work/err")"
# The C reference agrees with the headers.
if command -v python3 > /dev/null; then
    python3 scripts/api-reference --check || fault "docs/reference/c.md"
fi
verdict
