#!/usr/bin/env bash
# The command for users who act on its answers: typed settings are used, choices are named, and
# configuration files choose no output path.
# usage: check_cli_answers.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
begun_output_is_fine=yes
parameter() { # FILE NAME: a parameter in a model file's metadata
    grep -aoE "\\\\\"$2\\\\\": \\\\\"[^\\\\]*" "$1" | head -1 | sed 's/.*"//'
}

# ---- typed settings are used ---------------------------------------------------------------------
short=(--warmup 10 --rounds 1 --gnn-steps 5 --match-steps 5)
expect 0 "" train karate --per-class 4 "${short[@]}" --hidden 24 --layers 3 --lr 0.02 --dropout 0.1 \
    --weight-decay 0.001 -o "$work/typed"
for pair in hidden=24 layers=3 lr=0.02 dropout=0.1 weight_decay=0.001; do
    [ "$(parameter "$work/typed/model.safetensors" "${pair%=*}")" = "${pair#*=}" ] ||
        fault "$pair was typed, trained was $(parameter "$work/typed/model.safetensors" "${pair%=*}")"
done
expect 0 "backbone: " train karate --per-class 4 "${short[@]}" --hidden 20

# The config.yaml of a run with --backbone auto repeats it exactly; it does not hold the candidate's settings.
expect 0 "" train csbm:nodes=200 --per-class 5 "${short[@]}" -o "$work/auto"
grep -q "Candidates for the backbone, chosen one first" "$work/auto/report.html" || fault "the report does not list the candidates"
grep -qE "From [0-9]+ candidates for the backbone, .* was chosen by" "$work/auto/report.html" || fault "the report does not say what won"
grep -q "Choice of the backbone" "$work/auto/report.html" || fault "the report does not show the choice of the backbone"
# The report: a learning curve from epoch 1 on, also for the epochs that the candidate trained; the chosen candidate;
# trust in its own colours; the whole graph by class and by trust; the date, settings, data and glossary.
page=$work/auto/report.html
tr '\n' ' ' < "$page" | grep -q "<title>training loss Epoch: 1 Loss: " || fault "the report's learning curve does not begin with epoch 1"
grep -qE "trained longest; number [0-9]+ was chosen" "$page" || fault "the report does not name the candidate"
number=$(grep -oE "trained longest; number [0-9]+" "$page" | grep -oE '[0-9]+')
grep -q "(candidate $number, chosen)" "$page" || fault "the figure of the candidates lacks the chosen one"
grep -q 'class="trusted bar"' "$page" && grep -q 'class="distrusted bar"' "$page" || fault "kept and dropped edges have colours of classes"
for part in "The whole graph by class" "The whole graph by trust" "date:" ">Settings<" ">The data<" ">Glossary<"; do
    grep -qF "$part" "$page" || fault "the report lacks $part"
done
grep -q "edges are kept: those with trust ≥ 0\.[0-5]" "$page" || fault "the report does not give the threshold of trust: $(grep -o "edges are kept[^.]*...." "$page")"
grep -q "which the figure shows, it is" "$page" && fault "a broken sentence"
grep -q "<svg" "$work/auto/graph.svg" || fault "graph.svg is not a picture"
grep -q "^hidden:" "$work/auto/config.yaml" && fault "config.yaml holds a width that nobody gave"
expect 0 "" train --config "$work/auto/config.yaml" -o "$work/again"
cmp -s "$work/auto/predictions.csv" "$work/again/predictions.csv" || fault "config.yaml does not repeat the run"
expect 0 "" train --config "$work/typed/config.yaml" -o "$work/typed-again"
[ "$(parameter "$work/typed-again/model.safetensors" hidden)" = 24 ] || fault "config.yaml forgot --hidden"

# Given values win over a profile in any order; a typed profile wins over a file's values.
paper=(--rounds 1 --gnn-steps 2 --match-steps 2 --transport nearest)
for order in "--profile paper --lr 0.01" "--lr 0.01 --profile paper"; do
    # shellcheck disable=SC2086 # words of a command line
    expect 0 "" train karate --per-class 4 "${paper[@]}" $order -o "$work/profile" --force
    [ "$(parameter "$work/profile/model.safetensors" lr)" = 0.01 ] || fault "$order: lr is not 0.01"
    [ "$(parameter "$work/profile/model.safetensors" match_lr)" = 0.001 ] || fault "$order: no profile"
done

# ---- help shows the model's own defaults ---------------------------------------------------------
shown() { # MODEL FLAG: the default that the help shows
    "$consm" train --model "$1" --help | grep -A9 -- "--$2 " | grep -oE '\([^;]*;' | head -1 | tr -d '(;'
}
for pair in rounds=3 warmup=300 round-patience=1; do
    [ "$(shown consm "${pair%=*}")" = "${pair#*=}" ] || fault "help: ${pair%=*} is $(shown consm "${pair%=*}")"
done
[ "$(shown gcn epochs)" = 300 ] || fault "help: gcn's epochs are $(shown gcn epochs)"
"$consm" help train | grep -A2 -- "--rounds N" | grep -qF "(3;" || fault "help train: rounds are not consm's"

# ---- refused before the run starts, one warning --------------------------------------------------
expect 2 "distance squared" train karate --per-class 4 --distance squared --resume -o "$work/never"
expect 2 "distance squared" train karate --per-class 4 --distance squared
grep -q "choosing" "$work/err" && fault "--distance squared is refused after the choice of a backbone"
"$consm" study accuracy --datasets karate --models gcn --seeds 1 --epochs 2 --zeta 0.5 --split random \
    -o "$work/study" > "$work/out" 2> "$work/err" || fault "study --zeta: $(cat "$work/err")"
grep -q "does not use" "$work/err" && fault "study --zeta warns: $(cat "$work/err")"
expect 0 "" train karate --per-class 4 -m gcn --epochs 2 --match-slope 0.1
grep -q "gcn does not use --match-slope" "$work/err" || fault "--match-slope has no owner"

# ---- a configuration writes nothing --------------------------------------------------------------
mkdir "$work/victim"
echo mine > "$work/victim/results.csv"
for key in "output: $work/victim" "embeddings: $work/victim/results.csv" "force: true"; do
    printf 'dataset: karate\nmodel: gcn\nepochs: 3\nper-class: 4\n%s\n' "$key" > "$work/hostile.yaml"
    expect 2 "a configuration file cannot choose output files; instead, type --${key%%:*}" train --config "$work/hostile.yaml"
done
[ "$(ls "$work/victim")" = results.csv ] && [ "$(cat "$work/victim/results.csv")" = mine ] ||
    fault "a configuration file wrote into a folder: $(ls "$work/victim")"
printf 'config: other.yaml\n' > "$work/hostile.yaml"
expect 2 "a configuration file cannot include another one" train --config "$work/hostile.yaml"
grep -q "did you mean config" "$work/err" && fault "suggests the key that it refuses"

# Paths of the files beside an edge list are written in full, and embeddings are not written again.
mkdir "$work/lists" "$work/elsewhere"
printf 'a b\nb c\nc d\nd a\na c\n' > "$work/lists/edges.txt"
printf 'a x\nb x\nc y\nd y\n' > "$work/lists/labels.txt"
(cd "$work/lists" && "$consm" train edges.txt --labels labels.txt -m gcn --epochs 3 -o out --embeddings e.npy) \
    > "$work/out" 2> "$work/err" || fault "train with --labels: $(cat "$work/err")"
grep -q "^embeddings" "$work/lists/out/config.yaml" && fault "config.yaml writes embeddings again"
(cd "$work/elsewhere" && "$consm" train --config ../lists/out/config.yaml -o out) > "$work/out" 2> "$work/err" ||
    fault "config.yaml from another folder: $(cat "$work/err")"
cmp -s "$work/lists/out/predictions.csv" "$work/elsewhere/out/predictions.csv" || fault "another folder, another run"

# ---- useful explanations where a model is almost certain -----------------------------------------
# Two groups that features and edges separate clearly; 40 validation labels, so that no
# probability is shrunk much.
mkdir "$work/sure"
awk 'BEGIN { print "source,target"; for (i = 0; i < 400; i++) { print "n" i ",n" (i + 2) % 400; print "n" i ",n" (i + 6) % 400 } }' \
    > "$work/sure/edges.csv"
awk 'BEGIN { print "id,label,split,amount,noise"
    for (i = 0; i < 400; i++) print "n" i "," (i % 2 ? "odd" : "even") "," (i < 250 ? "train" : "val") "," (i % 2 ? 900 + i : 100 + i % 7) "," i * 37 % 11 }' \
    > "$work/sure/nodes.csv"
expect 0 "" train "$work/sure" -m gcn --epochs 300 --lr 0.05 --weight-decay 0 -o "$work/certain"
expect 0 "n5: probability of odd 1.0000" explain "$work/certain/model.safetensors" "$work/sure" n5
grep -qE '^ *\+[0-9]*[1-9][0-9.]* +amount +905 +100 to 12[0-9]+' "$work/out" || fault "no reason: $(cat "$work/out")"
[ "$(grep -cE '^ *[-+]0\.000 ' "$work/out")" -le 6 ] || fault "most effects are 0: $(cat "$work/out")"

# ---- the chosen backbone is named, and what it ignores -------------------------------------------
mkdir "$work/weights"
awk 'NR == 1 { print $0 ",weight"; next } { print $0 "," 1 + NR % 3 }' "$work/sure/edges.csv" > "$work/weights/edges.csv"
cp "$work/sure/nodes.csv" "$work/weights"
expect 0 "backbone: gat; it ignores the edge weights" train "$work/weights" --backbone gat "${short[@]}" -o "$work/gat"
grep -q '"backbone": "gat", "uses_edge_weights": false' "$work/gat/metrics.json" || fault "metrics.json has no backbone"
expect 0 ", chosen on validation" train "$work/weights" "${short[@]}"
expect 0 '"backbone": "' train "$work/weights" "${short[@]}" --json

# ---- every call that computes uses --threads -------------------------------------------------------
# tests/thread_shim.c counts started threads on a machine that seems to have seven processors.
threads_are() { # NUMBER consm-arguments…
    local number=$1
    shift
    THREADS_TO=$work/threads LD_PRELOAD=$shim "$consm" "$@" > "$work/out" 2>&1 || fault "consm $*: $(cat "$work/out")"
    [ "$(cat "$work/threads")" = "$number" ] || fault "consm $*: $(cat "$work/threads") threads were started, expected $number"
}
shim=$(realpath "${BUILD_DIR:-build/release}")/libthread_shim.so
if [ -f "$shim" ]; then
    large=csbm:nodes=3000,degree=20,features=30 # so large that it would have all processors
    threads_are 0 train "$large" -m gcn --epochs 2 --per-class 4 --threads 1 -o "$work/lone" --embeddings "$work/lone.npy"
    lone=$work/lone/model.safetensors
    threads_are 6 edges "$lone" "$large"
    for verb in edges evaluate "edges --suggest 2"; do
        # shellcheck disable=SC2086 # words of a command line
        set -- $verb
        threads_are 2 "$1" "$lone" "$large" "${@:2}" --threads 3
    done
    threads_are 2 predict "$lone" "$large" --threads 3
    threads_are 4 predict "$lone" "$large" --threads 3 --embeddings "$work/lone.npy"
    threads_are 4 predict "$lone" "$large" --threads 3 --graph "$work/lone.gml"
    threads_are 0 clean "$lone" "$large" --threads 1 -o "$work/lone.clean" --add 2
    threads_are 0 explain "$lone" "$large" 7 --threads 1
    threads_are 0 compare "$lone" "$lone" "$large" --threads 1
else
    echo "SKIPPED: threads are counted in release builds"
fi

# ---- two models side by side ---------------------------------------------------------------------
expect 0 "" train karate --per-class 4 -m gcn --epochs 20 -o "$work/a"
expect 0 "" train karate --per-class 4 -m gcn --epochs 20 --lr 0.02 -o "$work/b"
expect 0 "Settings that differ" report "$work/a" "$work/b/model.safetensors" -o "$work/both.html"
grep -qE '^lr +0\.005 +0\.02' "$work/out" || fault "the learning rates are not compared: $(cat "$work/out")"
grep -qE '^hidden' "$work/out" && fault "what is the same is listed"
expect 0 "backbone" report "$work/a" "$work/typed" -o "$work/unlike.html"
grep -qE 'has the higher accuracy, by [0-9.]+ points|Both models have an accuracy of|Accuracy differs by [0-9.]+ points. This is not significant' \
    "$work/unlike.html" || fault "no sentence sums it up"
[ "$(grep -c '^backbone' "$work/out")" = 1 ] || fault "the backbone is listed twice"
grep -qE '^match_steps +5$' "$work/out" || fault "gcn has a value of what it does not read: $(grep match_steps "$work/out")"
grep -qE '^accuracy +[0-9.]+ +[0-9.]+ +-?[0-9.]+' "$work/out" || fault "no accuracies"
grep -q "Settings that differ" "$work/both.html" || fault "no page"
expect 1 "nowhere" report "$work/a" "$work/nowhere"

# ---- a long list of classes is cut, and the output says so -----------------------------------------
expect 0 "and 5 more" info csbm:nodes=100,classes=25

verdict
