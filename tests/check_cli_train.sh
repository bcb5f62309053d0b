#!/usr/bin/env bash
# `consm train -o` and `consm predict`: from a folder of CSV files to labels, interrupted and resumed,
# configured by file, and refused where necessary.
# usage: check_cli_train.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
begun_output_is_fine=yes

same() { cmp -s "$1" "$2" || fault "$1 and $2 differ"; }
absent() { [ ! -e "$1" ] || fault "$1 was written"; }
no_leftovers() { [ -z "$(find "$1" -name '*.tmp' 2> /dev/null)" ] || fault "half-written files in $1"; }

# ---- a user's own graph ---------------------------------------------------------------------------
# Two circles of twelve people with one bridge; three of each side are known.
mkdir "$work/my graph"
{
    echo source,target,weight
    for side in a b; do
        for i in {0..11}; do
            echo "$side$i,$side$(((i + 1) % 12)),1"
            echo "$side$i,$side$(((i + 3) % 12)),0.5"
        done
    done
    echo a0,b0,0.1
} > "$work/my graph/edges.csv"
{
    echo id,label
    for side in a b; do
        for i in {0..11}; do echo "$side$i,$([ $((i % 3)) = 0 ] && echo "side $side")"; done
    done
} > "$work/my graph/nodes.csv"
expect 0 "built 53 structural features" train "$work/my graph" --epochs 60 -o "$work/o"
grep -q "24 nodes, 49 edges with weights" "$work/out" || fault "the number of edges"
grep -q "2 of 8 labels held out" "$work/out" || fault "the held-out labels are not stated"
mkdir "$work/both"
cp "$work/my graph/nodes.csv" "$work/both"
awk -F, 'BEGIN { OFS = "," } { print } NR > 1 { print $2, $1, $3 }' "$work/my graph/edges.csv" > "$work/both/edges.csv"
expect 0 "24 nodes, 49 edges (98 stored) with weights" train "$work/both" -m mlp --epochs 1
for file in model.safetensors predictions.csv metrics.json config.yaml report.html; do
    [ -s "$work/o/$file" ] || fault "no $file"
done
absent "$work/o/checkpoint.safetensors"
no_leftovers "$work/o"
[ "$(head -1 "$work/o/predictions.csv")" = id,label,confidence,seen ] || fault "head of predictions.csv"
# Every third person has a label, and trains or validates; the others are new to the model.
[ "$(grep -c ',1$' "$work/o/predictions.csv")" = 8 ] || fault "not eight nodes are seen"
if grep -E '^[ab]([124578]|10|11),' "$work/o/predictions.csv" | grep -q ',1$'; then
    fault "a node without a label is seen"
fi
[ "$(wc -l < "$work/o/predictions.csv")" = 25 ] || fault "lines of predictions.csv"
right=$(grep -cE '^(a[0-9]+,side a|b[0-9]+,side b),' "$work/o/predictions.csv")
[ "$right" -ge 20 ] || fault "only $right of 24 people are on their side"
grep -q '"ece_before"' "$work/o/metrics.json" || fault "metrics.json lacks the calibration"

mkdir "$work/few"
cp "$work/my graph/edges.csv" "$work/few"
printf 'id,label\na0,side a\nb0,side b\n' > "$work/few/nodes.csv"
for side in a b; do for i in {1..11}; do echo "$side$i,"; done; done >> "$work/few/nodes.csv"
expect 0 "too few labels to hold any out" train "$work/few" --epochs 5 -o "$work/f"
if grep -q "nan" "$work/out"; then fault "a training without validation nodes prints nan"; fi
expect 0 '"val_acc": null, "test_acc": null' train "$work/few" --epochs 5 --json

# Prediction sets: the output says which labels calibrate them, and when there is no guarantee.
expect 0 "96 of 192 validation labels calibrate the sets" train csbm:nodes=400,homophily=0.8 -m gcn \
    --per-class 4 --epochs 30 --coverage 0.9 -o "$work/sets"
grep -q "target coverage 0.9, 0\.[0-9]* on test" "$work/out" || fault "the sets' coverage is not stated"
[ "$(head -1 "$work/sets/predictions.csv")" = id,label,confidence,set,seen ] || fault "no column set"
[ "$(cut -d, -f4 "$work/sets/predictions.csv" | grep -cE '^[0-3](\|[0-3])*$')" = 400 ] || fault "a prediction set is malformed"
expect 0 "" predict "$work/sets/model.safetensors" csbm:nodes=400,homophily=0.8 -o "$work/again.csv"
same "$work/sets/predictions.csv" "$work/again.csv"
expect 0 "coverage 0.9 needs 9 calibration labels" train karate -m gcn \
    --per-class 4 --epochs 5 --coverage 0.9 -o "$work/sets2"
grep -q '^0,.*,\(Mr. Hi|Officer\|Officer|Mr. Hi\),[01]$' "$work/sets2/predictions.csv" || fault "a set without promise lacks a class"

# ---- ensembles ------------------------------------------------------------------------------------
expect 0 "ensemble of 3 runs: validation chose" train "$work/my graph" -m gcn --epochs 20 --ensemble 3 -o "$work/e"
"$consm" predict "$work/e/model.safetensors" "$work/my graph" > "$work/again.csv"
same "$work/e/predictions.csv" "$work/again.csv"
"$consm" edges "$work/e/model.safetensors" "$work/my graph" > "$work/again.csv" 2> /dev/null
same "$work/e/edges.csv" "$work/again.csv"
grep -q '"ensemble": {"runs": 3, "members": 3, ' "$work/e/metrics.json" || fault "metrics.json of an ensemble"
grep -q '^ensemble: "\?3' "$work/e/config.yaml" || fault "config.yaml of an ensemble"
# --quick is --candidates few: ten candidates, no student.
"$consm" train csbm:nodes=120 --warmup 15 --rounds 1 --quick --json > "$work/quick.jsonl"
"$consm" train csbm:nodes=120 --warmup 15 --rounds 1 --candidates few --json > "$work/half.jsonl"
grep -q '"student": null' "$work/quick.jsonl" || fault "--quick has a student"
for file in quick half; do sed 's/"[a-z_]*\(ms\|seconds\|rss_mb\)": [0-9.e-]*//g' "$work/$file.jsonl" > "$work/$file"; done
same "$work/quick" "$work/half"
"$consm" train csbm -m gcn --epochs 5 --seeds 2 --ensemble 3 --jobs 1 --json > "$work/one.jsonl"
"$consm" train csbm -m gcn --epochs 5 --seeds 2 --ensemble 3 --jobs 6 --threads 2 --json > "$work/six.jsonl"
for file in one six; do
    [ "$(wc -l < "$work/$file.jsonl")" = 3 ] || fault "lines of an ensemble's JSON"
    grep -oE '"(seed|val_acc|test_acc|best_epoch|epochs|params)": [0-9.]*|"ensemble": .*' "$work/$file.jsonl" > "$work/$file"
done
same "$work/one" "$work/six"
expect 2 "from 1 to 100" train csbm --ensemble 101
expect 2 "--resume needs --ensemble 1" train csbm --ensemble 2 -o "$work/e" --resume

# ---- predicting -----------------------------------------------------------------------------------
expect 0 "" predict "$work/o/model.safetensors" "$work/my graph" -o "$work/again.csv"
same "$work/o/predictions.csv" "$work/again.csv"
"$consm" predict "$work/o/model.safetensors" "$work/my graph" > "$work/again.csv"
same "$work/o/predictions.csv" "$work/again.csv"
cp -r "$work/my graph" "$work/next"
echo b12,b3,1 >> "$work/next/edges.csv"
echo b12,b7,1 >> "$work/next/edges.csv"
echo b12, >> "$work/next/nodes.csv"
expect 0 "b12,side b," predict "$work/o/model.safetensors" "$work/next"
grep -q '^b12,.*,0$' "$work/out" || fault "a node that came later is not new"
grep -q '^b0,.*,1$' "$work/out" || fault "a node that trained is not seen"
expect 0 "id,label,confidence,p_side a,p_side b,seen" predict "$work/o/model.safetensors" "$work/next" --probabilities
expect 2 "expected a model and a graph" predict "$work/o/model.safetensors"
expect 1 "nothing.safetensors" predict "$work/nothing.safetensors" karate
"$consm" train karate --per-class 4 --epochs 2 -o "$work/k" > /dev/null || fault "train karate"
expect 2 "trained on" predict "$work/k/model.safetensors" "$work/next"
head -c 3000 "$work/o/model.safetensors" > "$work/cut.safetensors"
expect 1 "cut.safetensors" predict "$work/cut.safetensors" karate
cp "$work/my graph/edges.csv" "$work/foreign.safetensors"
expect 1 "foreign.safetensors" predict "$work/foreign.safetensors" karate

# ---- features by name -----------------------------------------------------------------------------
mkdir "$work/named" "$work/fewer"
cp "$work/my graph/edges.csv" "$work/named"
cp "$work/my graph/edges.csv" "$work/fewer"
awk -F, 'NR == 1 { print $0 ",height,weight in kg" } NR > 1 { print $0 "," NR % 5 "," NR % 7 }' \
    "$work/my graph/nodes.csv" > "$work/named/nodes.csv"
awk -F, 'NR == 1 { print $0 ",height" } NR > 1 { print $0 "," NR % 5 }' \
    "$work/my graph/nodes.csv" > "$work/fewer/nodes.csv"
"$consm" train "$work/named" --epochs 5 -o "$work/n" > /dev/null || fault "train with named features"
expect 2 "lacks 1 of the model's 2 feature columns: weight in kg" predict "$work/n/model.safetensors" "$work/fewer"

# ---- configuration --------------------------------------------------------------------------------
quick="--per-class 4 --epochs 30 --hidden 16"
# shellcheck disable=SC2086
"$consm" train karate $quick --model gat --lr 0.02 --seed 3 -o "$work/c1" > /dev/null || fault "c1"
(cd / && "$consm" train --config "$work/c1/config.yaml" -o "$work/c2" > /dev/null) || fault "c2"
for file in model.safetensors predictions.csv metrics.json config.yaml; do
    same "$work/c1/$file" "$work/c2/$file"
done
# With many labels the warm-up is longer; config.yaml repeats that, too.
"$consm" train csbm:nodes=150,classes=2,degree=4,features=6 --split 48/32/20 --backbone mlp --rounds 1 --gnn-steps 5 --match-steps 5 --drop-share 0 \
    -o "$work/c4" > /dev/null || fault "c4"
"$consm" train --config "$work/c4/config.yaml" -o "$work/c5" > /dev/null || fault "c5"
same "$work/c4/model.safetensors" "$work/c5/model.safetensors"
"$consm" train --config "$work/c1/config.yaml" --seed 4 -o "$work/c3" > /dev/null || fault "c3"
grep -q '^seed: 4$' "$work/c3/config.yaml" || fault "a typed flag does not override the file"
yaml() { printf -- "$1" > "$work/y.yaml"; }
yaml 'dataset: karate\nhiden: 3\n'
expect 2 "y.yaml: line 2, column 1: unknown key hiden; did you mean hidden?" train --config "$work/y.yaml"
yaml 'hidden: [3]\n'
expect 2 "y.yaml: line 1, column 9: expected a single value" train --config "$work/y.yaml"
yaml '- a\n'
expect 2 "expected \`key: value\` lines" train --config "$work/y.yaml"
yaml 'hidden: 3\nhidden: 4\n'
expect 2 "line 2, column 1: duplicate key hidden" train --config "$work/y.yaml"
yaml 'hidden: 0\n'
expect 2 "from 1 to 65536" train --config "$work/y.yaml"
yaml 'a: "b\n'
expect 2 "y.yaml: line" train --config "$work/y.yaml"
yaml 'probabilities: maybe\n'
expect 2 "true or false" train --config "$work/y.yaml"
yaml ''
expect 0 "csbm, consm" train --config "$work/y.yaml" --epochs 2
yaml 'dataset: karate\nper_class: 4\nepochs: 2\njson: true\n'
expect 0 '"epochs": 2' train --config "$work/y.yaml"
expect 1 "none.yaml" train --config "$work/none.yaml"

# ---- imbalance and seeds --------------------------------------------------------------------------
expect 0 "macro-F1" train karate --per-class 4 --epochs 20 --class-weights balanced -o "$work/w"
expect 2 "class-weights heavy: expected one of none, balanced" train karate --class-weights heavy
expect 0 "over 3 runs" train karate --per-class 4 --epochs 10 --seeds 3 -o "$work/s"

# ---- refused before work starts, nothing written --------------------------------------------------
expect 2 "too few for 20 training nodes" train karate --split paper -o "$work/r"
absent "$work/r"
expect 1 "exists and is not a folder" train karate --per-class 4 -o "$work/y.yaml"
expect 1 "cannot create the folder" train karate --per-class 4 -o "$work/y.yaml/x"
expect 1 "GB of memory, but this machine has" train csbm:nodes=2000000000,degree=100 -o "$work/r"
absent "$work/r"
if ! grep -qa __asan_init "$consm"; then # which wants terabytes of address space
    (faults=0 && ulimit -v 1500000 && expect 1 "GB of memory, but this machine has" train csbm:nodes=3000000 &&
        exit $faults) || fault "memory limit"
fi
expect 2 "needs -o FOLDER" train karate --resume
expect 2 "needs --seeds 1" train karate -o "$work/r" --checkpoint-every 5 --seeds 2
absent "$work/r"

# ---- a full disk ----------------------------------------------------------------------------------
(
        ulimit -f 4 # 4 blocks of 1024 bytes: checkpoint.yaml fits, the model does not
    "$consm" train karate --per-class 4 --epochs 5 -o "$work/full" > "$work/out" 2> "$work/err"
    [ $? = 1 ] || fault "a full disk: exit code"
    grep -q "model.safetensors: cannot write" "$work/err" || fault "a full disk: $(cat "$work/err")"
    [ "$(wc -l < "$work/err")" = 1 ] || fault "a full disk: not one line"
    exit $faults
) || faults=$((faults + 1))
absent "$work/full/model.safetensors"
no_leftovers "$work/full"
expect 1 "cannot write: No space left" predict "$work/k/model.safetensors" karate -o /dev/full
[ -c /dev/full ] || fault "/dev/full was replaced"

# ---- checkpoints ----------------------------------------------------------------------------------
long="csbm:nodes=400,features=20,classes=3 --model gcn --epochs 900 --hidden 16 --threads 1"
# shellcheck disable=SC2086
"$consm" train $long -o "$work/whole" > /dev/null || fault "the unbroken run"
# Ctrl-C: saves, and says how to continue.
# shellcheck disable=SC2086
"$consm" train $long -o "$work/int" > /dev/null 2> "$work/err" &
run=$!
while [ ! -e "$work/int/checkpoint.yaml" ] && [ ! -e "$work/int/config.yaml" ]; do sleep 0.01; done
sleep 0.05
kill -INT $run
if wait $run; then
    echo "note: the run was finished before Ctrl-C reached it"
elif grep -q "continue with: consm train --config" "$work/err"; then
    "$consm" train --config "$work/int/checkpoint.yaml" -o "$work/int" --resume > /dev/null || fault "resume"
else
    fault "Ctrl-C: $(cat "$work/err")"
fi
same "$work/whole/model.safetensors" "$work/int/model.safetensors"
same "$work/whole/predictions.csv" "$work/int/predictions.csv"
absent "$work/int/checkpoint.safetensors"
# kill -9 at random moments, repeatedly, until a run finishes.
kills=0
for _ in {1..40}; do
    # shellcheck disable=SC2086
    "$consm" train $long -o "$work/kill" --checkpoint-every 10 --resume > /dev/null 2>&1 &
    run=$!
    sleep "0.0$((RANDOM % 9 + 1))"
    kill -9 $run 2> /dev/null
    { wait $run; } 2> /dev/null && break
    kills=$((kills + 1))
    if [ -e "$work/kill/model.safetensors" ] && [ ! -e "$work/kill/checkpoint.safetensors" ]; then break; fi
done
# shellcheck disable=SC2086
"$consm" train $long -o "$work/kill" --resume > /dev/null 2>&1 || fault "resume after kill -9"
same "$work/whole/model.safetensors" "$work/kill/model.safetensors"
same "$work/whole/predictions.csv" "$work/kill/predictions.csv"
no_leftovers "$work/kill"
echo "killed $kills times"
# A checkpoint of another run is refused.
# shellcheck disable=SC2086
"$consm" train $long -o "$work/other" > /dev/null 2>&1 &
run=$!
while [ ! -e "$work/other/checkpoint.yaml" ] && [ ! -e "$work/other/config.yaml" ]; do sleep 0.01; done
sleep 0.05
kill -INT $run
wait $run
if [ -e "$work/other/checkpoint.safetensors" ]; then
    # shellcheck disable=SC2086
    expect 2 "the interrupted run had lr 0.005, this run has 0.1" train $long -o "$work/other" --resume --lr 0.1
fi

# A graph in parts: the matching module is examined on edges between known labels of both kinds.
mkdir "$work/parted"
awk 'BEGIN { print "source,target"; for (i = 0; i < 300; i++) for (k = 1; k < 5; k++) print i "," (i * 3 + k * k * k) % 300 }' \
    > "$work/parted/edges.csv"
awk 'BEGIN { print "id,label,x,y"; for (i = 0; i < 300; i++) print i "," substr("abc", i % 3 + 1, 1) "," (i * 7) % 11 "," i % 3 }' \
    > "$work/parted/nodes.csv"
"$consm" train "$work/parted" --in-parts -m consm --backbone gcn --warmup 2 --rounds 1 --gnn-steps 2 --match-steps 3 \
    --prune-by none --split random --quiet --json -o "$work/parted.out" > "$work/out" 2> "$work/err" || fault "in parts: $(cat "$work/err")"
grep -qE '"known_auc": [01]\.?[0-9]*,' "$work/out" || fault "in parts: no known edges of both kinds: $(cat "$work/out")"

# The percentages of the report are those of metrics.json.
"$consm" train csbm:nodes=200,features=10 -m gcn --epochs 10 --quiet -o "$work/figures" > /dev/null 2>&1 || fault "no report"
told=$(grep -oE '"value">[0-9.]+ %<' "$work/figures/report.html" | tr -dc '0-9.%' | head -c 15)
known=$(sed -n 's/^"test": .*"accuracy": \([0-9.]*\), "macro_f1": \([0-9.]*\), "balanced_accuracy": \([0-9.]*\),.*/\1 \2 \3/p' \
    "$work/figures/metrics.json" | awk '{ printf "%.1f%%%.1f%%%.1f%%", 100 * $1, 100 * $2, 100 * $3 }')
[ "$told" = "$known" ] && [ ${#known} = 15 ] || fault "the report says $told, metrics.json $known"

verdict
