#!/usr/bin/env bash
# Hostile names and files on the command line: nothing in them controls a terminal, and nothing in them is lost
# in a file.
# usage: check_hostile.sh CONSM
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
source "$(dirname "$0")/faults.sh"
esc=$'\e' bell=$'\a' csi=$'\u009b' mark=$'\u200e' bom=$'\ufeff' flip=$'\u202e'

# quiet WHERE: the last command's output holds no control character.
quiet() {
    local found
    found=$(cat "$work/out" "$work/err" |
        LC_ALL=C grep -aP "[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xef\xbb\xbf")
    [ -z "$found" ] || fault "$1 lets characters through: $(printf %s "$found" | od -c | head -3)"
}

graph=$work/graph
mkdir "$graph"
classes=("a${esc}[2Jb" "a${csi}2Jb" "x${mark}" "x" "${bom}y${bell}" "y${flip}z")
{
    echo 'id,label'
    for i in {0..59}; do printf '"n%s%d",%s\n' "$mark" "$i" "${classes[i % 6]}"; done
    printf '"n%d",%s\n' 7 x
} > "$graph/nodes.csv"
{
    echo 'source,target'
    for i in {0..59}; do printf 'n%s%d,n%s%d\n' "$mark" "$i" "$mark" $(((i + 6) % 60)); done
} > "$graph/edges.csv"
"$consm" convert "$graph" "$work/named" 2> /dev/null || fault "convert"
printf '{"name": "t%s]0;owned%s"}\n' '\u001b' '\u0007' > "$graph/dataset.json"
expect 0 '' info "$graph"; quiet info
expect 0 '' split "$graph" --per-class 2; quiet split
expect 0 '' train "$graph" --model gcn --epochs 5 -o "$work/model"; quiet train
expect 2 '' train "$graph" --split "no${esc}[2Jsplit"; quiet "a message"
printf 'no%skey: 1\n' "$csi" > "$work/odd.yaml"
expect 2 '' train --config "$work/odd.yaml"; quiet "a YAML key"

# Files keep every byte: ids and classes in predictions.csv are those of nodes.csv, and a model fits
# the graph it was trained on.
expect 0 '' predict "$work/model/model.safetensors" "$graph" -o "$work/labels.csv"
cut -d, -f1 "$work/labels.csv" | tr -d '"' | sort > "$work/ids"
cut -d, -f1 "$graph/nodes.csv" | tr -d '"' | sort > "$work/ids.before"
cmp -s "$work/ids" "$work/ids.before" || fault "ids were altered: $(diff "$work/ids" "$work/ids.before" | head -3)"
for name in "${classes[@]}"; do
    grep -qF -- "$name" <(cut -d, -f2 "$work/labels.csv"; tr ',' '\n' < "$work/named/nodes.csv") ||
        fault "class $(printf %q "$name") is in no file"
done
[ "$(sort -u <(tail -n +2 "$work/model/predictions.csv" | cut -d, -f1) | wc -l)" = 61 ] ||
    fault "ids merged in predictions.csv"

# Two runs into one folder: the second is refused with a message, and the first is not disturbed. A file that
# only has a similar name is not touched.
mkdir "$work/victim1" "$work/victim[1]"
touch "$work/victim1/checkpoint.safetensors.1.tmp"
expect 0 '' train karate --model gcn --epochs 2 --per-class 2 -o "$work/victim[1]"
[ -f "$work/victim1/checkpoint.safetensors.1.tmp" ] || fault "-o 'victim[1]' deleted files in victim1"
"$consm" train karate --model gcn --epochs 100000 --patience 0 --per-class 2 -o "$work/busy" \
    > "$work/first" 2>&1 &
first=$!
until [ -f "$work/busy/checkpoint.yaml" ] || ! kill -0 $first; do sleep 0.05; done
begun_output_is_fine=1 expect 1 'another process is writing' train karate --model gcn --epochs 2 --per-class 2 -o "$work/busy"
kill -INT $first
wait $first
grep -q 'continue with' "$work/first" || fault "the first run was disturbed: $(cat "$work/first")"

# An older run's configuration stays beside its model until there is a new model, however the new run
# ends; SIGHUP leaves a checkpoint to continue with.
cp "$work/victim[1]/config.yaml" "$work/config.before"
long=(train karate --model gcn --epochs 100000 --patience 0 --per-class 2 --checkpoint-every 50 --lr 0.03 -o "$work/victim[1]")
for signal in KILL HUP; do
    rm -f "$work/victim[1]/checkpoint.safetensors"
    "$consm" "${long[@]}" > /dev/null 2> "$work/err" &
    run=$!
    until [ -f "$work/victim[1]/checkpoint.safetensors" ] || ! kill -0 $run; do sleep 0.05; done
    kill -$signal $run
    wait $run 2> /dev/null
    cmp -s "$work/victim[1]/config.yaml" "$work/config.before" || fault "$signal: config.yaml is of a run that did not end"
    [ -f "$work/victim[1]/checkpoint.safetensors" ] || fault "$signal: no checkpoint"
done
grep -q "continue with: consm train --config $work/victim\\[1\\]/checkpoint.yaml" "$work/err" || fault "HUP: $(cat "$work/err")"
expect 0 '' train --config "$work/victim[1]/checkpoint.yaml" --epochs 60 -o "$work/victim[1]" --force
grep -q '^lr: "\?0.03' "$work/victim[1]/config.yaml" || fault "config.yaml is not the new run's"
[ ! -e "$work/victim[1]/checkpoint.yaml" ] || fault "checkpoint.yaml stays behind"

# What a killed process leaves under a temporary name goes away with the next write.
for _ in {1..12}; do
    for command in "convert csbm:nodes=3000,features=30 $work/folder" "study datasets --datasets karate -o $work/killed"; do
        # shellcheck disable=SC2086 # words
        { timeout -s KILL "0.0$((RANDOM % 9 + 1))" "$consm" $command; } > /dev/null 2>&1
    done
done 2> /dev/null
"$consm" convert csbm:nodes=3000,features=30 "$work/folder" 2> "$work/err" || fault "convert: $(cat "$work/err")"
"$consm" study datasets --datasets karate -o "$work/killed" > /dev/null 2>&1 || fault "the study does not go on"
left=$(find "$work" -name '*.tmp' ! -path "*/victim1/*")
[ -z "$left" ] || fault "temporary files stay: $left"

# Names that a spreadsheet would read as formulas.
mkdir "$work/formulas"
names=('=cmd|x' '@SUM(1)' '+1+1' '-5' 'plain')
{ echo 'id,label'; for i in {0..29}; do echo "${names[i % 5]}$i,${names[i % 2]}"; done; } > "$work/formulas/nodes.csv"
{ echo 'source,target'; for i in {0..24}; do echo "${names[i % 5]}$i,${names[i % 5]}$((i + 5))"; done; } > "$work/formulas/edges.csv"
expect 0 '' train "$work/formulas" --model gcn --epochs 3 --per-class 4 --safe-csv -o "$work/safe"
expect 0 '' predict "$work/safe/model.safetensors" "$work/formulas" --safe-csv -o "$work/safe.csv"
expect 0 '' edges "$work/safe/model.safetensors" "$work/formulas" --safe-csv -o "$work/trust.csv"
for file in "$work/safe.csv" "$work/trust.csv" "$work/safe/predictions.csv" "$work/safe/edges.csv"; do
    grep -qE '(^|,)"?[=@+]' "$file" && fault "$file holds formulas: $(grep -E '(^|,)"?[=@+]' "$file" | head -1)"
    grep -q "^'=cmd|x0," "$file" || fault "$file lost a name: $(head -2 "$file")"
    grep -qE '^-5[0-9]+,' "$file" || fault "$file: a number became text"
done
expect 0 '' predict "$work/safe/model.safetensors" "$work/formulas" -o "$work/exact.csv"
grep -q '^=cmd|x0,' "$work/exact.csv" || fault "names are altered without --safe-csv"

# Closed descriptors: what is opened later must not become standard output.
for closed in '>&-' '2>&-' '<&-' '>&- 2>&- <&-'; do
    rm -rf "$work/study"
    eval "\"\$consm\" study datasets --datasets karate --json -o \"\$work/study\" $closed" > "$work/any" 2>&1
    if [ -f "$work/study/runs.jsonl" ]; then
        python3 -c 'import json,sys
for line in open(sys.argv[1]): json.loads(line)["key"]' "$work/study/runs.jsonl" 2> "$work/why" ||
            fault "with $closed runs.jsonl holds other things: $(tail -1 "$work/why")"
    fi
done
verdict
