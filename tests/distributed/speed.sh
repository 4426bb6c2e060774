#!/usr/bin/env bash
# Measures a step on two computers (network namespaces of this one), and compares the cost model of bench/distributed.md.
#   tests/distributed/speed.sh build/inkling [PRESET [BATCH [RATES]]]
set -uo pipefail
program=$(readlink -f "$1") preset=${2:-small} batch=${3:-8} rates=${4:-"none 10gbit 1gbit"}
source "$(dirname "$0")/hosts.sh"

ms() { sed 's/.*"ms_step":\([0-9.]*\).*/\1/' <<<"$1"; }
params() { sed 's/.*"params":\([0-9]*\).*/\1/' <<<"$1"; }

# The work of a process: half of the batch, on one core, while the other core computes the other half.
"$program" bench --preset "$preset" --batch $((batch / 2)) --threads 1 --seconds 8 --json >/tmp/half.$$ &
alone=$("$program" bench --preset "$preset" --batch $((batch / 2)) --threads 1 --seconds 8 --json)
wait
rm -f /tmp/half.$$
compute=$(ms "$alone") weights=$(params "$alone")
printf '%-8s %12s %12s %12s\n' line 'measured ms' 'model ms' 'MB a step'
for rate in $rates; do
    limit=$rate
    [ "$rate" != none ] || limit=
    make_hosts 2 "$limit"
    line=$(run_mpi 2 "$program" bench --preset "$preset" --batch "$batch" --threads 1 --seconds 8 --json 2>/dev/null)
    measured=$(ms "$line")
    remove_hosts
    # half of the gradients are sent during backward, two thirds of a step; half of the parameters follow
    awk -v c="$compute" -v w="$weights" -v r="$rate" -v m="$measured" 'BEGIN {
        bytes = 4 * w / 2
        bandwidth = r == "none" ? 1e12 : (r + 0) * 1e9 / 8
        send = 1000 * bytes / bandwidth
        backward = c * 2 / 3
        model = c - backward + (backward > send ? backward : send) + send
        printf "%-8s %12.1f %12.1f %12.1f\n", r, m, model, 2 * bytes / 1e6 }'
done
