#!/usr/bin/env bash
# Training divided among MPI ranks: every model's file and predictions on 1, 2, 3, 4 and 8 ranks equal those of
# one process; one rank prints and writes for all; differing inputs, a failing rank and a killed rank end the
# job with one line; a checkpoint resumes with another number of ranks; data in parts, of a folder or of a plain
# list, gives the bits of one process; a study's runs are divided.
# usage: BUILD_DIR=… check_mpi.sh PATH-TO-consm
set -uo pipefail
consm=$(realpath "$1")
build=$(realpath "${BUILD_DIR:-$(dirname "$consm")}")
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"

nm -D "$build/libconsm.so" 2> /dev/null | grep -E ' (P?MPI_|ompi_)' && fault "libconsm.so knows MPI"
nm -D "$consm" | grep -E ' (P?MPI_|ompi_)' && fault "the command knows MPI"
if [ ! -f "$build/libconsm_mpi.so" ]; then
    OMPI_COMM_WORLD_SIZE=2 "$consm" info karate > "$work/out" 2>&1 && fault "mpirun without the plug-in goes on"
    grep -q 'mpirun started this consm, but it was built without MPI' "$work/out" || fault "said: $(cat "$work/out")"
    [ "$faults" = 0 ] || verdict
    echo "SKIPPED: built without MPI: nothing was run on ranks (scripts/bootstrap mpi installs one)"
    exit 77
fi
names=$(nm -D --defined-only "$build/libconsm_mpi.so" | awk '{print $3}' | grep -v '^_fini$\|^_init$')
[ "$names" = "$(printf 'consm_cut\nconsm_handout\nconsm_ranks')" ] || fault "libconsm_mpi.so exports $names"
if ! command -v mpirun > /dev/null; then
    [ "$faults" = 0 ] || verdict
    echo "SKIPPED: no mpirun: nothing was run on ranks (scripts/bootstrap mpi installs one)"
    exit 77
fi
mpi=(mpirun --oversubscribe)
[ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # MPI's own leaks are not looked for
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers forbid it, with a warning
# All ranks are here. Looking for networks takes Open MPI a second per start, and version 5 warns if there is none.
export OMPI_MCA_btl=^tcp,ofi OMPI_MCA_pml=ob1
export CONSM_RANKS=divide # or rank 0 would train these small graphs alone

# With AddressSanitizer one number of ranks is enough to run all code.
sanitized=$(grep -qa __asan_init "$consm" && echo 1 || true)
ranks_tried=(2 3 8)
parted_models=(gcn mlp gin appnp gcnii grand gat fagcn h2gcn dropedge ptdnet) epochs=800 rounds_tried=20
[ -z "$sanitized" ] || { ranks_tried=(3) parted_models=(gcn appnp grand gat h2gcn) epochs=200 rounds_tried=6; }
# Its dlopen does not look beside the program.
[ -z "$sanitized" ] || export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# All models, any number of ranks: the same files.
graph=csbm:nodes=90,degree=5,features=12
mkdir "$work/0"
"$build/mpi_models" "$work/0" $graph 2 || fault "models: one process"
for ranks in "${ranks_tried[@]}"; do
    mkdir "$work/$ranks"
    "${mpi[@]}" -n $ranks "$build/mpi_models" "$work/$ranks" $graph 2 > "$work/out" 2>&1 ||
        fault "models on $ranks ranks: $(cat "$work/out")"
    diff -rq "$work/0" "$work/$ranks" || fault "$ranks ranks: other bits"
done
[ "$(find "$work/0" -name '*.safetensors' | wc -l)" = 13 ] || fault "not all models were trained"

# The command: one line per run, the same files, no output from the other ranks.
run=(train karate --per-class 4 --model gat --epochs 12 --json --quiet)
"$consm" "${run[@]}" -o "$work/alone" > "$work/alone.json" || fault "train alone"
"${mpi[@]}" -n 3 "$consm" "${run[@]}" -o "$work/three" > "$work/out" 2> "$work/err" || fault "train: $(cat "$work/err")"
[ "$(wc -l < "$work/out")" = 2 ] && [ ! -s "$work/err" ] || fault "three ranks said: $(cat "$work/out" "$work/err")"
for file in model.safetensors predictions.csv edges.csv config.yaml; do
    cmp "$work/alone/$file" "$work/three/$file" || fault "$file is another on three ranks"
done
[ "$(find "$work/three" -type f | wc -l)" = "$(find "$work/alone" -type f | wc -l)" ] || fault "files: $(ls "$work/three")"
# Rank 0 trains a small graph alone, like one process, and says so.
env -u CONSM_RANKS "${mpi[@]}" -n 2 "$consm" "${run[@]}" -o "$work/small" > "$work/out" 2> "$work/err" || fault "a small graph: $(cat "$work/err")"
[ "$(cat "$work/err")" = "consm train: warning: 34 nodes on 2 ranks: one process is faster, so rank 0 trains alone; use ranks from 10000 nodes each on" ] ||
    fault "a small graph: said $(cat "$work/err")"
[ "$(wc -l < "$work/out")" = 2 ] && ! grep -q '"ranks"' "$work/out" || fault "a small graph: $(cat "$work/out")"
cmp "$work/alone/model.safetensors" "$work/small/model.safetensors" || fault "a small graph: other bits"
"${mpi[@]}" -n 2 "$consm" info karate > "$work/out" 2>&1
"$consm" info karate | cmp - "$work/out" || fault "info on two ranks"
# Verbs that one rank does alone, also if they run models.
for name in alone three; do
    "${mpi[@]}" -n 2 timeout 60 "$consm" clean "$work/$name/model.safetensors" karate -o "$work/clean_$name" > "$work/out" 2>&1 ||
        fault "clean on two ranks: $(cat "$work/out")"
done
diff -rq "$work/clean_alone" "$work/clean_three" || fault "clean on two ranks: other files"

# A ring, whose ranks have long runs of rows that need no other rank's rows. The bytes that MPI sends per epoch
# are those of the plan.
awk 'BEGIN { for (i = 0; i < 4096; i++) print i "," (i + 1) % 4096 }' > "$work/ring.csv"
awk 'BEGIN { print "id,label"; for (i = 0; i < 4096; i++) print i "," (i < 2048 ? "x" : "y") }' > "$work/ring_labels.csv"
count() { # EPOCHS: bytes of sends and of gathers by all ranks; the run's own figure
    mkdir -p "$work/count"
    COUNT_FOLDER=$work/count "${mpi[@]}" -n 4 -x COUNT_FOLDER -x LD_PRELOAD="$build/libmpi_count.so" "$consm" train "$work/ring.csv" \
        --labels "$work/ring_labels.csv" -m gat --hidden 8 --epochs "$1" --refit no --json --quiet --force -o "$work/ring_$1" > "$work/out" 2> "$work/err" ||
        fault "counted: $(cat "$work/err")" >&2
    cat "$work/count"/* | awk '{ s += $1; g += $2 } END { printf "%d %d ", s, g }'
    sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/out"
}
[ -n "$sanitized" ] || read -r sends gathers planned <<< "$(count 20)" # nothing is loaded before the sanitizer
[ -n "$sanitized" ] || read -r more_sends more_gathers _ <<< "$(count 30)"
[ -n "$sanitized" ] || [ $(((more_sends - sends + more_gathers - gathers) / 10)) = "$planned" ] ||
    fault "planned $planned bytes an epoch, sent $sends+$gathers in 20, $more_sends+$more_gathers in 30"
[ -n "$sanitized" ] ||
    "$consm" train "$work/ring.csv" --labels "$work/ring_labels.csv" -m gat --hidden 8 --epochs 30 --refit no --quiet -o "$work/ring_alone" > /dev/null
[ -n "$sanitized" ] || cmp "$work/ring_alone/model.safetensors" "$work/ring_30/model.safetensors" || fault "a ring: other bits"
# Sums over many blocks, products that are not sums of blocks, batch norm.
mkdir "$work/wide0" "$work/wide3"
wide=(csbm:nodes=2500,degree=4,features=520 2 mlp gin grand)
"$build/mpi_models" "$work/wide0" "${wide[@]}" || fault "wide: one process"
"${mpi[@]}" -n 3 "$build/mpi_models" "$work/wide3" "${wide[@]}" > "$work/out" 2>&1 || fault "wide: $(cat "$work/out")"
diff -rq "$work/wide0" "$work/wide3" || fault "wide: other bits"

# An order by METIS: the same nodes by name, and again the same bits; by the cost model a ring's ranks need two rows each.
"$consm" info "$work/ring.csv" --labels "$work/ring_labels.csv" --ranks 4 --json | grep -q '"most_halo": 2, "halo": 8, "cut_edges": 4,' ||
    fault "a ring on paper: $("$consm" info "$work/ring.csv" --ranks 4 --json)"
awk 'BEGIN { for (i = 0; i < 4096; i++) print (i * 1031) % 4096 "," ((i + 1) * 1031) % 4096 }' > "$work/mixed.csv"
"$consm" partition "$work/mixed.csv" --labels "$work/ring_labels.csv" -k 16 -o "$work/parts" --json > "$work/out" 2> "$work/err"
code=$?
if grep -q 'built without METIS' "$work/err"; then
    echo "no METIS here: nothing was cut"
elif [ $code -ne 0 ]; then
    fault "partition: $(cat "$work/err")"
else
    [ "$(grep -c '"one_process_is_faster": true' "$work/out")" = 4 ] || fault "a forecast for 4096 nodes: $(cat "$work/out")"
    halo() { sed -n 's/.*"ranks": 4, .*"halo": \([0-9]*\),.*/\1/p'; }
    after=$(halo < "$work/out")
    before=$("$consm" info "$work/mixed.csv" --labels "$work/ring_labels.csv" --ranks 4 --json | halo)
    [ $((10 * after)) -lt "$before" ] || fault "METIS: a halo of $after rows, $before before"
    parts=(train "$work/parts/graph.safetensors" -m gcn --hidden 8 --epochs 5 --quiet)
    "$consm" "${parts[@]}" -o "$work/parts1" > /dev/null || fault "parts: one process"
    "${mpi[@]}" -n 3 "$consm" "${parts[@]}" -o "$work/parts3" > "$work/out" 2>&1 || fault "parts: $(cat "$work/out")"
    cmp "$work/parts1/model.safetensors" "$work/parts3/model.safetensors" || fault "parts: other bits"
    "$consm" train "$work/mixed.csv" --labels "$work/ring_labels.csv" -m gcn --hidden 8 --epochs 1 --quiet -o "$work/mixed" > /dev/null
    [ "$(cut -d, -f1 "$work/parts1/predictions.csv" | sort | md5sum)" = "$(cut -d, -f1 "$work/mixed/predictions.csv" | sort | md5sum)" ] ||
        fault "parts: other nodes"
fi

# Rank 1 is killed once there is a checkpoint.
cat > "$work/kill.sh" << 'END'
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
    (until [ -f "$1/checkpoint.safetensors" ]; do sleep 0.02; done; kill -9 $$) &
fi
shift
exec "$@"
END

# A folder in parts, of a weighted graph: each rank reads its rows, and one process gives the same bits; options that need the whole graph are refused.
if ! grep -q 'built without METIS' "$work/err"; then
    awk 'BEGIN { for (i = 0; i < 700; i++) for (k = 1; k < 5; k++) print i "," (i * 3 + k * k * k) % 700 "," 0.1 * (i % 7 + k) }' > "$work/w.csv"
    awk 'BEGIN { print "id,label"; for (i = 0; i < 700; i++) print i "," i % 3 }' > "$work/w_labels.csv"
    awk 'BEGIN { srand(1); for (i = 0; i < 700; i++) { printf "%d", i; for (k = 0; k < 12; k++) printf ",%.3f", rand() + (i % 3 == k); print "" } }' > "$work/w_features.csv"
    "$consm" partition "$work/w.csv" --labels "$work/w_labels.csv" --features "$work/w_features.csv" -k 7 -o "$work/in_parts" --json > /dev/null ||
        fault "partition with features"
    same_in_parts() { # NAME RANKS MODEL…: what one process gives
        local name=$1 counts=$2 ranks
        shift 2
        mkdir "$work/${name}0"
        "$build/mpi_models" "$work/${name}0" "$work/in_parts" 3 "$@" || fault "in parts: one process: $name"
        for ranks in $counts; do
            mkdir "$work/$name$ranks"
            "${mpi[@]}" -n $ranks "$build/mpi_models" "$work/$name$ranks" "$work/in_parts" 3 "$@" > "$work/out" 2>&1 || fault "in parts: $(cat "$work/out")"
            diff -rq "$work/${name}0" "$work/$name$ranks" || fault "in parts: other bits on $ranks ranks: $name"
        done
    }
    same_in_parts parted "${ranks_tried[*]}" "${parted_models[@]}"
    same_in_parts rounds "${ranks_tried[*]:0:2}" gcn,propagation=ngm gcn,propagation=ngm,distance=probabilities mlp,propagation=ngm,distance=squared \
        gat,propagation=p-reg gam,warmup=3,rounds=3,gnn_steps=3,match_steps=4,grow=30 consm,trust_pairs=no
    parted=(train "$work/in_parts" --epochs 4 --quiet --probabilities --metric macro-f1)
    "$consm" "${parted[@]}" -m gcn -o "$work/part1" 2> "$work/err" || fault "in parts: $(cat "$work/err")"
    "${mpi[@]}" -n 3 "$consm" "${parted[@]}" -m gcn -o "$work/part3" > "$work/out" 2>&1 || fault "in parts: $(cat "$work/out")"
    for file in model.safetensors predictions.csv metrics.json edges.csv; do
        cmp "$work/part1/$file" "$work/part3/$file" || fault "in parts: another $file"
    done
    grep -q 'no report.html, because the graph is in parts' "$work/out" || fault "in parts: said $(cat "$work/out")"
    # Sparse features: rows with their nodes, the transpose by columns.
    "$consm" partition csbm:nodes=300,degree=6,features=90,words=7 -k 5 -o "$work/words" --json > /dev/null || fault "partition with words"
    mkdir "$work/words0" "$work/words3"
    "$build/mpi_models" "$work/words0" "$work/words" 3 gcn mlp gat gam,warmup=2,rounds=2,gnn_steps=2,match_steps=3 consm,prune_by=references,two_hop_cap=12,trust_pairs=no || fault "words in parts: one process"
    "${mpi[@]}" -n 3 "$build/mpi_models" "$work/words3" "$work/words" 3 gcn mlp gat gam,warmup=2,rounds=2,gnn_steps=2,match_steps=3 consm,prune_by=references,two_hop_cap=12,trust_pairs=no > "$work/out" 2>&1 || fault "words in parts: $(cat "$work/out")"
    diff -rq "$work/words0" "$work/words3" || fault "words in parts: other bits"
    # More ranks than nodes.
    "$consm" partition csbm:nodes=16,classes=2,degree=4,features=10,words=3 -k 2 -o "$work/few" --json > /dev/null || fault "partition of few"
    mkdir "$work/few0" "$work/few20"
    "$build/mpi_models" "$work/few0" "$work/few" 1 gcn || fault "few: one process"
    [ -n "$sanitized" ] || "${mpi[@]}" -n 20 "$build/mpi_models" "$work/few20" "$work/few" 1 gcn > "$work/out" 2>&1 || fault "few: $(cat "$work/out")"
    [ -n "$sanitized" ] || diff -rq "$work/few0" "$work/few20" || fault "few: other bits on 20 ranks"
    "${mpi[@]}" -n 2 "$consm" "${parted[@]}" -m consm --messages signed > "$work/out" 2>&1 && fault "in parts: messages went on"
    [ "$(grep -c '^consm train: .*in parts, so consm needs --messages none; ' "$work/out")" = 1 ] || fault "in parts: messages said $(cat "$work/out")"
    # A checkpoint keeps no edges of a graph in parts: they are scored again, on another number of ranks.
    for model in gam 'consm --backbone gcn --lambda 5 --attract zeta --guesses yes --prune-by references --trust-pairs no'; do
        read -ra rounds <<< "train $work/in_parts --warmup 5 --rounds $rounds_tried --gnn-steps 10 --match-steps 3 --round-patience 0 --quiet --force -m $model"
        rm -rf "$work/again3"
        "$consm" "${rounds[@]}" -o "$work/again1" > "$work/out" 2>&1 || fault "rounds: $(cat "$work/out")"
        "${mpi[@]}" -n 3 bash "$work/kill.sh" "$work/again3" "$consm" "${rounds[@]}" -o "$work/again3" --checkpoint-every 17 > "$work/out" 2>&1 &&
            fault "rounds: a killed rank was not missed"
        "${mpi[@]}" -n 2 "$consm" "${rounds[@]}" -o "$work/again3" --resume > "$work/out" 2>&1 || fault "rounds: $(cat "$work/out")"
        for file in model.safetensors predictions.csv edges.csv; do
            cmp "$work/again1/$file" "$work/again3/$file" || fault "rounds: resumed to another $file of $model"
        done
    done
    "${mpi[@]}" -n 2 "$consm" edges "$work/again1/model.safetensors" "$work/in_parts" -o "$work/scored.csv" > "$work/out" 2>&1 || fault "edges in parts: $(cat "$work/out")"
    cmp "$work/again1/edges.csv" "$work/scored.csv" || fault "edges in parts: other scores"
fi

# A plain folder of which each rank reads its rows: the bits of one process, and, as METIS leaves one part in its order, those of a
# folder in parts with the same order. An error is printed once.
mkdir "$work/plain"
awk 'BEGIN { print "source,target,weight"; for (i = 0; i < 700; i++) for (k = 0; k < 5; k++) print i "," (i * 3 + k * k * k) % 700 "," 0.1 * (i % 7 + k) }' > "$work/plain/edges.csv"
awk 'BEGIN { srand(2); printf "id,label"; for (k = 0; k < 12; k++) printf ",f%d", k; print ""
             for (i = 0; i < 700; i++) { printf "%d,%s", i, substr("xyz", i % 3 + 1, 1); for (k = 0; k < 12; k++) printf ",%.3f", rand() + (i % 3 == k); print "" } }' > "$work/plain/nodes.csv"
plain=(train "$work/plain" --in-parts -m gat --epochs 4 --quiet --probabilities --json)
"$consm" "${plain[@]}" -o "$work/listed0" > "$work/out" 2> "$work/err" || fault "list in parts: $(cat "$work/err")"
for ranks in "${ranks_tried[@]:0:2}"; do
    "${mpi[@]}" -n $ranks "$consm" "${plain[@]}" -o "$work/listed$ranks" > "$work/out" 2> "$work/err" || fault "list in parts: $(cat "$work/err")"
    for file in model.safetensors predictions.csv metrics.json; do
        cmp "$work/listed0/$file" "$work/listed$ranks/$file" || fault "list in parts: another $file on $ranks ranks"
    done
done
if "$consm" partition "$work/plain" -k 1 -o "$work/one_part" --json > /dev/null 2> "$work/err"; then
    "$consm" train "$work/one_part" -m gat --epochs 4 --quiet --probabilities -o "$work/one" > /dev/null 2>&1 || fault "one part"
    cmp "$work/one/predictions.csv" "$work/listed0/predictions.csv" || fault "list in parts: other bits than of the folder in parts"
fi
"$consm" predict "$work/listed0/model.safetensors" "$work/plain" --in-parts -o "$work/predicted0.csv" > /dev/null 2> "$work/err" || fault "predict: $(cat "$work/err")"
"${mpi[@]}" -n 3 "$consm" predict "$work/listed0/model.safetensors" "$work/plain" --in-parts -o "$work/predicted3.csv" > "$work/out" 2>&1 ||
    fault "predict list in parts: $(cat "$work/out")"
cmp "$work/predicted0.csv" "$work/predicted3.csv" || fault "predict list in parts: other bits"
# Columns that are mostly zero, divided by their deviations.
mkdir "$work/scaled"
cp "$work/plain/edges.csv" "$work/scaled"
awk 'BEGIN { srand(3); printf "id,label"; for (k = 0; k < 24; k++) printf ",f%d", k; print ""
             for (i = 0; i < 700; i++) { printf "%d,%s", i, substr("xyz", i % 3 + 1, 1); for (k = 0; k < 24; k++) printf ",%s", rand() < 0.1 + 0.1 * (k % 3 == i % 3) ? 0.5 + rand() : 0; print "" } }' > "$work/scaled/nodes.csv"
words=(train "$work/scaled" --in-parts -m grand --normalize-features scale --feature-gate yes --epochs 4 --quiet --probabilities)
"$consm" "${words[@]}" -o "$work/scaled0" > "$work/out" 2>&1 || fault "scaled words: $(cat "$work/out")"
"${mpi[@]}" -n 3 "$consm" "${words[@]}" -o "$work/scaled3" > "$work/out" 2>&1 || fault "scaled words in parts: $(cat "$work/out")"
for file in model.safetensors predictions.csv metrics.json; do
    cmp "$work/scaled0/$file" "$work/scaled3/$file" || fault "scaled words in parts: another $file"
done
# Names that occur only in the edges, and no features.
tail -n +2 "$work/plain/edges.csv" | sed 's/\([0-9]*\),\([0-9]*\),.*/n\1 n\2/' > "$work/names.txt"
tail -n +2 "$work/plain/nodes.csv" | sed 's/\([0-9]*\),\([^,]*\),.*/n\1 \2/' | head -300 > "$work/names_labels.txt"
bare=(train "$work/names.txt" --labels "$work/names_labels.txt" --in-parts -m gcn --epochs 3 --quiet --probabilities)
"$consm" "${bare[@]}" -o "$work/bare0" > "$work/out" 2>&1 || fault "no features: $(cat "$work/out")"
"${mpi[@]}" -n 3 "$consm" "${bare[@]}" -o "$work/bare3" > "$work/out" 2>&1 || fault "no features, in parts: $(cat "$work/out")"
for file in model.safetensors predictions.csv metrics.json; do
    cmp "$work/bare0/$file" "$work/bare3/$file" || fault "no features, in parts: another $file"
done
sed -i '2000s/,[^,]*$/,heavy/' "$work/plain/edges.csv"
"${mpi[@]}" -n 3 "$consm" "${plain[@]}" > "$work/out" 2>&1 && fault "list in parts: a bad weight went on"
[ "$(grep -c 'edges.csv: line 2000, column 3 (weight): found "heavy"' "$work/out")" = 1 ] || fault "list in parts: said $(cat "$work/out")"

# Ranks with different options or data stop with one line.
disagree() { # TEXT, then the commands of rank 0 and rank 1, with a colon between them (mpirun 5 crashes on two commands)
    local text=$1 first=()
    shift
    while [ "$1" != : ]; do
        first+=("$1")
        shift
    done
    printf '%q ' "${first[@]}" > "$work/rank0"
    printf '%q ' "${@:2}" > "$work/rank1"
    # shellcheck disable=SC2016 # for the ranks' shells
    "${mpi[@]}" -n 2 bash -c 'eval "exec $(cat "$0/rank$OMPI_COMM_WORLD_RANK")"' "$work" > "$work/out" 2>&1 && fault "went on: $text"
    [ "$(grep -c '^consm' "$work/out")" = 1 ] && grep -qF "$text" "$work/out" || fault "expected $text: $(cat "$work/out")"
}
cp -r examples/friends "$work/friends"
sed -i '2d' "$work/friends/edges.csv"
disagree 'rank 0 has the command info karate, but rank 1 has info csbm' "$consm" info karate : "$consm" info csbm
(cd examples && ln -sfn "$PWD/friends" "$work/a" && ln -sfn "$work/friends" "$work/b")
cat > "$work/own.sh" << 'END'
cd "$1/$([ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo a || echo b)" && exec "$2" train . -m gcn --epochs 3 -q
END
disagree 'the ranks disagree: rank 1 differs' bash "$work/own.sh" "$work" "$consm" : bash "$work/own.sh" "$work" "$consm"
disagree 'rank 1 differs from rank 0 in its dataset' env -u CONSM_RANKS bash "$work/own.sh" "$work" "$consm" : env -u CONSM_RANKS bash "$work/own.sh" "$work" "$consm"
# … also if the option is in a file, or the program differs.
sed 's/^epochs: .*/epochs: 4/' "$work/alone/config.yaml" > "$work/a.yaml"
sed 's/^epochs: .*/epochs: 5/' "$work/alone/config.yaml" > "$work/b.yaml"
cat > "$work/told.sh" << 'END'
cp "$1/$([ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo a || echo b).yaml" "$1/$OMPI_COMM_WORLD_RANK/run.yaml" && cd "$1/$OMPI_COMM_WORLD_RANK" && exec "$2" train karate --config run.yaml -q
END
mkdir -p "$work/0" "$work/1" "$work/other"
disagree 'the ranks disagree: rank 0 has epochs 4, but rank 1 has 5' bash "$work/told.sh" "$work" "$consm" : bash "$work/told.sh" "$work" "$consm"
version=$("$consm" --version | cut -d' ' -f2)
sed "s/${version//./\\.}/${version%?}x/g" "$consm" > "$work/other/consm" && chmod +x "$work/other/consm" && cp "$build/libconsm_mpi.so" "$work/other/"
disagree "rank 0 has version $version" "$consm" info karate : "$work/other/consm" info karate
cat > "$work/gone.sh" << 'END'
cd "$1/$([ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo a || echo .)" && exec "$2" train . -m gcn --epochs 3 -q
END
"${mpi[@]}" -n 2 bash "$work/gone.sh" "$work" "$consm" > "$work/out" 2>&1 && fault "a rank without data went on"
grep -q '^rank 1: consm train: ' "$work/out" || fault "a rank without data: $(cat "$work/out")"

# Rank 1 is killed: the job ends, and another number of ranks continues from the checkpoint with the same bits.
long=(train csbm:nodes=400 --model gcn --epochs "$epochs" --quiet)
"$consm" "${long[@]}" -o "$work/whole" > /dev/null || fault "the long run"
# Rank 1 is asked to stop: all ranks stop between two epochs, with a checkpoint.
sed 's/kill -9/kill -TERM/' "$work/kill.sh" > "$work/term.sh"
"${mpi[@]}" -n 3 bash "$work/term.sh" "$work/stopped" "$consm" "${long[@]}" -o "$work/stopped" --checkpoint-every $((epochs / 8)) > "$work/out" 2>&1 &&
    fault "rank 1 was asked to stop, and the job went on to its end"
grep -q 'stopped at epoch' "$work/out" || fault "rank 1 was asked to stop: $(cat "$work/out")"
"${mpi[@]}" -n 4 bash "$work/kill.sh" "$work/broken" "$consm" "${long[@]}" -o "$work/broken" --checkpoint-every $((epochs / 8)) > "$work/out" 2>&1 &&
    fault "a killed rank was not missed"
grep -q '^consm: mpirun ended the job because a rank failed or was stopped' "$work/out" || fault "a killed rank: $(cat "$work/out")"
"${mpi[@]}" -n 2 "$consm" "${long[@]}" -o "$work/broken" --resume > "$work/out" 2>&1 || fault "resume: $(cat "$work/out")"
cmp "$work/whole/model.safetensors" "$work/broken/model.safetensors" || fault "resumed on two ranks to other bits"
# A study: ranks get whole runs, one process records them, and finished runs are not repeated.
study=(study accuracy --datasets csbm:nodes=120 --models gcn,mlp --seeds 3 --split random --epochs 3 --json)
figures() { sed 's/.*"key":"\([0-9a-f]*\)".*"test_acc":\([0-9.]*\).*/\1 \2/' "$1/runs.jsonl" | sort; }
"$consm" "${study[@]}" -o "$work/study1" > /dev/null 2> "$work/err" || fault "study: $(cat "$work/err")"
"${mpi[@]}" -n 3 "$consm" "${study[@]}" -o "$work/study3" > "$work/out" 2> "$work/err" || fault "study on three ranks: $(cat "$work/err")"
[ "$(wc -l < "$work/out")" = 7 ] || fault "a study of six runs said: $(cat "$work/out")"
[ "$(figures "$work/study1")" = "$(figures "$work/study3")" ] || fault "a study on three ranks: $(figures "$work/study3")"
head -2 "$work/study1/runs.jsonl" > "$work/study3/runs.jsonl"
"${mpi[@]}" -n 3 "$consm" "${study[@]}" -o "$work/study3" > "$work/out" 2> "$work/err" || fault "study, resumed: $(cat "$work/err")"
grep -q '2 runs already finished, 4 to do' "$work/err" || fault "study, resumed: $(cat "$work/err")"
[ "$(figures "$work/study1")" = "$(figures "$work/study3")" ] || fault "a resumed study: $(figures "$work/study3")"
"${mpi[@]}" -n 3 "$consm" "${study[@]}" --device cuda:77 -o "$work/study0" > "$work/out" 2>&1 && fault "a study without its device went on"
[ "$(grep -c '^consm' "$work/out")" = 1 ] || fault "a study without its device: $(cat "$work/out")"
verdict
