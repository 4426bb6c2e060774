#!/usr/bin/env bash
# Kills processes and cuts lines in a run of 4: the other processes must end within 10 seconds, and the resumed run must
# end with the same bytes.
#   tests/distributed/faults.sh build/inkling [KILLS]
set -uo pipefail
program=$(readlink -f "$1") kills=${2:-50}
source "$(dirname "$0")/hosts.sh"
work=$(mktemp -d)
text=$work/text.txt
for i in $(seq 2000); do echo "the quick brown fox $((i * i % 97)) jumps over the lazy dog"; done >"$text"
flags=(train --data "$text" --recipe nanogpt-cpu --n-layer 2 --n-embd 64 --block-size 32 --batch-size 8 --shards 4
    --max-iters 600 --eval-every 300 --save-every 40 --log-every 500 --threads 1 --quiet)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

running() { ps -eo pid,args | awk -v p="$program" -v o="$1" '$2 == p && index($0, o) {print $1}'; }
gone_within() {  # SECONDS OUT
    local i
    for i in $(seq $(($1 * 10))); do
        [ -n "$(running "$2")" ] || return 0
        sleep 0.1
    done
    return 1
}
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

"$program" "${flags[@]}" --out "$work/alone" || fail "the run alone"
want=$(sha256sum <"$work/alone/latest/model.safetensors")

out=$work/killed done=0
for ((i = 1; i <= kills; ++i)); do
    mpirun.openmpi -np 4 "$program" "${flags[@]}" --out "$out" --resume auto >"$work/log" 2>&1 &
    mpirun=$!
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
    victim=$(running "$out" | shuf -n 1)
    if [ -z "$victim" ] && ! kill -0 $mpirun 2>/dev/null; then  # the run has ended: start again
        wait $mpirun || fail "$(cat "$work/log")"
        [ "$(sha256sum <"$out/latest/model.safetensors")" = "$want" ] || fail "other bytes after $i kills"
        rm -rf "$out"
        done=$((done + 1))
        continue
    fi
    [ -z "$victim" ] || kill -9 "$victim" 2>/dev/null
    gone_within 10 "$out" || fail "kill $i: some still run after 10 s: $(cat "$work/log")"
    wait $mpirun
done
mpirun.openmpi -np 2 "$program" "${flags[@]}" --out "$out" --resume auto >"$work/log" 2>&1 || fail "$(cat "$work/log")"
[ "$(sha256sum <"$out/latest/model.safetensors")" = "$want" ] || fail "other bytes in the end"
echo "$kills kills: each time all were gone within 10 s; $((done + 1)) runs reached the end, with the same bytes"

make_hosts 4
cut() {  # SECONDS (0: for good) STEPS
    local seconds=$1 start i
    rm -rf "$work/line"
    (run_mpi 4 "$program" "${flags[@]}" --out "$work/line" --max-iters "$2" >"$work/log" 2>&1) &
    mpirun=$!
    for i in $(seq 100); do [ -e "$work/line/latest" ] && break || sleep 0.1; done
    start=$(date +%s%N)
    ip -n inkling-switch link set to-h2 down
    [ "$seconds" = 0 ] || { sleep "$seconds" && ip -n inkling-switch link set to-h2 up; }
    if [ "$seconds" = 0 ]; then
        gone_within 12 "$work/line" || fail "a line was cut, and some still run after 12 s: $(cat "$work/log")"
        echo "a line cut for good: all were gone after $((($(date +%s%N) - start) / 1000000)) ms: $(grep inkling: "$work/log")"
        kill $mpirun 2>/dev/null  # mpirun itself waits for the lost computer
    fi
    { wait $mpirun; } 2>/dev/null
    code=$?
}
cut 3 600
[ $code = 0 ] || fail "a line was away for 3 s: exit code $code: $(cat "$work/log")"
[ "$(sha256sum <"$work/line/latest/model.safetensors")" = "$want" ] || fail "other bytes after a line was away"
echo "a line away for 3 s: the run went on to the same bytes"
cut 0 3000000
rm -rf "$work"
