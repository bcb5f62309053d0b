#!/usr/bin/env bash
# Fraud: one node in fifty, messy labels, few labels, splits without a role. The output must be honest: it warns
# if nothing is found, names what looks wrong, says "unknown" where nothing can be known, and never headlines
# figures of nodes that were used for model selection.
# usage: check_cli_rare.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
begun_output_is_fine=yes
said() { grep -qF -- "$1" "$work/out" "$work/err" || fault "not said: $1; but: $(cat "$work/out" "$work/err")"; }

# ---- one in fifty ---------------------------------------------------------------------------------
# 1,000 people in a ring; every 50th is a fraud, and fraud shows in x most of the time.
mkdir "$work/shop"
awk 'BEGIN { print "source,target"; for (i = 0; i < 1000; i++) print "p" i ",p" (i + 1) % 1000 }' > "$work/shop/edges.csv"
awk 'BEGIN { srand(3); print "id,label,x,y"; for (i = 0; i < 1000; i++) {
    bad = i % 50 == 0; print "p" i "," (bad ? "fraud" : "fine") "," rand() + (bad ? 0.55 : 0) "," rand() } }' > "$work/shop/nodes.csv"
expect 0 "validation metric: average-precision of fraud, chosen by class sizes" \
    train "$work/shop" -m mlp --split random --per-class 8 --epochs 60 -o "$work/shop.out"
said "1000 labels: fine 980, fraud 20"
said "  id from column id; label from column label"
said "fraud: average precision"
said "most probable nodes, "
# Four validation frauds are few: the output says so. The list of suspects has reasons.
said "validation nodes are fraud, so model selection"
grep -qE 'recall [0-9.]+ \([0-9] of [0-9]; 95 % interval 0\.[0-9]+ to [01]\.[0-9]+\)' "$work/err" || fault "no interval: $(cat "$work/err")"
grep -q '"rare": {"class": "fraud", "validation_nodes": [0-9], "few": true, "precision_low": ' "$work/shop.out/metrics.json" ||
    fault "no interval in metrics.json"
[ "$(head -1 "$work/shop.out/suspects.csv")" = rank,id,predicted,p_fraud,log_odds,reasons ] || fault "head of suspects.csv"
tail -n +2 "$work/shop.out/suspects.csv" | cut -d, -f5 | sort -grc || fault "suspects.csv is not ranked by log-odds"
sed -n 2p "$work/shop.out/suspects.csv" | grep -qE ',"?x = [0-9.]+ \(usually [-0-9.]+ to [0-9.]+\) \+[0-9]' ||
    fault "x is not a reason: $(sed -n 2p "$work/shop.out/suspects.csv")"
grep -q "<svg" "$work/shop.out/graph.svg" || fault "no picture of the graph"
[ "$(grep -c "<circle" "$work/shop.out/graph.svg")" = 1000 ] || fault "the picture lacks nodes"
for words in "How many of the most probable nodes are fraud" "Nodes to inspect" "Evidence" "may be fraud: features" \
    "The whole graph" "The graph as it was read" "Settings" "Glossary" "<dt>date</dt>" "Mean average precision" \
    "The nodes most likely to be fraud" "Precision-recall curve" "ROC curve" "Learning curve: validation" \
    "Distribution of trust" "The least trusted edges" '"scores":"'; do
    grep -qF -- "$words" "$work/shop.out/report.html" || fault "the report lacks: $words"
done
grep -q 'class="best"' "$work/shop.out/report.html" && fault "a confusion matrix has no best cell"
expect 0 '"average_precision"' train "$work/shop" -m mlp --epochs 60 --metric log-likelihood --json
said '"metric": "log-likelihood"'

grep -q '"never_predicted": \["fraud"\]' "$work/out" || fault "--json does not say that fraud is never predicted"
said "warning: class fraud was never predicted"
expect 0 '"metric": "average-precision", "positive": "fraud"' train "$work/shop" -m mlp --epochs 3 --json
said '"curve": {"threshold": ['
expect 0 "predicts fraud at probability" train "$work/shop" -m mlp --epochs 60 --threshold-for fraud \
    --at-recall 0.5 -o "$work/threshold"
grep -q '"threshold": {"class": 1, "name": "fraud"' "$work/threshold/metrics.json" || fault "no threshold in metrics.json"
grep -q "^[^,]*,fraud" "$work/threshold/predictions.csv" || fault "the threshold finds nobody"
"$consm" predict "$work/threshold/model.safetensors" "$work/shop" 2> /dev/null | cmp -s - "$work/threshold/predictions.csv" ||
    fault "a loaded model forgets its threshold"
expect 0 "predicts Officer at probability" train karate --per-class 4 -m gcn --epochs 20 --threshold-for Officer
grep -qE '; precision [0-9.]+, recall [0-9.]+ on test' "$work/out" || fault "the threshold on test: $(grep predicts "$work/out")"
expect 0 "validation metric: balanced-accuracy" train "$work/shop" -m mlp --epochs 5 --metric balanced-accuracy
expect 2 "does not have this class; did you mean fraud?" train "$work/shop" --positive fruad
expect 2 "at_precision and at_recall need threshold_for" train "$work/shop" --at-precision 0.9
expect 2 "metric f1: expected one of auto, accuracy" train "$work/shop" --metric f1

# ---- sets that do not leave out the rare class ------------------------------------------------------
# One in ten is bad and hard to recognise: sets over all nodes may leave all of them out.
mkdir "$work/tenth"
awk 'BEGIN { print "source,target"; for (i = 0; i < 4000; i++) print "p" i ",p" (i + 1) % 4000 }' > "$work/tenth/edges.csv"
awk 'BEGIN { srand(5); print "id,label,x"; for (i = 0; i < 4000; i++) {
    bad = i % 10 == 0; print "p" i "," (bad ? "bad" : "good") "," rand() + (bad ? 0.3 : 0) } }' > "$work/tenth/nodes.csv"
tenth=(train "$work/tenth" -m mlp --split random --train-ratio 0.2 --val-ratio 0.4 --epochs 60 --coverage 0.9)
expect 0 "target coverage 0.9, " "${tenth[@]}" -o "$work/overall"
said "lowest for bad: 0."
least() { sed -n 's/.*"least_covered": \([0-9.]*\).*/\1/p' "$1/metrics.json" | head -1; }
awk -v l="$(least "$work/overall")" 'BEGIN { exit !(l < 0.7) }' || fault "the rare class is covered anyhow: $(least "$work/overall")"
expect 0 "target coverage 0.9 in every class" "${tenth[@]}" --coverage-by class -o "$work/mondrian"
awk -v l="$(least "$work/mondrian")" 'BEGIN { exit !(l > 0.83) }' || fault "class-wise sets miss the rare class: $(least "$work/mondrian")"
"$consm" predict "$work/mondrian/model.safetensors" "$work/tenth" 2> /dev/null | cmp -s - "$work/mondrian/predictions.csv" ||
    fault "a loaded model has other sets"

# ---- which nodes the model has seen ---------------------------------------------------------------
expect 0 "" train "$work/shop" -m gcn --epochs 5 --hidden 16 -q -o "$work/embed" --embeddings "$work/e.csv"
[ "$(head -1 "$work/e.csv" | tr -cd , | wc -c)" = 16 ] || fault "16 hidden units are not 16 columns: $(head -1 "$work/e.csv")"
[ "$(wc -l < "$work/e.csv")" = 1001 ] || fault "embeddings of $(wc -l < "$work/e.csv") rows"
expect 0 "" predict "$work/embed/model.safetensors" "$work/shop" -o "$work/p.csv" --embeddings "$work/again.csv"
cmp -s "$work/e.csv" "$work/again.csv" || fault "embeddings of prediction are not those of training"
expect 0 "" predict "$work/embed/model.safetensors" "$work/shop" -o "$work/p.csv" --embeddings "$work/e.npy"
[ "$(wc -c < "$work/e.npy")" = $((128 + 1000 * 16 * 4)) ] || fault "e.npy has $(wc -c < "$work/e.npy") bytes"
expect 2 "expected a name that ends in .npy or .csv" predict "$work/embed/model.safetensors" "$work/shop" --embeddings e.txt
expect 2 "needs -o" train "$work/shop" --embeddings "$work/e.csv"

# ---- what looks wrong -----------------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 40; i++) print "a" i ",a" (i + 1) % 40 }' > "$work/e.csv"
awk 'BEGIN { print "user,is_fraud"; split("choir Choir chior NaN", c, " "); for (i = 0; i < 40; i++) print "a" i "," c[i % 4 + 1] }' > "$work/l.csv"
expect 0 'node "user" of class "is_fraud" looks like the header' train "$work/e.csv" --labels "$work/l.csv" -m gcn --epochs 2
said '"NaN" is a class of its own'
said '"Choir" and "choir" are two classes'
said '"chior" and "choir" are two classes'
"$consm" train "$work/e.csv" --labels "$work/l.csv" -m gcn --epochs 2 --strict > "$work/out" 2> "$work/err"
[ $? = 1 ] || fault "--strict goes on"
[ ! -s "$work/out" ] || fault "--strict printed results"
said '--strict: "NaN" is a class of its own'
awk 'BEGIN { print "source,target,weight"; for (i = 0; i < 40; i++) print "a" i ",a" (i + 1) % 40 ",0" }' > "$work/zero.csv"
awk 'BEGIN { for (i = 0; i < 40; i++) print "b" i ",same" }' > "$work/other.csv"
expect 0 "no edge has a positive weight (all are 0)" train "$work/zero.csv" --labels "$work/other.csv" -m gcn --epochs 2
said 'every label is "same"'
said "40 of 40 labelled nodes have no edge"
mkdir "$work/copies"
cp "$work/e.csv" "$work/copies/edges.csv"
awk 'BEGIN { print "id,label,u,v"; for (i = 0; i < 40; i++) print "a" i "," (i % 2 ? "x" : "y") "," i "," i }' > "$work/copies/nodes.csv"
expect 0 "feature columns u and v are the same in every row" train "$work/copies" -m gcn --epochs 2

# ---- splits ---------------------------------------------------------------------------------------
with_split() { # roles by i % 4
    mkdir -p "$work/$1"
    cp "$work/e.csv" "$work/$1/edges.csv"
    awk -v roles="$2" 'BEGIN { split(roles, r, " "); print "id,label,split"; for (i = 0; i < 40; i++) print "a" i "," (i % 20 < 10 ? "x" : "y") "," r[i % 4 + 1] }' > "$work/$1/nodes.csv"
}
with_split nobody-validates "train train train test"
expect 0 "24 training, 6 validation, 10 test nodes" train "$work/nobody-validates" -m gcn --epochs 3
expect 0 "24 training, 6 validation, 10 test nodes" train "$work/nobody-validates" -m gcn --epochs 3 --split public
with_split nobody-tests "train train val val"
expect 0 "20 training, 20 validation, 0 test nodes" train "$work/nobody-tests" -m gcn --epochs 3
said "optimistic: these nodes were also used for model selection"
expect 0 "20 training, 20 validation, 0 test nodes" train "$work/nobody-tests" -m gcn --epochs 3 --split file:0
expect 0 "class x has 20 labels, too few for --per-class 20" train "$work/nobody-tests" -m gcn --epochs 3 --split random

# ---- few labels -----------------------------------------------------------------------------------
mkdir "$work/few"
cp "$work/e.csv" "$work/few/edges.csv"
awk 'BEGIN { print "id,label"; for (i = 0; i < 40; i++) print "a" i "," (i < 4 ? "x" : i > 19 && i < 24 ? "y" : "") }' > "$work/few/nodes.csv"
expect 0 "calibration error unknown: 2 validation nodes are too few" train "$work/few" -m gcn --epochs 200 -o "$work/few.out"
grep -q '"ece_before": null, "ece_after": null' "$work/few.out/metrics.json" || fault "an ECE of two nodes"
awk -F, 'NR > 1 && $3 > 0.8751 { exit 1 }' "$work/few.out/predictions.csv" || fault "more certain than two nodes allow"

# ---- quiet, and an older model --------------------------------------------------------------------
expect 0 "" train "$work/few" -m gcn --epochs 5 --quiet -o "$work/few.out"
[ ! -s "$work/out" ] || fault "--quiet prints: $(cat "$work/out")"
said "the existing model was renamed to $work/few.out/model.safetensors.1"
[ -s "$work/few.out/model.safetensors.1" ] || fault "the older model is gone"
expect 0 "" train "$work/few" -m gcn --epochs 5 -q --force -o "$work/few.out"
[ ! -s "$work/err" ] || fault "--force warns"
expect 0 "  $work/few.out/: model.safetensors" train "$work/few" -m gcn --epochs 5 --force -o "$work/few.out//"
[ ! -e "$work/few.out/model.safetensors.2" ] || fault "--force keeps the older model"

verdict
