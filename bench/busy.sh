#!/bin/sh
# The cost of another busy program: training, evaluation and text, with 1 thread, with one thread per core, and with the
# number that currently runs fastest. Prints the median of several runs in turn.
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
median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

model() {  # name, flags
    name=$1
    shift
    "$inkling" train "$@" --data "$dir/text" --max-iters 1 --eval-iters 1 --out "$dir/$name" >"$dir/log" 2>&1
}
model tiny $tiny
model small $tiny --n-layer 6 --n-head 6 --n-embd 384 --block-size 256
for machine in quiet busy; do
    if [ $machine = busy ]; then
        sh -c 'while :; do :; done' &
        busy=$!
    fi
    for what in train evaluate generate; do
        for _ in $(seq "$rounds"); do
            $what "$inkling" 1 >>"$dir/$machine.$what.1"
            [ -z "$other" ] || $what "$other" "$cores" >>"$dir/$machine.$what.all"
            $what "$inkling" "$cores" >>"$dir/$machine.$what.adaptive"
        done
    done
done
printf '| | 1 thread | %s threads | adaptive |\n|---|---|---|---|\n' "$cores"
for machine in quiet busy; do
    for what in 'train ms_per_step' 'evaluate seconds' 'generate ms_per_token'; do
        name=${what% *} unit=$(echo "${what#* }" | tr _ ' ')
        printf '| %s, %s: %s |' $machine "$name" "$unit"
        for threads in 1 all adaptive; do
            file=$dir/$machine.$name.$threads
            printf ' %s |' "$([ -f "$file" ] && median <"$file" || echo -)"
        done
        echo
    done
done
