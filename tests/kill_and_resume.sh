#!/usr/bin/env bash
# Training that is killed again and again ends with the same bits as training that is left alone.
#   tests/kill_and_resume.sh PROGRAM [KILLS]      for example: tests/kill_and_resume.sh build/inkling 200
# The run saves every 5 steps; each of its lives ends by kill -9 after a random time of at most 0.6 s (SEED chooses the
# times), in the midst of a step, a save, an evaluation or its start; then it goes on with --resume auto.
set -euo pipefail
program=$(realpath "$1")
kills=${2:-20}
RANDOM=${SEED:-1}
folder=$(mktemp -d)
trap 'kill -9 $! 2>/dev/null || true; rm -rf "$folder"' EXIT
fail() {
    echo "kill_and_resume: $*" >&2
    exit 1
}

for i in $(seq 300); do
    echo "Line $i: the $((i * 7919 % 101)) quick brown foxes jump over $((i * 104729 % 97)) lazy dogs."
done >"$folder/text.txt"
steps=$((500 + 150 * kills))
train=("$program" train --data "$folder/text.txt" --n-layer 2 --n-head 2 --n-embd 32 --block-size 32 --batch-size 4
    --dropout 0.1 --sampler shuffle --max-iters "$steps" --eval-every 50 --eval-iters 2 --sample-every 0)

# The step that a folder's newest checkpoint, as it is reported, is of; 0: none.
step() { readlink "$1/latest" 2>/dev/null | sed 's/step-0*//' || echo 0; }

"${train[@]}" --threads 2 --save-every 1000000 --out "$folder/straight" 2>"$folder/log" || fail "$(cat "$folder/log")"

last=0 done=0
for ((i = 1; i <= kills; ++i)); do
    "${train[@]}" --threads $((i % 3 + 1)) --save-every 5 --out "$folder/killed" --resume auto 2>"$folder/log" &
    sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
    kill -9 $! 2>/dev/null || done=$((done + 1))
    wait $! 2>/dev/null || true
    grep -q -e 'warning' -e '^inkling:' "$folder/log" && fail "life $i: $(cat "$folder/log")"
    now=$(step "$folder/killed")
    [ "${now:-0}" -ge "$last" ] || fail "life $i: the newest checkpoint is of step $now, after one of step $last"
    last=${now:-0}
done
"${train[@]}" --threads 1 --save-every 1000000 --out "$folder/killed" --resume auto 2>"$folder/log" || fail "$(cat "$folder/log")"

cmp "$folder/straight/latest/model.safetensors" "$folder/killed/latest/model.safetensors" || fail "the weights differ"
parameters=$("$program" info --model "$folder/straight/latest" --json | sed 's/.*"parameters":\([0-9]*\).*/\1/')
for run in straight killed; do  # of the state, the two moments alone: its header holds the seconds that it took
    tail -c $((8 * parameters)) "$folder/$run/latest/training_state.safetensors" >"$folder/$run.moments"
done
cmp "$folder/straight.moments" "$folder/killed.moments" || fail "the optimizer's state differs"
[ "$(step "$folder/killed")" -eq "$steps" ] || fail "ended at step $(step "$folder/killed"), not $steps"
for left in "$folder"/killed/.[!.]*; do [ ! -e "$left" ] || fail "left behind: $left"; done
echo "$kills kills, the last at step $last or later of $steps, $done of them too late: the same bits"
