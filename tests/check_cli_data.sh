#!/usr/bin/env bash
# The verbs about data: what they print, where, and their exit codes.
# usage: check_cli_data.sh PATH-TO-consm
set -uo pipefail
consm=$1
golden=$(dirname "$0")/golden
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
real=${CONSM_DATA:-}
unset CONSM_DATA

# same FILE consm-arguments…: stdout is tests/golden/FILE.
same() {
    local file=$1
    shift
    "$consm" "$@" > "$work/out" 2> "$work/err" || fault "consm $*: $(cat "$work/err")"
    diff -u "$golden/$file" "$work/out" || fault "consm $*: not as in tests/golden/$file"
}

# ---- info ----------------------------------------------------------------------------------------
same info_karate.txt info karate --split random --per-class 4
same info_karate.json info karate --json
same info_csbm.txt info csbm:nodes=300,homophily=0.8,seed=2
same info_list.txt info
expect 2 "did you mean karate?" info kerate
expect 2 "did you mean homophily?" info csbm:homophly=1
expect 2 "homophily=2: expected a number from 0 to 1" info csbm:homophily=2
expect 2 "expected one dataset, found a second one: csbm" info karate csbm
expect 2 "unknown flag --jsn; did you mean --json?" info karate --jsn
expect 2 "--per-class 4 would work" info karate --split paper
printf '0 1 {}\n1 2 {}\n2 3 {}\n' > "$work/networkx.txt" # networkx.write_edgelist
expect 0 "edges                       3" info "$work/networkx.txt"
mkdir "$work/semicolons" # as a German spreadsheet writes them
printf 'source;target\na;b\nb;c\n' > "$work/semicolons/edges.csv"
printf 'id;label;x\na;p;1\nb;q;2.5\nc;;3\n' > "$work/semicolons/nodes.csv"
expect 0 "features                    1" info "$work/semicolons"
expect 2 "--per-class 0: expected" info karate --split random --per-class 0
expect 2 "has no stored split" info karate --split public
expect 2 "did you mean paper?" info karate --split papr
expect 1 "download them with \`consm fetch cora\`" info cora
expect 1 "$work/nothing" info "$work/nothing/here.npz"

# ---- split ---------------------------------------------------------------------------------------
same split_karate.csv split karate --per-class 4 --seed 1 -o -
expect 0 "Officer" split karate --per-class 4 --seed 1 -o "$work/s.csv"
cmp -s "$work/s.csv" "$golden/split_karate.csv" || fault "split -o FILE and -o - differ"
expect 0 '"train": 8, "val": 12, "test": 14, "none": 0' split karate --split "$work/s.csv" --json
expect 0 '"train": 600, "val": 200, "test": 200' \
    split csbm --train-ratio 0.6 --val-ratio 0.2 --json
expect 2 "missing dataset" split
sed 's/val/vla/' "$work/s.csv" > "$work/bad.csv"
expect 1 'found the role "vla"' split karate --split "$work/bad.csv"
expect 1 "cannot write" split karate --per-class 4 -o "$work/no/such/folder/s.csv"

# ---- generate ------------------------------------------------------------------------------------
expect 0 "csbm:nodes=60,seed=3,homophily=0.5: 60 nodes, 300 edges, 32 features, 4 classes" \
    generate csbm:nodes=60 --seed 3 --homophily 0.5 -o "$work/g.npz"
expect 0 '"nodes": 60, "edges": 300' generate csbm:nodes=60,seed=3 --homophily 0.5 --json -o "$work/g"
expect 0 '"classes": 2' generate karate --json -o "$work/k.safetensors"
for path in "$work/g.npz" "$work/g" "$work/g/"; do
    expect 0 '"homophily": {"edge": 0.5,' info "$path" --json
done
expect 0 '"name": "Mr. Hi"' info "$work/k.safetensors" --json
expect 2 "expected karate or csbm" generate cora -o "$work/x.npz"
expect 2 "missing -o" generate csbm
expect 2 "--nodes works with csbm only" generate karate --nodes 5 -o "$work/x.npz"
expect 2 "homophily=2: expected" generate csbm --homophily 2 -o "$work/x.npz"
expect 2 "would need" generate csbm --nodes 40 --homophily 1 --degree 20 -o "$work/x.npz"
expect 1 "cannot write" generate karate -o "$work/no/such/folder/x.npz"
[ ! -e "$work/x.npz" ] || fault "a failed generate left a file"

# ---- a bare edge list with its labels ----------------------------------------------------------------
printf '0 1\n1 2\n2 0\n2 3\n' > "$work/edges.txt"
printf '0 a\n1 a\n2 b\n3 b\n' > "$work/labels.txt"
expect 0 '"homophily": {"edge": 0.5,' info "$work/edges.txt" --labels "$work/labels.txt" --json

# ---- fetch ---------------------------------------------------------------------------------------
expect 2 "missing dataset" fetch
expect 2 "did you mean cora?" fetch cora coar
expect 0 "built in" fetch karate
expect 1 "http://127.0.0.1:1/yandex/texas.npz" fetch texas --mirror http://127.0.0.1:1 --attempts 1
[ -z "$(find "$work/cache" -type f 2> /dev/null)" ] || fault "a failed fetch left a file"

# ---- with the real files, if they are present ------------------------------------------------------
if [ -n "$real" ]; then
    same info_cora.txt info cora --split paper --data-dir "$real"
    same info_actor.txt info film --data-dir "$real"
    same info_chameleon.txt info chameleon --split public --data-dir "$real"
    mkdir -p "$work/partial/planetoid"
    cp "$real"/planetoid/ind.pubmed.* "$work/partial/planetoid"
    rm "$work/partial/planetoid/ind.pubmed.allx"
    expect 1 "lacks planetoid/ind.pubmed.allx; download it with \`consm fetch pubmed\`" \
        info pubmed --data-dir "$work/partial"
    CONSM_DATA=$real expect 0 '"train": 140, "val": 1568, "test": 1000' \
        split cora --split paper --json
    cp "$real/yandex/cornell.npz" "$work/texas.npz"
    expect 0 "texas.npz does NOT have its registered SHA-256" info texas --data-dir "$work"
    if command -v python3 > /dev/null; then
        # Python's own server: it does not support ranges, and it is independent of our test server.
        (cd "$real" && exec python3 -u -m http.server 0 --bind 127.0.0.1) \
            > "$work/server" 2> /dev/null &
        server=$!
        until grep -q port "$work/server" || ! kill -0 $server; do sleep 0.1; done
        port=$(sed -E 's/.*port ([0-9]+).*/\1/' "$work/server")
        expect 0 "8 files fetched" fetch cora --mirror "http://127.0.0.1:$port"
        expect 0 "8 already there" fetch cora --mirror "http://127.0.0.1:$port"
        expect 0 '"edges": 5278' info cora --json
        expect 1 "wisconsin.npz: the server answered 404" \
            fetch wisconsin --mirror "http://127.0.0.1:$port"
        kill "$server"
    fi
else
    echo "SKIPPED: the verbs on public sets need real data; set CONSM_DATA"
fi

verdict
