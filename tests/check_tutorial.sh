#!/usr/bin/env bash
# Runs the tutorial and the guide for CSV files: every block of a page that begins with a command is run in one
# folder, and the output must be what the page shows. Numbers may differ (times, and digits between processors),
# and with them which edges are distrusted most. Blocks marked ```text are not run.
# --record writes the output into the pages.
# usage: check_tutorial.sh PATH-TO-consm [--record]
set -uo pipefail
consm=$(realpath "$1") record=${2:-}
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
top=$PWD
mkdir "$work/bin"
ln -s "$consm" "$work/bin/consm"
PATH=$work/bin:$PATH

masked() {
    sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/^[A-Z][a-z]+,[A-Z][a-z]+,N,N,N,N$/an edge/'
}

# walk PAGE LEAST: runs the page's blocks; fewer than LEAST blocks are a fault, too.
walk() {
    local page=$top/$1 folder=$work/walk/$1 blocks=0 inside=no line
    mkdir -p "$folder/examples"
    cp -r "$top/examples/friends" "$folder/examples"
    cd "$folder" || exit 1
    rm -f "$work/recorded"
    while IFS= read -r line; do
        case $inside,$line in
            no,'```') inside=first ;;
            no,'```'*) inside=other ;;
            *,'```')
                if [ $inside = run ] && [ "$record" ]; then
                    cat "$work/got" >> "$work/recorded"
                elif [ $inside = run ]; then
                    blocks=$((blocks + 1))
                    diff <(masked < "$work/page") <(masked < "$work/got") > "$work/difference" ||
                        fault "$1: block $blocks differs (< the page, > what is printed): $(cat "$work/difference")"
                fi
                inside=no
                ;;
            first,'$ '* | run,'$ '*)
                [ $inside = run ] || rm -f "$work/page" "$work/got"
                inside=run
                echo "$line" | tee -a "$work/page" >> "$work/got"
                eval "${line#\$ }" >> "$work/got" 2>&1 < /dev/null
                ;;
            first,*) inside=other ;;
            run,*) echo "$line" >> "$work/page" ;;
        esac
        [ $inside = run ] || echo "$line" >> "$work/recorded"
    done < "$page"
    if [ "$record" ]; then
        cp "$work/recorded" "$page"
    elif [ $blocks -lt "$2" ]; then
        fault "only $blocks blocks were found in $1"
    fi
}
walk docs/tutorial.md 6
walk docs/how-to/csv.md 3
verdict
