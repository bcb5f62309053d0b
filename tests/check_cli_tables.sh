#!/usr/bin/env bash
# Real tables: an export with semicolons, decimal commas, categories, yes and no, dates and blanks, and unusual
# column names. It trains as it is. The next month's export, with another order of columns, an unknown country
# and other blanks, is read in the same way.
# usage: check_cli_tables.sh PATH-TO-consm
set -uo pipefail
consm=$1
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
begun_output_is_fine=yes
said() { grep -qF -- "$1" "$work/out" "$work/err" || fault "not said: $1; but: $(cat "$work/out" "$work/err")"; }

# ---- this month: u0 … u199 in a ring; who is from XY is a fraud -------------------------------------
month() { # folder, first line of nodes, awk's print of row i
    mkdir -p "$work/$1"
    awk 'BEGIN { print "von;nach;betrag;kanal"; for (i = 0; i < 200; i++) print "u" i ";u" (i + 1) % 200 ";" i % 7 + 1 ";web" }' \
        > "$work/$1/edges.csv"
    awk -v head="$2" 'BEGIN { print head; for (i = 0; i < 200; i++) {
        bad = i % 10 == 0; land = bad ? "XY" : i % 3 ? "DE" : "FR"; vip = i % 4 ? "nein" : ""
        since = sprintf("20%02d-0%d-1%d", i % 20, i % 9 + 1, i % 10); amount = i % 13 ? i % 50 ",5" : ""
        '"$3"' } }' > "$work/$1/nodes.csv"
}
month may 'kunde;betrug;land;umsatz;seit;name' \
    'print "u" i ";" (bad ? "ja" : "nein") ";" land ";" amount ";" since ";Person " i'
columns=(--id-column kunde --label-column betrug --weight-column betrag)
expect 1 "nodes.csv: line 1, column 1: found" info "$work/may"
said "or use --id-column"
expect 1 'column 3: found "betrag", expected "weight" as the name of a third column' \
    info "$work/may" --id-column kunde --label-column betrug --ignore kanal
said "use --weight-column betrag or --ignore betrag"
expect 0 "features from 4 columns: land (category of 3), umsatz (number, some missing), seit (date), name (left out)" \
    train "$work/may" "${columns[@]}" -m mlp --epochs 200 -o "$work/model"
said "  id from column kunde; label from column betrug; weight from column betrag"
said "warning: ignored column name: it has 200 different texts in 200 cells"
said "ignored column kanal"
grep -qa 'land.*category.*DE.*FR.*XY' "$work/model/model.safetensors" || fault "the model file has no recipe"
grep -q "^u10,ja" "$work/model/predictions.csv" || fault "XY is not found out: $(sed -n 12p "$work/model/predictions.csv")"

# The report says what is missing in each column: 16 of the amounts.
tr -d '\n' < "$work/model/report.html" | grep -qE 'Missing.*umsatz</t[hd]><td[^>]*>number[^<]*</td><td[^>]*>16<' || fault "the report does not count missing values"

# ---- next month: other order, no names, blanks elsewhere, a new country -----------------------------
month june 'seit;umsatz;land;kunde;betrug' \
    'print (i % 11 ? since : "") ";" amount ";" (i == 3 ? "ZZ" : land) ";u" i ";" (bad ? "ja" : "nein")'
expect 0 "u10,ja" predict "$work/model/model.safetensors" "$work/june" "${columns[@]}"
said 'warning: column land: 1 cell with a value that did not occur in training, such as "ZZ"'
said "warning: column seit: 19 cells without a value, filled with "
expect 0 '"accuracy": ' evaluate "$work/model/model.safetensors" "$work/june" "${columns[@]}" --json
expect 0 "land=XY" explain "$work/model/model.safetensors" "$work/june" u10 "${columns[@]}"
# The model remembers the names of columns: no verb needs them again, and a typed flag wins.
for verb in predict edges evaluate; do
    "$consm" "$verb" "$work/model/model.safetensors" "$work/june" "${columns[@]}" > "$work/typed" 2> "$work/err" ||
        fault "$verb with flags: $(cat "$work/err")"
    "$consm" "$verb" "$work/model/model.safetensors" "$work/june" > "$work/out" 2> "$work/err" || fault "$verb: $(cat "$work/err")"
    cmp -s "$work/out" "$work/typed" || fault "$verb does not remember the columns: $(head -3 "$work/out" "$work/err")"
done
expect 0 "land=XY" explain "$work/model/model.safetensors" "$work/june" u10
expect 0 "" clean "$work/model/model.safetensors" "$work/june" --drop 0.1 -o "$work/clean-june"
expect 0 '"accuracy": ' evaluate "$work/model/model.safetensors" "$work/clean-june" --json # its columns are id and label
expect 2 "--label-column betruk: no table has this column; did you mean betrug?" \
    predict "$work/model/model.safetensors" "$work/june" --label-column betruk
expect 1 "or use --id-column" predict "$work/model/model.safetensors" "$work/june" --label-column kunde
cp -r "$work/june" "$work/july" # not labelled yet, and the weights have gone
sed -i 's/;[^;]*$//' "$work/july/nodes.csv"
awk -F';' '{ print NR == 1 ? "source;target" : $1 ";" $2 }' "$work/june/edges.csv" > "$work/july/edges.csv"
expect 0 "u10,ja" predict "$work/model/model.safetensors" "$work/july"
said "has no column betrag, which contained the weights in training: every edge gets weight 1"
# The same table, already encoded and without a recipe: features are found by their names.
"$consm" convert "$work/may" "$work/may.npz" "${columns[@]}" > /dev/null 2>&1 || fault "convert fails"
"$consm" predict "$work/model/model.safetensors" "$work/may.npz" 2> /dev/null | cmp -s - "$work/model/predictions.csv" ||
    fault "encoded features are not those of the table"
sed -i 's/;land;/;country;/' "$work/june/nodes.csv"
expect 2 "lacks 1 of the model's 4 feature columns: land" predict "$work/model/model.safetensors" "$work/june" "${columns[@]}"

# ---- a missing column: the nearest name and the list, for every table --------------------------------
expect 2 "--id-column kund: no table has this column; did you mean kunde? Columns: kunde, betrug, land" \
    info "$work/may" --id-column kund --label-column betrug --weight-column betrag
expect 2 "--weight-column betragg: no table has this column; did you mean betrag? Columns:" \
    info "$work/may" --id-column kunde --label-column betrug --weight-column betragg
printf 'a b\nb c\n' > "$work/list.txt"
printf 'user,is_fraud,x\na,1,2\nb,0,3\nc,0,1\n' > "$work/list.csv"
expect 2 "--id-column usr: no table has this column; did you mean user?" \
    info "$work/list.txt" --labels "$work/list.csv" --id-column usr --label-column is_fraud
expect 2 "--label-column fraud: no table has this column; columns: user, is_fraud, x" \
    info "$work/list.txt" --labels "$work/list.csv" --id-column user --label-column fraud

# ---- all errors are listed at once ------------------------------------------------------------------
mkdir "$work/bad"
printf 'source\ttarget\nu1\tu2\nu2\tu9\nu3\n' > "$work/bad/edges.csv"
{ printf 'id,label,amount,when,split\n'
  printf 'u1,a,5,2020-01-01,train\nu2,b,five,2020-01-02,val\nu2,a,7,2020-01-03,test\n'
  printf 'u3,a,8,01/02/2020,train\nu4,b,9,2020-01-05,holdout\nu5,b\n'; } > "$work/bad/nodes.csv"
expect 1 "nodes.csv: 3 errors:" info "$work/bad"
said '  line 4, column 1 (id): found "u2", expected a unique id; delete one of the rows'
said '  line 6, column 5 (split): found "holdout", expected train, val, test, none or an empty cell'
said '  line 7: found 2 columns, expected 5 as in the first row'
sed -i '/holdout/d; /^u5/d; 4d' "$work/bad/nodes.csv"
expect 1 "nodes.csv: 2 errors:" info "$work/bad"
said '  line 3, column amount: found "five", expected a finite number as in other rows; fix the cell, leave it empty, or ignore the column (--ignore amount)'
said '  line 4, column when: found "01/02/2020", expected a date as in other rows (2026-11-16)'
expect 1 "edges.csv: 2 errors:" info "$work/bad" --ignore amount,when
said '  line 3, column 2 (target): found "u9", expected a node of nodes.csv'
expect 2 "--ignore kannal: no table has this column" info "$work/may" "${columns[@]}" --ignore kannal

# ---- ends of edges by name, unknown nodes, repeated pairs: one message, stored in the model ----------
mkdir "$work/calls" "$work/calls-next"
awk 'BEGIN { print "minutes,caller,callee,day"; for (i = 0; i < 60; i++) print 1 + i % 5 ",p" i ",p" (i + 2) % 60 ",mon"
    print "9,p0,p2,tue\n3,p5,stranger,tue" }' > "$work/calls/edges.csv"
awk 'BEGIN { print "id,kind,none,y"; for (i = 0; i < 60; i++) print "p" i "," (i % 2 ? "odd" : "even") "," (i % 3 ? "none" : "some") "," i % 2 * 5 + i % 3 }' \
    > "$work/calls/nodes.csv"
named=(--source-column caller --target-column callee --weight-column minutes --label-column kind --ignore day)
expect 1 'found "stranger", expected a node of nodes.csv' info "$work/calls" "${named[@]}"
said "--unknown-nodes"
expect 2 "--source-column callr: no table has this column; did you mean caller? Columns:" info "$work/calls" --source-column callr \
    --target-column callee --weight-column minutes --label-column kind --ignore day
said "Columns: id, kind, none, y, minutes, caller, callee, day"
expect 1 "1 pair" train "$work/calls" "${named[@]}" --unknown-nodes drop --duplicates error -m gcn --epochs 2
expect 0 "none (category of 2)" train "$work/calls" "${named[@]}" --unknown-nodes drop --duplicates keep-first -m gcn --epochs 30 -o "$work/callers"
# The word none is a value there, in the report and in a graph file, too.
grep -qE 'none</th><td class="words">category</td><td class="number" data-value="0">' "$work/callers/report.html" || fault "the report takes none for missing"
"$consm" predict "$work/callers/model.safetensors" "$work/calls" -o "$work/p.csv" --graph "$work/calls.json" > /dev/null 2>&1 || fault "predict --graph"
[ "$(grep -c '"none": "none"' "$work/calls.json")" = 40 ] || fault "none is gone from calls.json"
sed 's/,p2,tue/,p2,wed/; s/stranger/another/' "$work/calls/edges.csv" > "$work/calls-next/edges.csv"
cp "$work/calls/nodes.csv" "$work/calls-next"
for verb in predict edges evaluate; do
    "$consm" "$verb" "$work/callers/model.safetensors" "$work/calls-next" > "$work/out" 2> "$work/err" || fault "$verb: $(cat "$work/err")"
    said "dropped 1 edge to nodes that are not listed"
    said "1 pair of nodes listed more than once with different weights; used the first one in the file"
done
! grep -qE '(^|[^0-9])1 (edges|pairs|nodes|cells|labels)' "$work/out" "$work/err" || fault "1 of many: $(cat "$work/out" "$work/err")"
expect 1 'found "another"' predict "$work/callers/model.safetensors" "$work/calls-next" --unknown-nodes error
expect 1 "1 pair" predict "$work/callers/model.safetensors" "$work/calls-next" --duplicates error
sed -i 's/,kind,/,/; s/,even,/,/; s/,odd,/,/' "$work/calls-next/nodes.csv" # unlabelled: y stays the feature that it was
expect 0 "p7,odd" predict "$work/callers/model.safetensors" "$work/calls-next"

# ---- decimal commas between semicolons, also in weights -------------------------------------------
mkdir "$work/commas"
printf 'who;whom;how long;when\nanna;bert;1,5;2026-01-02\nbert;carl;2,5;\ncarl;anna;1;2026-01-04\n' > "$work/commas/edges.csv"
printf 'name;team;score\nanna;red;1,5\nbert;blue;2\ncarl;red;\n' > "$work/commas/nodes.csv"
"$consm" convert "$work/commas" "$work/commas.json" --source-column who --target-column whom --weight-column "how long" --id-column name \
    --label-column team > /dev/null 2> "$work/err" || fault "commas: $(cat "$work/err")"
grep -q '"weight": 1.5, "when": "2026-01-02"' "$work/commas.json" || fault "a weight with a comma: $(cat "$work/commas.json")"
printf 'who;whom;w\nanna;bert;1,5,5\n' > "$work/commas/edges.csv"
expect 1 'found "1,5,5", expected a finite number as weight' info "$work/commas" --id-column name

# ---- labels beside an edge list ---------------------------------------------------------------------
printf 'a b\nb c\nc d\nd a\n' > "$work/e.txt"
printf 'when,user,is_fraud,note\n1,a,yes,-\n2,b,no,-\n3,c,no,-\n4,d,yes,-\n' > "$work/l.csv"
expect 1 "use --id-column and --label-column" info "$work/e.txt" --labels "$work/l.csv"
expect 0 '"name": "yes"' info "$work/e.txt" --labels "$work/l.csv" --id-column user --label-column is_fraud --json
expect 2 "whose columns have no names" info karate --format npz --label-column x
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n' > "$work/g.mtx"
"$consm" convert "$work/g.mtx" "$work/g.npz" > /dev/null 2>&1
expect 2 "whose columns have no names" info "$work/g.npz" --label-column x

verdict
