#!/usr/bin/env bash
# Training divided among MPI ranks: every model's file and predictions are those of one process on 1, 2,
# 3, 4 and 8 ranks; one rank speaks and writes for all; ranks that were given different things, a rank
# that fails alone and a rank that is killed end the job with one line; a checkpoint goes on with another number of ranks.
# usage: BUILD_DIR=… check_mpi.sh PATH-TO-consm
set -uo pipefail
consm=$(realpath "$1")
build=${BUILD_DIR:-$(dirname "$consm")}
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"

nm -D "$build/libconsm.so" 2> /dev/null | grep -E ' (P?MPI_|ompi_)' && fault "libconsm.so knows MPI"
nm -D "$consm" | grep -E ' (P?MPI_|ompi_)' && fault "the command knows MPI"
if [ ! -f "$build/libconsm_mpi.so" ]; then
    OMPI_COMM_WORLD_SIZE=2 "$consm" info karate > "$work/out" 2>&1 && fault "mpirun without the plug-in goes on"
    grep -q 'started by mpirun, and there is no libconsm_mpi.so' "$work/out" || fault "said: $(cat "$work/out")"
    [ "$faults" = 0 ] || verdict
    echo "SKIPPED: built without MPI: nothing was run on ranks (scripts/bootstrap mpi installs one)"
    exit 77
fi
names=$(nm -D --defined-only "$build/libconsm_mpi.so" | awk '{print $3}' | grep -v '^_fini$\|^_init$')
[ "$names" = consm_ranks ] || fault "libconsm_mpi.so exports $names"
if ! command -v mpirun > /dev/null; then
    [ "$faults" = 0 ] || verdict
    echo "SKIPPED: no mpirun: nothing was run on ranks (scripts/bootstrap mpi installs one)"
    exit 77
fi
mpi=(mpirun --oversubscribe)
[ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers forbid it, with a warning

# All models, any number of ranks: the same files.
graph=csbm:nodes=90,degree=5,features=12
mkdir "$work/0"
"$build/mpi_models" "$work/0" $graph 3 || fault "models: one process"
for ranks in 1 2 3 4 8; do
    mkdir "$work/$ranks"
    "${mpi[@]}" -n $ranks "$build/mpi_models" "$work/$ranks" $graph 3 > "$work/out" 2>&1 ||
        fault "models on $ranks ranks: $(cat "$work/out")"
    diff -rq "$work/0" "$work/$ranks" || fault "$ranks ranks: other bits"
done
[ "$(find "$work/0" -name '*.safetensors' | wc -l)" = 13 ] || fault "not all models were trained"

# The command: one line a run, the same files, nothing from the others.
run=(train karate --per-class 4 --model gat --epochs 12 --json --quiet)
"$consm" "${run[@]}" -o "$work/alone" > "$work/alone.json" || fault "train alone"
"${mpi[@]}" -n 3 "$consm" "${run[@]}" -o "$work/three" > "$work/out" 2> "$work/err" || fault "train: $(cat "$work/err")"
[ "$(wc -l < "$work/out")" = 2 ] && [ ! -s "$work/err" ] || fault "three ranks said: $(cat "$work/out" "$work/err")"
for file in model.safetensors predictions.csv edges.csv config.yaml; do
    cmp "$work/alone/$file" "$work/three/$file" || fault "$file is another on three ranks"
done
[ "$(find "$work/three" -type f | wc -l)" = "$(find "$work/alone" -type f | wc -l)" ] || fault "files: $(ls "$work/three")"
"${mpi[@]}" -n 2 "$consm" info karate > "$work/out" 2>&1
"$consm" info karate | cmp - "$work/out" || fault "info on two ranks"

# Ranks that were given different things stop, with one line of ours.
disagree() { # TEXT, then two commands for mpirun
    "${mpi[@]}" -n 1 "${@:2:$#-1}" > "$work/out" 2>&1 && fault "went on: $1"
    [ "$(grep -c '^consm' "$work/out")" = 1 ] && grep -qF "$1" "$work/out" || fault "expected $1: $(cat "$work/out")"
}
cp -r examples/friends "$work/friends"
sed -i '2d' "$work/friends/edges.csv"
disagree 'rank 0 has the command info karate, rank 1 info csbm' "$consm" info karate : -n 1 "$consm" info csbm
(cd examples && ln -sfn "$PWD/friends" "$work/a" && ln -sfn "$work/friends" "$work/b")
cat > "$work/own.sh" << 'END'
cd "$1/$([ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo a || echo b)" && exec "$2" train . -m gcn --epochs 3 -q
END
disagree 'the ranks disagree: rank 1 has' bash "$work/own.sh" "$work" "$consm" : -n 1 bash "$work/own.sh" "$work" "$consm"
cat > "$work/gone.sh" << 'END'
cd "$1/$([ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo a || echo .)" && exec "$2" train . -m gcn --epochs 3 -q
END
"${mpi[@]}" -n 2 bash "$work/gone.sh" "$work" "$consm" > "$work/out" 2>&1 && fault "a rank without data went on"
grep -q '^rank 1: consm train: ' "$work/out" || fault "a rank without data: $(cat "$work/out")"

# Rank 1 is killed: the job ends, and another number of ranks goes on from the checkpoint to the same bits.
long=(train csbm:nodes=400 --model gcn --epochs 3000 --quiet)
"$consm" "${long[@]}" -o "$work/whole" > /dev/null || fault "the long run"
cat > "$work/kill.sh" << 'END'
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
    (until [ -f "$1/checkpoint.safetensors" ]; do sleep 0.02; done; kill -9 $$) &
fi
shift
exec "$@"
END
"${mpi[@]}" -n 4 bash "$work/kill.sh" "$work/broken" "$consm" "${long[@]}" -o "$work/broken" --checkpoint-every 100 > "$work/out" 2>&1 &&
    fault "a killed rank was not missed"
grep -q 'exited on signal 9' "$work/out" || fault "a killed rank: $(cat "$work/out")"
"${mpi[@]}" -n 2 "$consm" "${long[@]}" -o "$work/broken" --resume > "$work/out" 2>&1 || fault "resume: $(cat "$work/out")"
cmp "$work/whole/model.safetensors" "$work/broken/model.safetensors" || fault "resumed on two ranks to other bits"
verdict
