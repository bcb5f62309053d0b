#!/usr/bin/env bash
# Every study end to end on small built-in graphs, then its report in a real browser.
# usage: check_study.sh CONSM_COMMAND
set -euo pipefail
cd "$(dirname "$0")/.."
consm=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "check_study: $1"; exit 1; }
short=(--epochs 6 --warmup 6 --rounds 2 --gnn-steps 4 --match-steps 2 --hidden 8 --match-width 16 --match-hidden 8
    --candidates few)
study=("$consm" study datasets accuracy edges planted robust coverage zeta depth pruning convergence transport
    --quick --seeds 2 --split random --per-class 5 --datasets csbm:nodes=84,homophily=0.8,features=8,karate
    --models mlp,gcn,gat,consm --ensemble 2 --profiles "${short[@]}" -o "$folder/out")

"$consm" study homophily labels --quick --seeds 1 --models mlp,gcn --epochs 4 --datasets karate -o "$folder/out" > /dev/null 2>&1 ||
    fail "the studies of homophily and labels failed"
first=$(wc -l < "$folder/out/runs.jsonl")
"${study[@]}" > "$folder/text" 2> "$folder/err" || { cat "$folder/err"; fail "the study failed"; }
for name in datasets accuracy accuracy-details accuracy-ensembles homophily labels-accuracy accuracy-controls accuracy-controls-tests edges-f1 edges-auc edges-auc-known edges-calibration edges-witnesses edges-witnesses-all planted-auc-random planted-rule-between planted-details robust-dice robust-random robust-pgd robust-trusted-gcn robust-trusted-consm robust-pairs robust-pairs-gcn robust-trust coverage-covered coverage-size coverage-details zeta \
    depth transport; do
    for form in csv md tex; do
        [ -s "$folder/out/files/$name.$form" ] || fail "$name.$form is missing"
    done
done
for figure in accuracy-bars edges-f1-bars planted-auc-bars coverage-size-bars homophily-lines labels-accuracy-karate zeta-f1-karate zeta-accuracy-karate depth-karate \
    pruning-karate convergence-karate calibration-karate; do
    [ -s "$folder/out/files/$figure.svg" ] || fail "$figure.svg is missing: $(ls "$folder/out/files")"
done

grep -q ">Convergence of ConSM on karate<" "$folder/out/files/convergence-karate.svg" || fail "convergence-karate.svg has another title"

# Two figures of one study with different axes.
for pair in "zeta-f1:Edge F1" "zeta-accuracy:Test accuracy"; do
    [ "$(grep -ohE 'Edge F1|Test accuracy' "$folder/out/files/${pair%%:*}-karate.svg" | sort -u)" = "${pair#*:}" ] ||
        fail "${pair%%:*}-karate.svg has another axis"
done

# ConSM alone and an ensemble of every model.
[ "$(cut -d, -f1 "$folder/out/files/accuracy-ensembles.csv" | grep -c "")" = 6 ] || fail "rows of accuracy-ensembles"
grep -q '^ConSM,' "$folder/out/files/accuracy-ensembles.csv" || fail "ConSM alone beside the ensembles"
grep -q 'ensemble of 2' "$folder/out/files/accuracy-ensembles.csv" || fail "no ensembles"

# A PNG beside every SVG if a converter is installed; otherwise a message.
if command -v rsvg-convert > /dev/null; then
    for figure in "$folder"/out/files/*.svg; do
        [ "$(head -c 4 "${figure%.svg}.png" | tail -c 3)" = PNG ] || fail "${figure%.svg}.png is not a picture"
    done
else
    echo "SKIPPED: PNG figures need rsvg-convert (librsvg2-bin)"
fi
PATH=/nowhere "$consm" report "$folder/out" --quiet 2> "$folder/err" || fail "no report without a converter"
grep -q "^PNG figures were not written: .*librsvg2-bin" "$folder/err" || fail "PNGs are left out silently"
if ls "$folder"/out/files/*.png > /dev/null 2>&1; then fail "an old PNG stays beside a new SVG"; fi

[ "$(cut -d, -f1 "$folder/out/files/accuracy.csv" | tail -n +2 | tr '\n' ' ')" = \
    "MLP GCN GAT ConSM ConSM (paper's text) ConSM (authors' program) " ] ||
    fail "accuracy.csv does not list the models"
if grep -qi "nan" "$folder/text"; then fail "a table shows nan"; fi

# A user's own sets are run with other profiles only on request.
sed 's/"profiles": *true/"profiles": false/' "$folder/out/study.json" > "$folder/study.json"
grep -q '"profiles": *false' "$folder/study.json" || fail "study.json does not keep --profiles"
mkdir "$folder/plain" && cp "$folder/out/runs.jsonl" "$folder/plain" && mv "$folder/study.json" "$folder/plain"
"$consm" report "$folder/plain" --quiet --files "$folder/plain/files" > /dev/null 2>&1
[ "$(cut -d, -f1 "$folder/plain/files/accuracy.csv" | tail -n +2 | tr '\n' ' ')" = "MLP GCN GAT ConSM " ] ||
    fail "profiles on sets that are not the paper's: $(cut -d, -f1 "$folder/plain/files/accuracy.csv")"

# No run is repeated, and another study that needs the same runs finds them. (PNG files were checked
# above; making them again with a browser would take longer than all the rest.)
before=$(wc -l < "$folder/out/runs.jsonl")
PATH=/nowhere "${study[@]}" > "$folder/again" 2> "$folder/err"
grep -q "another build" "$folder/err" && fail "its own runs were taken for another build's"
[ "$(wc -l < "$folder/out/runs.jsonl")" = "$before" ] || fail "a finished study did runs again"
cmp "$folder/text" "$folder/again" || fail "the same runs give another table"
grep -q "$((before - first)) runs already finished, 0 to do" "$folder/err" || fail "$(cat "$folder/err")"

# Runs of another build stay, and the command says so.
sed -i '1s/"build":"[0-9a-f]*"/"build":"000000000000"/' "$folder/out/runs.jsonl"
PATH=/nowhere "${study[@]}" > "$folder/again" 2> "$folder/err"
grep -q "^1 of $before runs in .* were made by another build" "$folder/err" || fail "$(cat "$folder/err")"
cmp "$folder/text" "$folder/again" || fail "another build's name changes a table"

# A record may come from anybody: impossible counts are summed without overflow.
cp -r "$folder/out" "$folder/odd"
sed -i -E 's/("bin_count": ?\[)[^]]*/\19223372036854775807,9223372036854775807,-9223372036854775808/g' "$folder/odd/runs.jsonl"
grep -q 9223372036854775807 "$folder/odd/runs.jsonl" || fail "no bin_count in runs.jsonl"
"$consm" report "$folder/odd" --quiet > /dev/null 2> "$folder/err" || fail "odd counts: $(cat "$folder/err")"

# Wrong arguments are named.
for wrong in "study acuracy" "study accuracy --models gnc" "study accuracy --datasets nowhere" \
    "study" "bench karate --search 0" "bench karate --space x" "report"; do
    # shellcheck disable=SC2086
    if "$consm" $wrong -o "$folder/wrong" > /dev/null 2> "$folder/err"; then fail "accepted: $wrong"; fi
    [ "$(grep -c "^consm " "$folder/err")" = 1 ] || fail "$wrong: $(cat "$folder/err")"
done

# If no set is present, the study uses two generated graphs.
CONSM_DATA='' XDG_CACHE_HOME="$folder" "$consm" study datasets -o "$folder/none" > "$folder/text" 2> /dev/null
[ "$(grep -c "^csbm, homophily=0.[18]" "$folder/text")" = 2 ] || fail "not two graphs without data: $(cat "$folder/text")"

# A search gives every model the same number of configurations, and its choice reads no test label.
"$consm" bench karate --models mlp,gcn --search 4 --search-seeds 2 --seeds 3 --epochs 20 \
    -o "$folder/search" > "$folder/text"
[ "$(wc -l < "$folder/search/runs.jsonl")" = $((2 * (4 * 2 + 1))) ] ||
    fail "a search of 2 models × (4 × 2 trials + 1 more seed) made $(wc -l < "$folder/search/runs.jsonl") runs"
grep -q "Configurations chosen by the search" "$folder/text" || fail "the search does not say what it chose"

# It writes the model of the configuration that validated best, and a config.yaml that trains it again.
best=$folder/search/best-karate
grep -q "^Best on validation for karate: gcn, seed [0-2]\." "$folder/text" || fail "no best: $(tail -3 "$folder/text")"
seed=$(sed -n 's/^seed: //p' "$best/config.yaml") hidden=$(sed -n 's/^hidden: //p' "$best/config.yaml")
epoch=$(sed -n 's/.*"best_epoch": \([0-9]*\).*/\1/p' "$best/metrics.json")
grep -q "\"seed\":$seed,\"model\":\"gcn\",.*\"hidden\":$hidden,.*\"best_epoch\":$epoch," "$folder/search/runs.jsonl" ||
    fail "no run of gcn with seed $seed and width $hidden is best at epoch $epoch"
"$consm" train --config "$best/config.yaml" -o "$folder/best-again" > /dev/null 2> "$folder/err" || fail "$(cat "$folder/err")"
[ ! -s "$folder/err" ] || fail "its configuration is warned of: $(cat "$folder/err")"
cmp "$best/model.safetensors" "$folder/best-again/model.safetensors" || fail "the configuration trains another model"
"$consm" predict "$best/model.safetensors" karate 2> /dev/null | cmp - "$best/predictions.csv" || fail "the model predicts otherwise"
"$consm" bench karate --models mlp,gcn --search 4 --search-seeds 2 --seeds 3 --epochs 20 --json -o "$folder/search" \
    2> /dev/null | tail -1 | grep -q "\"best\": true, \"dataset\": \"karate\", \"model\": \"gcn\", \"seed\": $seed" || fail "--json has no best"
echo "  every study, end to end: ok ($before runs)"

for browser in chromium chromium-browser google-chrome ""; do
    if [ -n "$browser" ] && command -v "$browser" > /dev/null; then break; fi
done
if [ -z "$browser" ] || ! command -v python3 > /dev/null; then
    echo "SKIPPED: looking at the study's report needs chromium and python3"
    exit 0
fi
timeout 900 python3 tests/browser_study.py "$browser" "$folder/out/report.html" \
    ${CONSM_SCREENSHOTS:+"$CONSM_SCREENSHOTS/study.png"}
