#!/usr/bin/env bash
# A killed study loses no finished run and repeats none, and the number of workers changes no
# result. usage: check_study_resume.sh CONSM_COMMAND
set -euo pipefail
consm=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bench=("$consm" bench karate csbm:nodes=200,homophily=0.7 --models mlp,gcn,dropedge,appnp
    --seeds 4 --epochs 60)
fail() { echo "check_study_resume: $1"; exit 1; }
# Key and accuracies of every run, in order; times and dates differ between any two runs.
results() {
    sed -E 's/.*"key":"([^"]*)".*"val_acc":([^,]*),"test_acc":([^,]*),.*/\1 \2 \3/' \
        "$folder/$1/runs.jsonl" | sort
}
count() { if [ -f "$folder/$1/runs.jsonl" ]; then wc -l < "$folder/$1/runs.jsonl"; else echo 0; fi; }

"${bench[@]}" -o "$folder/whole" --jobs 2 > "$folder/whole.txt"
[ "$(count whole)" = 32 ] || fail "32 runs expected, $(count whole) found"

# Killed in the middle, twice, then stopped by SIGINT, then run to the end.
for signal in KILL KILL INT; do
    before=$(count killed)
    "${bench[@]}" -o "$folder/killed" --jobs 1 > /dev/null 2>&1 &
    process=$!
    for _ in $(seq 400); do
        if [ "$(count killed)" -ge $((before + 4)) ]; then break; fi
        sleep 0.02
    done
    kill -s "$signal" "$process" 2>/dev/null || true
    code=0
    wait "$process" 2>/dev/null || code=$?
    cp "$folder/killed/runs.jsonl" "$folder/kept-$signal"
done
[ "$code" = 130 ] || fail "the exit code after SIGINT is $code, not 130"
printf '{"key":"torn' >> "$folder/killed/runs.jsonl" # what a power cut in mid-line leaves
"${bench[@]}" -o "$folder/killed" --jobs 2 > "$folder/killed.txt" 2> "$folder/killed.err"
grep -q "already finished" "$folder/killed.err" || fail "nothing was found finished"
[ "$(count killed)" = 32 ] || fail "32 runs expected after resuming, $(count killed) found"
[ "$(results killed | uniq -d)" = "" ] || fail "a run was done twice"
head -n "$(wc -l < "$folder/kept-INT")" "$folder/killed/runs.jsonl" | cmp - "$folder/kept-INT" ||
    fail "resuming changed finished runs"
cmp <(results whole) <(results killed) || fail "interrupted and whole study differ"

# A report of a finished folder is the same on every call.
cmp <(grep -v Report "$folder/whole.txt") <(grep -v Report "$folder/killed.txt") ||
    fail "tables differ"
"$consm" report "$folder/whole" --quiet -o "$folder/a.html" --files "$folder/files"
"$consm" report "$folder/whole" --quiet -o "$folder/b.html" --files "$folder/files"
cmp "$folder/a.html" "$folder/b.html" || fail "two reports of one folder differ"
[ -s "$folder/files/bench.csv" ] && [ -s "$folder/files/bench.tex" ] || fail "tables are missing"
if "$consm" report "$folder/nothing" 2> "$folder/err"; then fail "a missing folder was accepted"; fi
grep -q "folder not found" "$folder/err" || fail "a missing folder is not named"
echo "  killed, stopped and resumed: 32 runs, each once, the same results: ok"
