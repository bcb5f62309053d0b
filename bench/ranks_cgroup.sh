#!/usr/bin/env bash
# usage: bench/ranks_cgroup.sh [PATH-TO-consm]     (as root, with memory cgroups of version 1; needs mpirun, python3, 2 GB of disk)
# 800,000 nodes with 400 features (1.28 GB), four million lines of edges, as plain files. One process in a memory cgroup of
# 1 GiB is killed. Four ranks with 1 GiB each read it in shares and train, bit-identical to one process without a limit. For
# studies/NOTES.md.
set -euo pipefail
consm=$(realpath "${1:-build/release/consm}")
own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
base=/sys/fs/cgroup/memory$own
work=$(mktemp -d)
groups=("$base"/consm-gib-{0,1,2,3})
trap 'rmdir "${groups[@]}" 2> /dev/null; rm -rf "$work"' EXIT
for group in "${groups[@]}"; do
    mkdir "$group" 2> /dev/null && echo $((1 << 30)) > "$group/memory.limit_in_bytes" || { echo "SKIPPED: no memory cgroup can be made in $base" && exit 77; }
done
cd "$work"
awk 'BEGIN { n = 800000; for (i = 0; i < n; i++) for (k = 1; k < 6; k++) print i "," (i + k * k) % n }' > edges.csv
awk 'BEGIN { print "id,label"; for (i = 0; i < 800000; i += 40) print i "," int(i / 200000) }' > labels.csv
python3 - << 'END'
import random, struct
random.seed(1)
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (800000, 400), }".ljust(117) + "\n"
row = [struct.pack("<400f", *(random.random() * 100 for _ in range(400))) for _ in range(50)]
with open("features.npy", "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    for i in range(800000):
        out.write(row[i % 50])
END
cat > held.sh << 'END'
echo $$ > "$1-${OMPI_COMM_WORLD_RANK:-0}/cgroup.procs" && shift && exec "$@"
END
mpi=(mpirun --oversubscribe --allow-run-as-root)
export OMPI_MCA_btl_vader_single_copy_mechanism=none
run=("$consm" train edges.csv --labels labels.csv --features features.npy --in-parts -m gcn --hidden 16 --epochs 2 --threads 1 --quiet)
code=0
bash held.sh "$base/consm-gib" "${run[@]}" -o one > out 2>&1 || code=$?
echo "one process in 1 GiB: exit code $code"
for group in "${groups[@]}"; do echo 0 > "$group/memory.max_usage_in_bytes"; done
"${mpi[@]}" -n 4 bash held.sh "$base/consm-gib" "${run[@]}" -o four > out 2>&1 || { cat out && exit 1; }
for group in "${groups[@]}"; do echo "rank ${group##*-} in 1 GiB: most $(cat "$group/memory.max_usage_in_bytes") bytes"; done
"${run[@]}" -o free > out 2>&1
cmp four/model.safetensors free/model.safetensors && echo "the same bits as one process without limit"
