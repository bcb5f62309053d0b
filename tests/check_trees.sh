#!/usr/bin/env bash
# Boosted trees by XGBoost, a plug-in: only the plug-in depends on XGBoost; without it training says in one line
# what to install, and trained models still predict; every verb accepts a model of trees.
# usage: BUILD_DIR=… check_trees.sh PATH-TO-consm
set -uo pipefail
consm=$(realpath "$1")
build=$(realpath "${BUILD_DIR:-$(dirname "$consm")}")
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"

nm -D "$build/libconsm.so" 2> /dev/null | grep XG && fault "libconsm.so knows XGBoost"
nm -D "$consm" | grep XG && fault "the command knows XGBoost"

# A command in a folder of its own has no plug-in beside it.
cp "$consm" "$work/alone"
LD_LIBRARY_PATH='' "$work/alone" train karate --model trees --per-class 4 --json > "$work/out" 2> "$work/err" &&
    fault "trees were trained without the plug-in"
[ "$(wc -l < "$work/err")" = 1 ] || fault "not one line: $(cat "$work/err")"
grep -q 'built without XGBoost: install libxgboost-dev' "$work/err" || fault "said: $(cat "$work/err")"

# ConSM trains without them: every byte is as with --with-trees no.
labelled=csbm:nodes=160,classes=2,homophily=0.5,degree=3,features=4,signal=1,seed=2
consm_brief=(--model consm --per-class 50 --warmup 6 --rounds 1 --gnn-steps 3 --match-steps 5 --drop-share 0 --add-share 0)
LD_LIBRARY_PATH='' "$work/alone" train $labelled "${consm_brief[@]}" -o "$work/bare" > /dev/null 2> "$work/err" ||
    fault "ConSM without the plug-in: $(cat "$work/err")"
expect 0 "" train $labelled "${consm_brief[@]}" --with-trees no -o "$work/without"
cmp -s "$work/bare/model.safetensors" "$work/without/model.safetensors" || fault "a missing plug-in changes a model"
LD_LIBRARY_PATH='' "$work/alone" train $labelled "${consm_brief[@]}" --with-trees yes --json > "$work/out" 2> "$work/err" &&
    fault "--with-trees yes was content without the plug-in"
grep -q 'built without XGBoost' "$work/err" || fault "--with-trees yes said: $(cat "$work/err")"

expect 0 "trees " models
expect 0 '--tree-depth' train --help --model trees
if [ ! -f "$build/libconsm_trees.so" ]; then
    [ "$faults" = 0 ] || verdict
    echo "SKIPPED: built without XGBoost: no trees were trained (libxgboost-dev)"
    exit 77
fi
names=$(nm -D --defined-only "$build/libconsm_trees.so" | awk '{print $3}' | grep -v '^_fini$\|^_init$')
[ "$names" = consm_boost ] || fault "libconsm_trees.so exports $names"
# AddressSanitizer's dlopen does not look beside the program.
grep -qa __asan_init "$consm" && export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# A plug-in that cannot be loaded.
mkdir "$work/broken"
cp "$consm" "$work/broken/consm"
printf 'no library' > "$work/broken/libconsm_trees.so"
(cd "$work/broken" && LD_LIBRARY_PATH=$work/broken ./consm train karate --model trees --per-class 4 --json) > "$work/out" 2>&1
grep -q 'cannot load libconsm_trees.so; install libxgboost0' "$work/out" || fault "a broken plug-in: $(cat "$work/out")"

graph=csbm:nodes=200,classes=3,features=8,signal=3,homophily=0.4,seed=1
trees=(--model trees --epochs 20 --per-class 20)
expect 0 "" train $graph "${trees[@]}" --threads 1 -o "$work/one"
expect 0 "" train $graph "${trees[@]}" --threads 2 -o "$work/two"
for file in predictions.csv edges.csv model.safetensors; do
    cmp -s "$work/one/$file" "$work/two/$file" || fault "$file differs with the number of threads"
done
expect 0 '"model": "trees"' train $graph "${trees[@]}" --json
expect 0 "ensemble of 3" train $graph "${trees[@]}" --ensemble 3 -o "$work/three"
expect 0 "source,target" edges "$work/three/model.safetensors" $graph --suggest 5
# A table that is too large for the machine is refused before it is built.
if ! grep -qa __asan_init "$consm"; then
    (ulimit -v 300000 && "$consm" train csbm:nodes=20000,features=200 --model trees --per-class 4000 --json) > "$work/out" 2>&1
    grep -q 'use fewer training and validation nodes' "$work/out" || fault "a large table: $(cat "$work/out")"
fi
# As members of an ensemble of another model, whose edges ConSM still scores.
mixed=csbm:nodes=300,classes=2,homophily=0.3,features=8
consm_short=(--model consm --backbone gcn --rounds 1 --warmup 20 --epochs 40 --match-steps 20 --ensemble 2)
expect 0 "2 of 4 members used" train $mixed "${consm_short[@]}" --with-trees yes -o "$work/mixed"
grep -q 'backbone.*gcn, trees' "$work/mixed/metrics.json" || fault "the ensemble: $(grep backbone "$work/mixed/metrics.json")"
expect 0 "" predict "$work/mixed/model.safetensors" $mixed -o "$work/mixed.csv"
cmp -s "$work/mixed.csv" "$work/mixed/predictions.csv" || fault "an ensemble with trees does not come back from its file"
expect 0 "edges, " edges "$work/mixed/model.safetensors" $mixed -o "$work/mixed-edges.csv"
sed -n 2p "$work/mixed-edges.csv" | grep -q ',$' && fault "edges of an ensemble with ConSM have no interval"
# Beside ConSM's candidates: listed, and where they validate better they predict, with the plug-in or without it.
expect 0 '"trees": {"rounds": ' train $labelled "${consm_brief[@]}" --json
grep -q '{"backbone": "trees"' "$work/out" || fault "trees are not among the candidates: $(cat "$work/out")"
mkdir "$work/table"
awk -v folder="$work/table" 'function drawn() { x = x * 16807 % 2147483647; return x / 2147483647 }
BEGIN {
    x = 1
    print "id,label,a,b,c,d" > (folder "/nodes.csv")
    print "source,target" > (folder "/edges.csv")
    for (i = 0; i < 240; i++) {
        first = drawn()
        label = i % 6 == 0 ? "" : first > 0.3 && first < 0.7 ? "in" : "out"
        printf "%d,%s,%.6g,%.6g,%.6g,%.6g\n", i, label, exp(12 * first), exp(12 * drawn()), exp(12 * drawn()),
            exp(12 * drawn()) > (folder "/nodes.csv")
    }
    for (i = 0; i < 480; i++)
        printf "%d,%d\n", i % 240, (i + 1 + int(239 * drawn())) % 240 > (folder "/edges.csv")
}'
expect 0 "predictions: boosted trees; edge scores: ConSM" train "$work/table" --warmup 6 --rounds 1 --gnn-steps 3 --match-steps 5 --drop-share 0 --add-share 0 --metric accuracy -o "$work/won"
grep 'cross-validation' "$work/out" && fault "cross-validation of a network that does not predict"
grep -q '"trees": {"rounds": [0-9]*, "taken": true' "$work/won/metrics.json" || fault "metrics.json: $(grep trees "$work/won/metrics.json")"
grep -q 'predict the classes: their validation' "$work/won/report.html" || fault "the report does not say who predicts"
won=$work/won/model.safetensors
LD_LIBRARY_PATH='' "$work/alone" predict "$won" "$work/table" -o "$work/won.csv" > /dev/null || fault "predict without the plug-in"
cmp -s "$work/won.csv" "$work/won/predictions.csv" || fault "trees that predict for ConSM do not come back from its file"
expect 0 "edges, " edges "$won" "$work/table" -o "$work/won-edges.csv"
sed -n 2p "$work/won-edges.csv" | grep -q ',$' && fault "the edges are not scored by ConSM"
expect 0 "feature" explain "$won" "$work/table" 5
expect 0 "" evaluate "$won" "$work/table"
expect 0 "" clean "$won" "$work/table" -o "$work/cleaned"
expect 0 "" predict "$won" "$work/table" --nodes 5,6
expect 2 "set ensemble to 2 or more" train karate --model gcn --with-trees yes --per-class 4 --json
expect 0 "of 2 members" train $mixed "${consm_short[@]}"
model=$work/one/model.safetensors
expect 0 "new:" evaluate "$model" $graph
expect 0 "edges, " edges "$model" $graph -o "$work/edges.csv"
expect 0 "neighbour" explain "$model" $graph 5
expect 0 "" predict "$model" $graph -o "$work/here.csv"
expect 2 "cannot be resumed" train $graph "${trees[@]}" -o "$work/stop" --checkpoint-every 5
LD_LIBRARY_PATH='' "$work/alone" predict "$model" $graph -o "$work/there.csv" > /dev/null ||
    fault "without the plug-in a trained model does not predict"
cmp -s "$work/here.csv" "$work/there.csv" || fault "without the plug-in predictions are others"
verdict
