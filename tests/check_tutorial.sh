#!/usr/bin/env bash
# The tutorial, typed as it stands: every block that begins with a command is run in one folder, and
# what is printed must be what the page shows. Numbers may differ (times do, and digits between
# processors), and with them which edges are distrusted most. Blocks marked ```text are not run.
# usage: check_tutorial.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
page=$PWD/docs/tutorial.md
mkdir "$work/bin" "$work/walk"
ln -s "$consm" "$work/bin/consm"
PATH=$work/bin:$PATH
cp -r examples/friends "$work/walk"
cd "$work/walk" || exit 1

masked() {
    sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/^[A-Z][a-z]+,[A-Z][a-z]+,N,N$/an edge/'
}

blocks=0 inside=no
while IFS= read -r line; do
    case $inside,$line in
        no,'```') inside=first ;;
        no,'```'*) inside=other ;;
        *,'```')
            if [ $inside = run ]; then
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
done < "$page"
[ $blocks -ge 6 ] || fault "only $blocks blocks were found in the tutorial"
verdict
