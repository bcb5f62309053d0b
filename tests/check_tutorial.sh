#!/usr/bin/env bash
# The tutorial, typed as it stands: every block that begins with a command is run in one folder, and
# what is printed must be what the page shows. Numbers may differ (times do, and digits between
# processors), and with them which edges are distrusted most. Blocks marked ```text are not run.
# With --record the page gets what is printed: its output is made here, not by hand.
# usage: check_tutorial.sh PATH-TO-consm [--record]
set -uo pipefail
consm=$(realpath "$1") record=${2:-}
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
page=$PWD/docs/tutorial.md
mkdir "$work/bin" "$work/walk"
ln -s "$consm" "$work/bin/consm"
PATH=$work/bin:$PATH
mkdir "$work/walk/examples"
cp -r examples/friends "$work/walk/examples"
cd "$work/walk" || exit 1

masked() {
    sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/^[A-Z][a-z]+,[A-Z][a-z]+,N,N,N,N$/an edge/'
}

blocks=0 inside=no
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
                    fault "block $blocks differs (< the page, > what is printed): $(cat "$work/difference")"
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
    exit
fi
[ $blocks -ge 6 ] || fault "only $blocks blocks were found in the tutorial"
verdict
