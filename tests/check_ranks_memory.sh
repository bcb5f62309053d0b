#!/usr/bin/env bash
# A graph too large for one process in a memory cgroup: that process fails, but four processes, each in a cgroup of the
# same size, train on it. Tested with data in parts and with a plain list read in parts.
# usage: check_ranks_memory.sh PATH-TO-consm
set -uo pipefail
consm=$(realpath "$1")
build=${BUILD_DIR:-$(dirname "$consm")}
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
skip() {
    echo "SKIPPED: $1: no rank was held to its memory"
    exit 77
}
[ -f "$build/libconsm_mpi.so" ] && command -v mpirun > /dev/null || skip "no MPI"
grep -qa __asan_init "$consm" && skip "a sanitizer has memory of its own"
limit=$((72 << 20)) # the graph's features alone are 92 MB

# A group of our own under the one this process is in: version 1 or 2.
own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
base=/sys/fs/cgroup/memory$own file=memory.limit_in_bytes
[ -n "$own" ] || { base=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup) file=memory.max; }
groups=()
leave() {
    for group in "${groups[@]}"; do rmdir "$group" 2> /dev/null; done
}
trap 'leave; rm -rf "$work"' EXIT
for rank in 0 1 2 3; do
    group=$base/consm-$$-$rank
    mkdir "$group" 2> /dev/null || skip "no memory cgroup can be made in $base"
    groups+=("$group")
    echo $limit 2> /dev/null > "$group/$file" || skip "$group has no $file"
done

awk 'BEGIN { n = 60000; for (i = 0; i < n; i++) for (k = 1; k < 6; k++) print i "," (i + k * k) % n }' > "$work/edges.csv"
awk 'BEGIN { print "id,label"; for (i = 0; i < 60000; i++) print i "," int(i / 20000) }' > "$work/labels.csv"
awk 'BEGIN { srand(1); for (j = 0; j < 50; j++) { row[j] = ""; for (k = 0; k < 400; k++) row[j] = row[j] "," int(100 * rand()) }
             for (i = 0; i < 60000; i++) print i row[i % 50] }' > "$work/features.csv"
"$consm" partition "$work/edges.csv" --labels "$work/labels.csv" --features "$work/features.csv" -k 16 -o "$work/parts" --json > /dev/null 2> "$work/err" || {
    grep -q 'built without METIS' "$work/err" && skip "no METIS"
    fault "partition: $(cat "$work/err")"
}
cat > "$work/held.sh" << 'END'
echo $$ > "$1-${OMPI_COMM_WORLD_RANK:-0}/cgroup.procs" && shift && exec "$@"
END
run=("$consm" train "$work/parts" -m gcn --hidden 16 --epochs 2 --threads 1 --quiet)
bash "$work/held.sh" "$base/consm-$$" "${run[@]}" -o "$work/one" > "$work/out" 2>&1 && fault "one process fits into $limit bytes"
mpi=(mpirun --oversubscribe)
[ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)
export OMPI_MCA_btl_vader_single_copy_mechanism=none
"${mpi[@]}" -n 4 bash "$work/held.sh" "$base/consm-$$" "${run[@]}" -o "$work/four" > "$work/out" 2>&1 || fault "four ranks: $(cat "$work/out")"
for group in "${groups[@]}"; do
    echo "rank ${group##*-}: most $(cat "$group/memory.max_usage_in_bytes" "$group/memory.peak" 2> /dev/null) of $limit bytes"
done
"${run[@]}" -o "$work/free" > /dev/null 2>&1
cmp "$work/free/model.safetensors" "$work/four/model.safetensors" || fault "other bits"

# The plain list, of which each rank reads its rows. Its features are not in a mapped file, so it needs more memory.
limit=$((96 << 20))
for group in "${groups[@]}"; do echo $limit > "$group/$file"; done
run[2]=$work/edges.csv
run+=(--labels "$work/labels.csv" --features "$work/features.csv" --in-parts)
bash "$work/held.sh" "$base/consm-$$" "${run[@]}" -o "$work/plain1" > "$work/out" 2>&1 && fault "one process and a plain list fit into $limit bytes"
"${mpi[@]}" -n 4 bash "$work/held.sh" "$base/consm-$$" "${run[@]}" -o "$work/plain4" > "$work/out" 2>&1 || fault "four ranks and a plain list: $(cat "$work/out")"
"${run[@]}" -o "$work/plain0" > /dev/null 2>&1
cmp "$work/plain0/model.safetensors" "$work/plain4/model.safetensors" || fault "a plain list: other bits"
verdict
