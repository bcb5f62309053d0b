#!/usr/bin/env bash
# usage: bench/ranks_network.sh [PATH-TO-consm]     (as root; needs ip, tc, mpirun)
# Two ranks in two network namespaces of this machine, joined by a virtual wire (veth) with a limited rate (tbf). Prints the
# time of an epoch, and the time that the bytes of a rank need on such a wire. Makes the table of studies/NOTES.md.
set -euo pipefail
cd "$(dirname "$0")/.."
consm=$(realpath "${1:-build/release/consm}")
skip() {
    echo "SKIPPED: $1: no wire was made"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
for tool in ip tc unshare mpirun; do command -v $tool > /dev/null || skip "no $tool"; done
work=$(mktemp -d)
trap 'ip netns del consm-1 2> /dev/null; ip netns del consm-2 2> /dev/null; rm -rf "$work"' EXIT
ip netns add consm-1 2> /dev/null && ip netns add consm-2 && ip link add consm-a type veth peer name consm-b || skip "no network namespaces"
ip link set consm-a netns consm-1
ip link set consm-b netns consm-2
at() { # 1 or 2, then a command there
    ip netns exec "consm-$1" "${@:2}"
}
wire=(- consm-a consm-b)
for end in 1 2; do
    at $end ip addr add 10.77.0.$end/24 dev "${wire[end]}"
    at $end ip link set "${wire[end]}" up
    at $end ip link set lo up
done

# How mpirun starts its daemon on another machine: here in the other namespace, under a host name of its own.
cat > "$work/agent" << 'END'
#!/bin/sh
end=${1##*.}
shift
exec ip netns exec "consm-$end" unshare --uts sh -c "hostname consm-$end; $*"
END
chmod +x "$work/agent"
"$consm" partition csbm:nodes=20000,degree=8,features=16 -k 16 -o "$work/parts" --json > /dev/null
run=(mpirun --allow-run-as-root --oversubscribe --mca plm_rsh_agent "$work/agent" --mca pml ob1 --mca btl tcp,self
    --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 --host 10.77.0.1,10.77.0.2 -n 2
    "$consm" train "$work/parts" -m gcn --split random --train-ratio 0.95 --val-ratio 0.04 --epochs 7 --threads 1 --json)

echo "| wire | a rank sends an epoch | bytes over rate | an epoch |"
echo "|---|---|---|---|"
for rate in 1000 40 20 10 5; do # Mbit/s
    for end in 1 2; do
        at $end tc qdisc replace dev "${wire[end]}" root tbf rate ${rate}mbit burst 64kb latency 500ms
    done
    at 1 unshare --uts sh -c 'hostname consm-1; exec "$@"' - "${run[@]}" > "$work/out" 2> "$work/err" || { cat "$work/err"; exit 1; }
    head -1 "$work/out" | sed 's/.*"train_ms": \([0-9.]*\), "eval_ms": \([0-9.]*\).*"sent_bytes": \([0-9]*\).*/\1 \2 \3/' |
        awk -v rate=$rate '{ printf "| %d Mbit/s | %.2f MB | %.3f s | %.3f s |\n", rate, $3 / 2e6, $3 / 2 * 8 / rate / 1e6, ($1 + $2) / 1e3 }'
done
