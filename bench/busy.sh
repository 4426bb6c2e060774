#!/bin/sh
# The cost of another program, which takes a fifth of a core in bursts of 1 to 5 ms (light) or a whole core (busy):
# training, evaluation and text, with 1 thread, with one thread per core, and with the number that currently runs
# fastest, and whole steps of preset small. Prints the median of several runs in turn.
#   bench/busy.sh [ROUNDS] [OTHER]     OTHER: an `inkling` that does not change its threads (one before 2026-11-22)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
inkling=$root/build/inkling rounds=${1:-3} other=${2:-}
cores=$(nproc) dir=$(mktemp -d) busy=
trap 'kill $busy 2>/dev/null || true; rm -rf "$dir"' EXIT

tiny="--recipe nanogpt-cpu --tokenizer char"
for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$root"/docs/*.md; done >"$dir/text"

train() {  # program, threads -> ms per step of preset tiny
    "$1" train $tiny --data "$dir/text" --max-iters 400 --eval-every 0 --eval-iters 1 --sample-every 0 \
        --threads "$2" --out "$dir/run" --overwrite >"$dir/log" 2>&1
    tail -n 1 "$dir/run/metrics.jsonl" | sed -E 's/.*"step":([0-9]+).*"train_s":([0-9.]+).*/\1 \2/' |
        awk '{ printf "%.2f\n", $2 / $1 * 1000 }'
}
evaluate() {  # -> seconds
    start=$(date +%s.%N)
    "$1" eval --model "$dir/tiny" --data "$dir/text" --threads "$2" >"$dir/log" 2>&1
    echo "$start $(date +%s.%N)" | awk '{ printf "%.2f\n", $2 - $1 }'
}
generate() {  # -> ms per token of a model of 10 million weights
    "$1" generate --model "$dir/small" --max-tokens 2000 --threads "$2" --json </dev/null 2>"$dir/log" |
        sed -E 's/.*"tok_s":([0-9.]+).*/\1/' | awk '{ printf "%.3f\n", 1000 / $1 }'
}
step() {  # -> median ms of a step of preset small, whose number of threads is fixed
    "$1" bench --preset small --threads "$2" --seconds 8 --json 2>"$dir/log" | sed -E 's/.*"ms_step":([0-9.]+).*/\1/'
}
burst='import random, time
while True:
    burst = random.uniform(0.001, 0.005)
    end = time.thread_time() + burst
    while time.thread_time() < end: pass
    time.sleep(4 * burst)'
neighbour() {  # quiet, light or busy
    [ -z "$busy" ] || kill "$busy"
    busy=
    case $1 in
    light) python3 -c "$burst" & ;;
    busy) sh -c 'while :; do :; done' & ;;
    *) return ;;
    esac
    busy=$!
}
median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

model() {  # name, flags
    name=$1
    shift
    "$inkling" train "$@" --data "$dir/text" --max-iters 1 --eval-iters 1 --out "$dir/$name" >"$dir/log" 2>&1
}
model tiny $tiny
model small $tiny --n-layer 6 --n-head 6 --n-embd 384 --block-size 256
for machine in quiet light busy; do
    neighbour $machine
    for what in train evaluate generate step; do
        for _ in $(seq "$rounds"); do
            $what "$inkling" 1 >>"$dir/$machine.$what.1"
            [ -z "$other" ] || $what "$other" "$cores" >>"$dir/$machine.$what.all"
            $what "$inkling" "$cores" >>"$dir/$machine.$what.adaptive"
        done
    done
done
printf '| | 1 thread | %s threads | adaptive |\n|---|---|---|---|\n' "$cores"
for machine in quiet light busy; do
    for what in 'train ms_per_step' 'evaluate seconds' 'generate ms_per_token' 'step ms'; do
        name=${what% *} unit=$(echo "${what#* }" | tr _ ' ')
        printf '| %s, %s: %s |' $machine "$name" "$unit"
        for threads in 1 all adaptive; do
            file=$dir/$machine.$name.$threads
            printf ' %s |' "$([ -f "$file" ] && median <"$file" || echo -)"
        done
        echo
    done
done
