#!/usr/bin/env bash
# Using a trained model: evaluate, predict on labelled data, explain. The edge that explain lists first must
# be the one whose removal changes the prediction most.
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
expect 0 "the model was trained or validated on 8 of 8 labelled nodes; new to it: 0" evaluate "$model" "$work/friends"
said "the model was trained on these data"
said "seen (says little about other nodes): 8 labelled nodes: accuracy"
said "chess"
expect 0 '{"nodes": 8, "accuracy": ' evaluate "$model" "$work/friends" --json
grep -q '"ece": null' "$work/out" && ! grep -q '"ece": 0' "$work/out" || fault "a calibration error of 8 nodes"
awk -F, -v OFS=, 'NR > 1 && $2 == "choir" { $2 = "band" } { print }' "$work/friends/nodes.csv" > "$work/n.csv"
mkdir "$work/other"
cp "$work/friends/edges.csv" "$work/other"
cp "$work/n.csv" "$work/other/nodes.csv"
# The model does not know the class band: these nodes count as errors.
expect 0 "4 nodes of a class unknown to the model: counted as errors" evaluate "$model" "$work/other"
expect 0 '"unknown_class_nodes": 4' evaluate "$model" "$work/other" --json
grep -qE '^{"nodes": 8, "accuracy": 0\.[0-5]' "$work/out" || fault "accuracy above half: $(cut -c1-80 "$work/out")"
# Next week: all but Ada have new ids, and all have labels. Ada may be a training or validation node.
mkdir "$work/week"
awk -F, -v OFS=, 'NR > 1 { for (i = 1; i <= 2; i++) if ($i != "Ada") $i = "new " $i } { print }' "$work/friends/edges.csv" > "$work/week/edges.csv"
awk -F, -v OFS=, 'NR > 1 && $1 != "Ada" { $1 = "new " $1 } NR > 1 { $2 = NR % 2 ? "chess" : "choir" } { print }' "$work/friends/nodes.csv" > "$work/week/nodes.csv"
ada=$(awk -F, '$1 == "Ada" && $2 != "" { print 1 }' "$work/friends/nodes.csv")
expect 0 "the model was trained or validated on ${ada:-0} of 30 nodes; new to it: $((30 - ${ada:-0}))" predict "$model" "$work/week" -o "$work/p.csv"
expect 0 "$([ -n "$ada" ] && echo "on 1 of 30 labelled nodes" || echo "all nodes are new to the model")" evaluate "$model" "$work/week"
expect 0 "\"new\": {\"nodes\": $((30 - ${ada:-0})), " evaluate "$model" "$work/week" --json
# A graph whose nodes have no ids cannot be compared.
expect 0 "" train csbm:nodes=100 -m gcn --epochs 3 --per-class 4 -q -o "$work/numbers"
"$consm" generate csbm:nodes=100,seed=5 -o "$work/other.npz" > /dev/null 2>&1
expect 0 "cannot tell new from seen nodes" evaluate "$work/numbers/model.safetensors" "$work/other.npz"
expect 0 ', "new": null, "seen": null}' evaluate "$work/numbers/model.safetensors" "$work/other.npz" --json
expect 0 "of 100 labelled nodes; new to it" evaluate "$work/numbers/model.safetensors" csbm:nodes=100
awk -F, -v OFS=, 'NR > 1 { $2 = "" } { print }' "$work/friends/nodes.csv" > "$work/other/nodes.csv"
expect 2 "no node has a label of a class that the model knows" evaluate "$model" "$work/other"
expect 2 "expected a model and a graph" evaluate "$model"
expect 0 "on the 8 nodes with labels" predict "$model" "$work/friends" -o "$work/p.csv"
cmp -s "$work/p.csv" "$work/o/predictions.csv" || fault "predictions differ"
expect 0 '{"id": "Ada", "label": "' predict "$model" "$work/friends" --json --probabilities
said '"probabilities": {"chess": 0.'
[ "$(grep -c '"confidence"' "$work/out")" = 30 ] || fault "not 30 objects"
[ "$(grep -c '"seen": true' "$work/out")" = 8 ] || fault "not 8 seen nodes"

# ---- the most probable ones ------------------------------------------------------------------------
expect 2 "need --class CLASS" predict "$model" "$work/friends" --top 5
expect 2 "did you mean choir?" predict "$model" "$work/friends" --top 5 --class chior
expect 0 "id,label,confidence,p_choir,log_odds,seen" predict "$model" "$work/friends" --top 5 --class choir
[ "$(wc -l < "$work/out")" = 6 ] || fault "--top 5 gives $(wc -l < "$work/out") lines"
tail -n +2 "$work/out" | cut -d, -f5 | sort -grc || fault "--top is not in order: $(cat "$work/out")"
first=$(sed -n 2p "$work/out" | cut -d, -f1)
best=$("$consm" predict "$model" "$work/friends" --probabilities 2> /dev/null | tail -n +2 | sort -t, -k5,5gr | head -1 | cut -d, -f5)
[ "$(sed -n 2p "$work/out" | cut -d, -f4)" = "$best" ] || fault "$first is not the most probable"
expect 0 "" predict "$model" "$work/friends" --threshold 0.1 --class choir --probabilities
awk -F, 'NR > 1 && ($5 >= 0.1) != ($2 == "choir") { exit 1 }' "$work/out" || fault "--threshold does not decide"

# ---- every verb that computes uses --device --------------------------------------------------------
for verb in predict edges evaluate "clean -o $work/never" "predict --embeddings $work/never.npy" "predict --graph $work/never.gml" "edges --suggest 2"; do
    # shellcheck disable=SC2086 # words of a command line
    set -- $verb
    expect 2 "unknown device quantum" "$1" "$model" "$work/friends" "${@:2}" --device quantum
done

# ---- for Gephi and NetworkX ------------------------------------------------------------------------
# Ids, direction, weights and attributes stay; predictions and trust are added. Read back, the graph is the same.
for end in graphml gexf gml json; do
    expect 0 "" predict "$model" "$work/friends" -o "$work/p.csv" --graph "$work/g.$end"
    grep -q 'Ada' "$work/g.$end" || fault "$end: ids are gone"
    grep -q 'trust' "$work/g.$end" || fault "$end: no trust"
    grep -q 'predicted' "$work/g.$end" || fault "$end: no predictions"
    grep -q 'seen' "$work/g.$end" || fault "$end: does not say which nodes the model learned from"
    grep -q 'evenings' "$work/g.$end" || fault "$end: attributes are gone"
    expect 0 "" predict "$model" "$work/g.$end" --ignore predicted,confidence,seen
    tail -n +2 "$work/out" | cut -d, -f1,2 | cmp -s - <(tail -n +2 "$work/p.csv" | cut -d, -f1,2) || fault "$end: read back it is another graph"
done
for end in graphml gexf; do
    [ "$(grep -c "<node " "$work/g.$end")" = 30 ] || fault "$end: nodes"
    [ "$(grep -c "<edge " "$work/g.$end")" = 70 ] || fault "$end: edges"
    if command -v python3 > /dev/null; then
        python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$work/g.$end" || fault "$end is not XML"
    fi
done
if command -v python3 > /dev/null; then
    python3 -c 'import json, sys; g = json.load(open(sys.argv[1])); assert len(g["nodes"]) == 30 and len(g["links"]) == 70' "$work/g.json" ||
        fault "g.json is not node-link JSON"
fi
expect 2 "expected a name that ends in .graphml, .gexf, .gml or .json" predict "$model" "$work/friends" --graph "$work/g.dot"
# A directed graph with weights, unusual names, missing cells and a split is written and read back without loss.
mkdir "$work/odd"
printf 'source,target,weight\n"a & b",c,0.25\nc,"d ""q""",2\n"d ""q""","a & b",3\ne,c,1\n' > "$work/odd/edges.csv"
printf 'id,label,split,land,age\n"a & b",x<y,train,DE,4\nc,z,val,FR,\n"d ""q""",x<y,test,DE,7.5\ne,,,,1\n' > "$work/odd/nodes.csv"
"$consm" convert "$work/odd" "$work/plain" > /dev/null 2>&1 || fault "convert to plain"
for end in graphml gexf gml json; do
    "$consm" convert "$work/odd" "$work/odd.$end" > /dev/null 2> "$work/err" || fault "convert to $end: $(cat "$work/err")"
    "$consm" convert "$work/odd.$end" "$work/back.$end/" --to plain > /dev/null 2> "$work/err" || fault "convert from $end: $(cat "$work/err")"
    for file in nodes.csv edges.csv; do
        cmp -s "$work/plain/$file" "$work/back.$end/$file" || fault "$end, $file: $(diff "$work/plain/$file" "$work/back.$end/$file")"
    done
done

# Attributes that no model reads are kept too: other columns of edges, also if an edge is left out, and columns of
# nodes that training ignored. Added attributes get unused names. Text like 007 and long numbers keep their digits.
mkdir "$work/talks"
awk 'BEGIN { print "caller,callee,minutes,day,note,paid,code"; for (i = 0; i < 40; i++)
        print "p" i ",p" (i + 2) % 40 "," 1 + i % 4 ",d" i "," (i % 3 != 1 ? "\"a, \"\"b\"\" <" i ">\"" : "") "," (i % 2 ? "true" : "False") ",00" i
    print "p1,stranger,1,never,gone,true,009\np3,p7,2,d99,last,true,0099" }' > "$work/talks/edges.csv"
awk 'BEGIN { print "id,kind,age,comment,since,confidence"; for (i = 0; i < 40; i++)
        print "p" i "," (i % 2 ? "odd" : "even") "," i % 2 * 3 + i % 7 ",remark " i "," 1700000041 + i "," i % 5 }' > "$work/talks/nodes.csv"
expect 0 "" train "$work/talks" -m gcn --epochs 30 -q -o "$work/talker" --source-column caller --target-column callee --weight-column minutes \
    --label-column kind --unknown-nodes drop --ignore comment,day,note,paid,code
for end in graphml gexf gml json; do
    expect 0 "" predict "$work/talker/model.safetensors" "$work/talks" -o "$work/p.csv" --graph "$work/talk.$end"
    for word in d99 remark consm_confidence 1700000079 trust kept 0039; do
        grep -q "$word" "$work/talk.$end" || fault "$end: $word is gone"
    done
    ! grep -qE 'never|gone' "$work/talk.$end" || fault "$end: attributes of an edge that is left out"
    "$consm" convert "$work/talk.$end" "$work/talk-$end" --to plain > /dev/null 2> "$work/err" || fault "talk.$end: $(cat "$work/err")"
    ! grep -q "edges\|attribute" <(grep warning "$work/err") || fault "talk.$end: $(cat "$work/err")"
    tail -n +2 "$work/talk-$end/edges.csv" | sed -E 's/,0\.[0-9]+,(true|false)$//' > "$work/ours"
    grep -v stranger "$work/talks/edges.csv" | tail -n +2 | sed 's/,False,/,false,/' | cmp -s - "$work/ours" || fault "$end: $(diff "$work/ours" "$work/talks/edges.csv" | head -3)"
    expect 0 "" info "$work/talk-$end" # columns of edges that dataset.json lists need no flag
done
# Edges keep their ids in every format.
{
    echo '<graphml><key id="k" for="node" attr.name="kind"/><key id="i" for="edge" attr.name="id"/><graph edgedefault="undirected">'
    for i in {0..19}; do echo "<node id=\"p$i\"><data key=\"k\">$((i % 2))</data></node>"; done
    for i in {0..18}; do echo "<edge id=\"tx-$((900 - i))\" source=\"p$i\" target=\"p$((i + 1))\"><data key=\"i\">own $i</data></edge>"; done
    echo '<edge id="e20" source="p0" target="p5"/><edge source="p1" target="p7"/></graph></graphml>'
} > "$work/ids.graphml"
ids_of() { grep -oE '<edge( id="[^"]*")? source="[^"]*" target="[^"]*"' "$1"; }
ids_of "$work/ids.graphml" > "$work/ids"
for end in graphml gexf gml json plain; do
    "$consm" convert "$work/ids.graphml" "$work/ids.2.$end" --to $end > /dev/null 2> "$work/err" || fault "convert to $end: $(cat "$work/err")"
    "$consm" convert "$work/ids.2.$end" "$work/ids.3.graphml" > /dev/null 2> "$work/err" || fault "convert from $end: $(cat "$work/err")"
    ids_of "$work/ids.3.graphml" | cmp -s - "$work/ids" || fault "$end: edges have other ids: $(ids_of "$work/ids.3.graphml" | diff - "$work/ids" | head -4)"
    grep -q 'attr.name="id_"' "$work/ids.3.graphml" && grep -q 'own 7' "$work/ids.3.graphml" || fault "$end: an attribute id is lost"
done
expect 0 "" train "$work/ids.graphml" --label-column kind -m gcn --epochs 5 -q -o "$work/identified"
expect 0 "" predict "$work/identified/model.safetensors" "$work/ids.graphml" -o "$work/p.csv" --graph "$work/ids.4.gexf"
ids_of "$work/ids.4.gexf" | cmp -s - "$work/ids" || fault "predict --graph: edges have other ids"
expect 0 "" clean "$work/identified/model.safetensors" "$work/ids.graphml" --to graphml -o "$work/ids.5" --drop 0.2 --add 2
ids_of "$work/ids.5/graph.graphml" > "$work/ids.left"
[ "$(grep -cxFf "$work/ids" "$work/ids.left")" -ge 16 ] || fault "clean: edges have other ids: $(cat "$work/ids.left")"
[ "$(grep -c '<edge source' "$work/ids.left")" -ge 2 ] || fault "clean: added edges have ids"
# GEXF's display names stay, too, and no model reads them.
{
    echo '<gexf><graph><nodes>'
    for i in {0..19}; do echo "<node id=\"p$i\" label=\"Person $i &amp; Co\"/>"; done
    echo '</nodes><edges><edge id="x" source="p0" target="p1"/></edges></graph></gexf>'
} > "$work/titles.gexf"
"$consm" convert "$work/titles.gexf" "$work/titles.2.gexf" > "$work/out" 2>&1 || fault "convert of titles: $(cat "$work/out")"
[ "$(grep -c 'label="Person [0-9]* &amp; Co"' "$work/titles.2.gexf")" = 20 ] || fault "display names are gone: $(sed -n 5,9p "$work/titles.2.gexf")"
! grep -q display_name "$work/titles.2.gexf" || fault "a display name became an attribute"
"$consm" convert "$work/titles.2.gexf" "$work/titles.json" > "$work/out" 2>&1 || fault "convert of titles: $(cat "$work/out")"
grep -q '"display_name": "Person 7 & Co"' "$work/titles.json" || fault "display names are gone in JSON"
expect 0 "nodes" info "$work/titles.gexf"
! grep -q display_name "$work/out" || fault "a display name is a feature"
# If two edges have the same id, the ids become an ordinary attribute.
sed 's/tx-89[0-9]/twin/' "$work/ids.graphml" > "$work/twins.graphml"
"$consm" convert "$work/twins.graphml" "$work/twins.gexf" > /dev/null 2>&1 || fault "convert of twins"
[ "$(grep -c '<edge id=' "$work/twins.gexf")" = 0 ] || fault "two edges have one id"
[ "$(grep -c 'value="twin"' "$work/twins.gexf")" = 10 ] || fault "ids that are not unique are lost"

"$consm" convert "$work/talks" "$work/talks.json" --ignore minutes --unknown-nodes drop --source-column caller --target-column callee \
    --label-column kind > "$work/out" 2> "$work/err" || fault "convert: $(cat "$work/err")"
said "column day is stored as an attribute; to use it as weight: --weight-column day"
! grep -q minutes "$work/talks.json" || fault "an ignored column is written"
"$consm" convert "$work/talk.gml" "$work/talk.npz" > "$work/out" 2> "$work/err" || fault "convert: $(cat "$work/err")"
said "cannot store the edges' attributes, such as day: they are not written"
expect 0 "" clean "$work/talker/model.safetensors" "$work/talks" -o "$work/quiet" --drop 0.2
awk -F, 'NR > 1 && $1 != "p3" && "d" substr($1, 2) != $4 { bad = 1 } END { exit bad }' "$work/quiet/edges.csv" || fault "clean mixes attributes up"

# ---- some nodes -------------------------------------------------------------------------------------
"$consm" predict "$model" "$work/friends" --probabilities > "$work/all.csv" 2> /dev/null
two=$(cut -d, -f1 "$work/all.csv" | sed -n '3p;8p')
(head -1 "$work/all.csv"; sed -n '3p;8p' "$work/all.csv") > "$work/expected"
expect 0 "" predict "$model" "$work/friends" --probabilities --nodes "$(echo "$two" | paste -sd,)"
cmp -s "$work/out" "$work/expected" || fault "--nodes a,b: $(diff "$work/out" "$work/expected")"
echo "$two" > "$work/nodes.txt"
expect 0 "" predict "$model" "$work/friends" --probabilities --nodes "$work/nodes.txt"
cmp -s "$work/out" "$work/expected" || fault "--nodes FILE: $(diff "$work/out" "$work/expected")"
expect 2 'has no node "Nobody"' predict "$model" "$work/friends" --nodes Ada,Nobody
expect 2 "contains no node id" predict "$model" "$work/friends" --nodes ,
expect 2 "--nodes cannot be combined with --graph" predict "$model" "$work/friends" --nodes Ada --graph "$work/g.gml"

# ---- training from a model, and what changed ----------------------------------------------------------
expect 0 "nodes have different labels, compared with $model" train "$work/friends" --from "$model" --epochs 2 -o "$work/next"
flips=$(grep -oE '^[0-9]+ of [0-9]+ nodes have different labels' "$work/out")
grep -q '>Changes<' "$work/next/report.html" || fault "the report does not say what changed"
grep -q "Compared with the model that training began with, ${flips%% *} of 30 nodes have another label" "$work/next/report.html" ||
    fault "the report counts other changes: $(grep -o 'Compared with the model[^.]*' "$work/next/report.html")"
! grep -q '>Changes<' "$work/o/report.html" || fault "a report without --from has changes"
expect 0 "$flips" compare "$model" "$work/next/model.safetensors" "$work/friends"
"$consm" predict "$work/next/model.safetensors" "$work/friends" 2> /dev/null | cut -d, -f1,2 > "$work/labels.next"
cut -d, -f1,2 "$work/all.csv" | diff - "$work/labels.next" | grep -c '^>' > "$work/count"
[ "$(cut -d' ' -f1 <<< "$flips")" = "$(cat "$work/count")" ] || fault "compare: $flips, but predictions differ in $(cat "$work/count")"
expect 0 '"flipped": 0' compare "$model" "$model" "$work/friends" --json
expect 0 '0 of 70 edges differ in trust by 0.1' compare "$model" "$model" "$work/friends"
expect 2 "expected two models and a graph" compare "$model" "$work/friends"
expect 2 "expected mlp, as in the options" train "$work/friends" --from "$model" --model mlp

# ---- explain --------------------------------------------------------------------------------------
expect 0 "Ada: probability of " explain "$model" "$work/friends" Ada
expect 0 " before shrinking towards uniform)" explain "$model" "$work/friends" Ada # two nodes validate
grep -qE '^ *effect +feature +value +usual' "$work/out" || fault "no table of features: $(cat "$work/out")"
grep -qE '^ *effect +neighbour +label +predicted +probability +edge trust' "$work/out" || fault "no table of neighbours"
grep -qE '^ *[-+][0-9.]+ +evenings_out +[-0-9.]+ +[-0-9.]+ to [-0-9.]+$' "$work/out" || fault "no value behind evenings_out"
expect 2 "did you mean chess?" explain "$model" "$work/friends" Ada --label ches
for class in $(cut -d, -f2 "$work/friends/nodes.csv" | tail -n +2 | sort -u); do
    expect 0 "Ada: probability of $class " explain "$model" "$work/friends" Ada --label $class
done
expect 0 '"complete": false, "in_reach": {"edges": ' explain "$model" "$work/friends" Ada --limit 1 --json
expect 0 'Tested the nearest 1 of ' explain "$model" "$work/friends" Ada --limit 1
expect 2 "has no node \"Nobody\"" explain "$model" "$work/friends" Nobody
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

# A model of dense features predicts a graph whose features have many zeros.
numbers() { # SEED COLUMNS-WITH-NUMBERS
    awk -v seed="$1" -v full="$2" 'BEGIN { srand(seed); print "id,a,b,c,d,e"; for (i = 0; i < 40; i++) { printf "%d", i
        for (k = 0; k < 5; k++) printf ",%.2f", k < full ? rand() + (i < 20) : 0; print "" } }'
}
awk 'BEGIN { for (i = 0; i < 40; i++) print i "," (i + 1) % 40 }' > "$work/ring.csv"
awk 'BEGIN { print "id,label"; for (i = 0; i < 40; i++) print i "," (i < 20 ? "x" : "y") }' > "$work/ring_labels.csv"
numbers 1 4 > "$work/full.csv"
numbers 2 1 > "$work/zeros.csv"
"$consm" train "$work/ring.csv" --labels "$work/ring_labels.csv" --features "$work/full.csv" -m gcn --epochs 5 --quiet -o "$work/full" \
    > "$work/out" 2>&1 || fault "train on a full table: $(cat "$work/out")"
grep -q 'normalize_features: standard' "$work/full/config.yaml" || fault "a full table is not standardised"
"$consm" predict "$work/full/model.safetensors" "$work/ring.csv" --features "$work/zeros.csv" -o "$work/zeros_out.csv" > "$work/out" 2>&1 ||
    fault "predict with many zeros: $(cat "$work/out")"
[ "$(wc -l < "$work/zeros_out.csv")" = 41 ] || fault "predict with many zeros: $(wc -l < "$work/zeros_out.csv") lines"

verdict
