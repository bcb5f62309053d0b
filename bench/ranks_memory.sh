#!/usr/bin/env bash
# usage: bench/ranks_memory.sh [PATH-TO-consm [RANKS…]]     (needs mpirun and python3)
# The peak memory of a rank by the number of ranks, for three ways to read the data: a plain folder in shares, a folder of
# `consm partition` in parts, and the same as a whole. Makes the table of docs/how-to/distributed.md.
set -euo pipefail
consm=$(realpath "${1:-build/release/consm}")
ranks=("${@:2}")
[ ${#ranks[@]} -gt 0 ] || ranks=(1 2 4 8)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/plain"
# A ring with chords: 40,000 nodes, 640,000 entries, 300 features.
awk 'BEGIN { n = 40000; for (i = 0; i < n; i++) for (k = 1; k < 9; k++) print i "," (i + k * k) % n }' > "$work/plain/edges.csv"
awk 'BEGIN { srand(1); printf "id,label"; for (k = 0; k < 300; k++) printf ",f%d", k; print ""
             for (j = 0; j < 50; j++) { row[j] = ""; for (k = 0; k < 300; k++) row[j] = row[j] "," int(100 * rand()) }
             for (i = 0; i < 40000; i++) print i "," int(i / 10000) row[i % 50] }' > "$work/plain/nodes.csv"
"$consm" partition "$work/plain" -k 16 -o "$work/parts" --json > /dev/null
cat > "$work/peak.py" << 'END'
import os, resource, subprocess, sys
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
with open(sys.argv[1] + os.environ.get("OMPI_COMM_WORLD_RANK", "0"), "w") as out:
    out.write(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\n")
sys.exit(code)
END
mpi=(mpirun --oversubscribe)
[ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)
export OMPI_MCA_btl_vader_single_copy_mechanism=none
printf '%-30s' ranks
printf '%10s' "${ranks[@]}"
echo
row() { # TITLE, then what to train on
    printf '%-30s' "$1"
    for n in "${ranks[@]}"; do
        rm -f "$work"/peak.[0-9]*
        "${mpi[@]}" -n "$n" python3 "$work/peak.py" "$work/peak." "$consm" train "${@:2}" -m gcn --hidden 16 --epochs 3 --threads 1 --quiet 2> "$work/err" ||
            { cat "$work/err" && exit 1; }
        printf '%7d MB' "$(sort -n "$work"/peak.[0-9]* | tail -1 | awk '{ print int($1 / 1000 + 0.5) }')"
    done
    echo
}
row 'plain folder, --in-parts' "$work/plain" --in-parts
row 'parts/' "$work/parts"
row 'parts/graph.safetensors' "$work/parts/graph.safetensors"
row 'plain folder, whole' "$work/plain"
