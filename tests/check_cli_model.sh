#!/usr/bin/env bash
# What one does with a trained model: evaluate, predict with labels there, explain. The edge that
# explain names first must be the one whose removal changes the prediction most.
# usage: check_cli_model.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
said() { grep -qF -- "$1" "$work/out" "$work/err" || fault "not said: $1; but: $(cat "$work/out" "$work/err")"; }

cp -r examples/friends "$work/friends"
expect 0 "" train "$work/friends" -m gcn --epochs 100 -q -o "$work/o"
model=$work/o/model.safetensors

# ---- evaluate and predict -------------------------------------------------------------------------
expect 0 "8 labelled nodes: accuracy" evaluate "$model" "$work/friends"
said "these are the data it was trained on"
said "chess"
expect 0 '{"nodes": 8, "accuracy": ' evaluate "$model" "$work/friends" --json
awk -F, -v OFS=, 'NR > 1 && $2 == "choir" { $2 = "band" } { print }' "$work/friends/nodes.csv" > "$work/n.csv"
mkdir "$work/other"
cp "$work/friends/edges.csv" "$work/other"
cp "$work/n.csv" "$work/other/nodes.csv"
expect 0 "4 labelled nodes" evaluate "$model" "$work/other" # the model knows no band
awk -F, -v OFS=, 'NR > 1 { $2 = "" } { print }' "$work/friends/nodes.csv" > "$work/other/nodes.csv"
expect 2 "no node has a label that the model knows" evaluate "$model" "$work/other"
expect 2 "expected a model and a graph" evaluate "$model"
expect 0 "on the 8 nodes with labels" predict "$model" "$work/friends" -o "$work/p.csv"
cmp -s "$work/p.csv" "$work/o/predictions.csv" || fault "predictions differ"
expect 0 '{"id": "Ada", "label": "' predict "$model" "$work/friends" --json --probabilities
said '"probabilities": {"chess": 0.'
[ "$(grep -c '"confidence"' "$work/out")" = 30 ] || fault "not 30 objects"

# ---- for Gephi -------------------------------------------------------------------------------------
for end in graphml gexf; do
    expect 0 "" predict "$model" "$work/friends" -o "$work/p.csv" --graph "$work/g.$end"
    [ "$(grep -c "<node " "$work/g.$end")" = 30 ] || fault "$end: nodes"
    [ "$(grep -c "<edge " "$work/g.$end")" = 70 ] || fault "$end: edges"
    grep -q 'trust' "$work/g.$end" || fault "$end: no trust"
    if command -v python3 > /dev/null; then
        python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$work/g.$end" || fault "$end is no XML"
    fi
done
expect 2 "expected a name that ends in .graphml or .gexf" predict "$model" "$work/friends" --graph "$work/g.dot"

# ---- explain --------------------------------------------------------------------------------------
expect 0 "Ada: probability of " explain "$model" "$work/friends" Ada
grep -qE '^ *effect +feature +value +usual' "$work/out" || fault "no table of features: $(cat "$work/out")"
grep -qE '^ *effect +neighbour +label +predicted +probability +edge trust' "$work/out" || fault "no table of neighbours"
grep -qE '^ *[-+][0-9.]+ +evenings_out +[-0-9.]+ +[-0-9.]+ to [-0-9.]+$' "$work/out" || fault "no value behind evenings_out"
expect 2 "did you mean chess?" explain "$model" "$work/friends" Ada --label ches
for class in $(cut -d, -f2 "$work/friends/nodes.csv" | tail -n +2 | sort -u); do
    expect 0 "Ada: probability of $class " explain "$model" "$work/friends" Ada --label $class
done
expect 0 '"complete": false, "in_reach": {"edges": ' explain "$model" "$work/friends" Ada --limit 1 --json
expect 0 'The nearest 1 of ' explain "$model" "$work/friends" Ada --limit 1
expect 2 "has no node Nobody" explain "$model" "$work/friends" Nobody
expect 2 "expected a model, a graph and a node" explain "$model" "$work/friends"
expect 0 '"complete": true' explain "$model" "$work/friends" Ada --json
label=$(sed -E 's/.*"label": "([a-z]+)".*/\1/' "$work/out")
sed 's/.*"edges": \[//; s/\].*//; s/}, {/\n/g' "$work/out" |
    sed -E 's/.*"source": "([^"]*)", "target": "([^"]*)", "effect": ([-0-9.e]+), "log_odds": ([-0-9.e]+), .*/\1 \2 \3 \4/' > "$work/effects"
[ "$(wc -l < "$work/effects")" -ge 5 ] || fault "explain names fewer than five edges"
column=$([ "$label" = chess ] && echo 4 || echo 5)
chance() { "$consm" predict "$model" "$1" --probabilities 2> /dev/null | awk -F, -v c="$column" '$1 == "Ada" { print $c }'; }
cp -r "$work/friends" "$work/without"
whole=$(chance "$work/friends")
largest=0 number=0
while read -r from to effect odds; do
    grep -vE "^($from,$to|$to,$from)\$" "$work/friends/edges.csv" > "$work/without/edges.csv"
    change=$(awk -v a="$whole" -v b="$(chance "$work/without")" 'BEGIN { printf "%.5f", a - b }')
    awk -v a="$change" -v b="$effect" 'BEGIN { exit !(a - b < 2e-5 && b - a < 2e-5) }' ||
        fault "without $from – $to the probability falls by $change, not by $effect"
    size=$(awk -v a="$odds" 'BEGIN { print a < 0 ? -a : a }')
    [ $number -gt 0 ] || largest=$size
    awk -v a="$size" -v b="$largest" 'BEGIN { exit !(a <= b) }' || fault "$from – $to changes more than the first edge"
    awk -v a="$odds" -v b="$effect" 'BEGIN { exit !(a * b >= 0) }' || fault "$from – $to: log-odds $odds, effect $effect"
    number=$((number + 1))
done < <(head -8 "$work/effects")

verdict
