#!/usr/bin/env bash
# Cleaning a graph: which edges are dropped and added, why, in which format, and what is never overwritten.
# usage: check_cli_clean.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
begun_output_is_fine=yes
edges() { tail -n +2 "$1/edges.csv" | wc -l; }
changed() { grep -c ",$2," "$1/changes.csv"; }

# Two groups with edges between them; directed, with weights, a split and names.
mkdir "$work/g"
awk 'BEGIN { print "source,target,weight"; for (i = 0; i < 120; i++) { print "n" i ",n" (i + 2) % 120 "," 1 + i % 3; print "n" i ",n" (i + 4) % 120 ",2"
    if (i % 4 == 0) print "n" i ",n" (i + 7) % 120 ",3" } }' > "$work/g/edges.csv"
awk 'BEGIN { print "id,label,split,amount"; for (i = 0; i < 120; i++) print "n" i "," (i % 2 ? "odd" : "even") "," (i % 3 ? "train" : i % 2 ? "val" : "test") "," (i % 2) * 3 + i % 5 }' \
    > "$work/g/nodes.csv"
expect 0 "" train "$work/g" --backbone gcn --warmup 40 --rounds 1 --gnn-steps 5 --match-steps 5 -o "$work/model"
model=$work/model/model.safetensors

# By default the edges that `consm edges` does not keep are dropped; the table agrees edge by edge.
expect 0 "edges, added 0; changes.csv gives the reasons" clean "$model" "$work/g" -o "$work/a"
"$consm" edges "$model" "$work/g" -o "$work/trust.csv" > /dev/null 2>&1
awk -F, 'NR > 1 && $4 == 0 { print $1 "," $2 }' "$work/trust.csv" | sort > "$work/want"
tail -n +2 "$work/a/changes.csv" | cut -d, -f1,2 | sort | cmp -s - "$work/want" || fault "changes.csv is not what edges does not keep"
[ -s "$work/want" ] || fault "nothing was dropped"
[ "$(head -1 "$work/a/changes.csv")" = "source,target,change,score,low,high,why" ] || fault "$(head -1 "$work/a/changes.csv")"
awk -F, 'NR > 1 && (NF != 7 || $7 == "" || $4 < 0 || $4 > 1 || $5 > $4 || $6 < $4) { bad = 1 } END { exit bad }' "$work/a/changes.csv" ||
    fault "a row without a reason, or a score outside of its interval: $(head -3 "$work/a/changes.csv")"
# A reason is true: its evidence is below or above the mean over all edges, as the words say.
true_reasons() { # FOLDER WITNESSES
    awk -F, 'BEGIN { split("subgraphs do not match;predicted classes differ;predictions from features alone differ;at least one prediction is uncertain;features differ;one feature vector is larger than the other;few common neighbours;degrees differ;no end is a training node;predictions differ at a training node", low, ";")
            split("subgraphs match;predicted classes agree;predictions from features alone agree;both predictions are certain;features are similar;feature vectors are of similar size;common neighbours;degrees are similar;an end is a training node;predictions agree at a training node", high, ";") }
        NR == FNR { if (FNR > 1) { n++; for (k = 1; k <= 10; k++) { x[$1 "," $2, k] = $(6 + k); sum[k] += $(6 + k) } } next }
        FNR > 1 && $3 == "dropped" { found = 0
            for (k = 1; k <= 10; k++) { v = x[$1 "," $2, k] - sum[k] / n
                if ($7 == low[k]) found = v <= 1e-6 ? 1 : -1
                if ($7 == high[k]) found = v >= -1e-6 ? 1 : -1 }
            if (found < 1) { print; bad = 1 } }
        END { exit bad }' "$2" "$1/changes.csv"
}
"$consm" edges "$model" "$work/g" --witnesses -o "$work/witnesses.csv" > /dev/null 2>&1
true_reasons "$work/a" "$work/witnesses.csv" || fault "a reason that is not true"
[ "$(edges "$work/a")" = $((270 - $(changed "$work/a" dropped))) ] || fault "$(edges "$work/a") edges are left"
# Ids, labels, split and attributes do not change, nor do direction and weight of the kept edges.
cmp -s <(cut -d, -f1-3 "$work/g/nodes.csv") <(cut -d, -f1-3 "$work/a/nodes.csv") || fault "nodes.csv changed: $(head -3 "$work/a/nodes.csv")"
[ -z "$(comm -13 <(sort "$work/g/edges.csv") <(sort "$work/a/edges.csv"))" ] || fault "edges changed: $(head -3 "$work/a/edges.csv")"
expect 0 "" evaluate "$model" "$work/a"
expect 0 "" train "$work/a" -m gcn --epochs 3

# A share, a threshold, added pairs.
expect 0 '{"edges": 270, "dropped": 27, "added": 4, "left": 247}' clean "$model" "$work/g" -o "$work/b" --drop 0.1 --add 4 --json
[ "$(changed "$work/b" dropped)" = 27 ] && [ "$(changed "$work/b" added)" = 4 ] || fault "$(cat "$work/b/changes.csv")"
awk -F, 'NR > 1 { print $3 }' "$work/trust.csv" | sort -g | head -27 | tail -1 > "$work/last"
awk -F, -v last="$(cat "$work/last")" '$3 == "dropped" && $4 > last + 1e-6 { bad = 1 } END { exit bad }' "$work/b/changes.csv" ||
    fault "--drop 0.1 does not drop the edges of least trust"
# Where neighbours differ, evidence may have a negative weight: common neighbours speak against an edge.
differs=csbm:nodes=200,homophily=0.2,seed=1
expect 0 "" train $differs --split random --per-class 10 --backbone gcn --warmup 40 --rounds 1 --gnn-steps 5 --match-steps 5 -o "$work/differs"
expect 0 "" clean "$work/differs/model.safetensors" $differs -o "$work/differing" --threshold 0.9
"$consm" edges "$work/differs/model.safetensors" $differs --witnesses -o "$work/differing.csv" > /dev/null 2>&1
true_reasons "$work/differing" "$work/differing.csv" || fault "a reason that is not true, with a negative weight"
grep -q ",dropped,.*,common neighbours" "$work/differing/changes.csv" || fault "no weight is negative"
expect 0 "dropped 0 of 270 edges" clean "$model" "$work/g" -o "$work/c" --threshold 0
expect 0 "" clean "$model" "$work/g" -o "$work/d" --threshold 0.9
awk -F, 'NR > 1 && $4 >= 0.9 { bad = 1 } END { exit bad }' "$work/d/changes.csv" || fault "--threshold 0.9 drops what has more"
true_reasons "$work/d" "$work/witnesses.csv" || fault "a reason that is not true, with --threshold 0.9"
[ "$(changed "$work/d" dropped)" = "$(awk -F, 'NR > 1 && $3 < 0.9' "$work/trust.csv" | wc -l)" ] || fault "--threshold 0.9 keeps what has less"
expect 2 "use --drop or --threshold, not both" clean "$model" "$work/g" -o "$work/e" --threshold 0.9 --drop 0.1
expect 2 "--drop" clean "$model" "$work/g" -o "$work/e" --drop 1.5
expect 2 "missing -o FOLDER, the folder for the cleaned graph" clean "$model" "$work/g"

# --drop auto: the share that the model was trained without, as in metrics.json.
for share in 0 0.2; do
    expect 0 "" train "$work/g" --backbone gcn --warmup 40 --rounds 1 --gnn-steps 5 --match-steps 5 --drop-share $share -o "$work/without-$share"
    count=$(sed -n 's/.*"dropped": *\([0-9.e-]*\).*/\1/p' "$work/without-$share/metrics.json" | awk 'NR == 1 { printf "%.0f", 270 * $1 }')
    expect 0 "dropped $count of 270 edges" clean "$work/without-$share/model.safetensors" "$work/g" -o "$work/auto-$share" --drop auto
    [ $share = 0 ] && [ "$count" = 0 ] || [ "${count:-0}" -ge 40 ] || fault "metrics.json says that $count edges were dropped, asked for $share"
done
expect 2 "--drop" clean "$model" "$work/g" -o "$work/e" --drop some

# Every written format reads back as the same graph as the plain folder.
"$consm" info "$work/b" --json | grep -oE '"(nodes|edges|features|classes)": [0-9]+' > "$work/plain"
for format in npz safetensors graphml gexf gml json; do
    expect 0 "" clean "$model" "$work/g" -o "$work/as-$format" --drop 0.1 --add 4 --to "$format"
    cmp -s "$work/b/changes.csv" "$work/as-$format/changes.csv" || fault "$format: other changes"
    expect 0 "" info "$work/as-$format/graph.$format" --json
    grep -oE '"(nodes|edges|features|classes)": [0-9]+' "$work/out" | cmp -s - "$work/plain" || fault "$format: $(cat "$work/out")"
done
expect 2 "odt" clean "$model" "$work/g" -o "$work/e" --to odt
[ ! -e "$work/e" ] || fault "a refused run left a folder"

# The input graph is never overwritten, a folder with files only with --force.
before=$(cat "$work/g"/* | sha256sum)
expect 2 "is the input graph: choose another output folder" clean "$model" "$work/g" -o "$work/g" --force
expect 2 "is the input graph" clean "$model" "$work/g" -o "$work/../$(basename "$work")/g/"
[ "$before" = "$(cat "$work/g"/* | sha256sum)" ] || fault "the graph itself was changed"
expect 2 "a is not empty: choose another folder or use --force" clean "$model" "$work/g" -o "$work/a" --drop 0.5
[ "$(edges "$work/a")" = $((270 - $(changed "$work/a" dropped))) ] || fault "a refused run changed the folder"
expect 0 "dropped 135 of 270 edges" clean "$model" "$work/g" -o "$work/a" --drop 0.5 --force
[ "$(edges "$work/a")" = 135 ] || fault "--force did not replace the folder"
expect 2 "is a file: -o needs a folder" clean "$model" "$work/g" -o "$work/trust.csv"

# Names that a spreadsheet would read as formulas.
sed 's/n0,/=n0,/; s/^n0,/=n0,/' "$work/g/nodes.csv" > "$work/g/x" && mv "$work/g/x" "$work/g/nodes.csv"
sed 's/\bn0,/=n0,/' "$work/g/edges.csv" > "$work/g/x" && mv "$work/g/x" "$work/g/edges.csv"
expect 0 "" clean "$model" "$work/g" -o "$work/safe" --drop 1 --safe-csv
grep -qE "(^|,)'=n0," "$work/safe/changes.csv" || fault "--safe-csv: $(grep n0, "$work/safe/changes.csv" | head -2)"

verdict
