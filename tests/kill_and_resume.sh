#!/usr/bin/env bash
# Training that is killed repeatedly ends with the same bits as undisturbed training.
#   tests/kill_and_resume.sh PROGRAM [KILLS [adapter]]      for example: tests/kill_and_resume.sh build/inkling 200
# With "adapter" the run trains low-rank adapters of a model that is stored in bfloat16.
# The run saves every 5 steps and would take hours. kill -9 ends each of its lives after a random time (SEED chooses the
# times), during a step, a save, an evaluation or its start; then --resume auto continues it. So no kill comes too late.
# Nor may too many come before the first new checkpoint: while lives end without a new checkpoint, which happens if the
# program starts slowly, the next lives may last longer.
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
program=$(realpath "$1")
kills=${2:-20}
kind=${3:-model}
RANDOM=${SEED:-1}
folder=$(mktemp -d)
life=
trap '[ -z "$life" ] || kill -9 "$life" 2>/dev/null || true; rm -rf "$folder"' EXIT

"$root/tests/some_text.sh" 300 >"$folder/text.txt"
shape=(--n-layer 2 --n-head 2 --n-embd 32 --block-size 32)
weights=model.safetensors
if [ "$kind" = adapter ]; then
    "$program" train --data "$folder/text.txt" --out "$folder/base" "${shape[@]}" --batch-size 4 --max-iters 20 --quiet
    shape=(--init-from "$folder/base" --lora-rank 3 --lora-dropout 0.1 --base-precision bf16)
    weights=adapter_model.safetensors
fi
train=("$program" train --patience 0 --data "$folder/text.txt" "${shape[@]}" --batch-size 4 --dropout 0.1 --sampler shuffle
    --lr-decay-iters 100000 --ema 0.9 --eval-every 50 --eval-iters 2 --sample-every 0)

# The reported step of a folder's newest checkpoint; 0: none.
step() { readlink "$1/latest" 2>/dev/null | sed 's/step-0*//' || echo 0; }

last=0 new=0
shortest=600 longest=$shortest  # milliseconds: a life takes a random part of `longest`, which never falls below `shortest`
for ((i = 1; i <= kills; ++i)); do
    "${train[@]}" --threads $((i % 3 + 1)) --max-iters 1000000000 --save-every 5 --out "$folder/killed" --resume auto \
        2>"$folder/log" &
    life=$!
    time=$((RANDOM % longest))
    sleep "$((time / 1000)).$(printf %03d $((time % 1000)))"
    kill -9 "$life" 2>/dev/null || true
    code=0
    wait "$life" 2>/dev/null || code=$?
    life=
    [ "$code" -eq 137 ] || fail "life $i ended by itself, with exit code $code, before it was killed: $(cat "$folder/log")"
    ! grep -v ': a spike: ' "$folder/log" | grep -q -e 'warning' -e '^inkling:' || fail "life $i: $(cat "$folder/log")"
    now=$(step "$folder/killed")
    [ "${now:-0}" -ge "$last" ] || fail "life $i: the newest checkpoint is of step $now, after one of step $last"
    if [ "${now:-0}" -gt "$last" ]; then
        new=$((new + 1)) last=$now
        longest=$((longest * 3 / 4 > shortest ? longest * 3 / 4 : shortest))
    else
        longest=$((longest < 20000 ? longest * 3 / 2 : longest))
    fi
done
[ $((4 * new)) -ge "$kills" ] || fail "only $new of $kills lives saved anything before they were killed"

steps=$((last + 20))
"${train[@]}" --threads 1 --max-iters "$steps" --save-every 1000000 --out "$folder/killed" --resume auto \
    2>"$folder/log" || fail "$(cat "$folder/log")"
# with the settings that the recipe chose first, for a run of another length
"$program" train --config "$folder/killed/config.toml" --threads 2 --max-iters "$steps" --save-every 1000000 \
    --out "$folder/straight" \
    2>"$folder/log" || fail "$(cat "$folder/log")"

cmp "$folder/straight/latest/$weights" "$folder/killed/latest/$weights" || fail "the weights differ"
parameters=$("$program" info --model "$folder/straight/latest" --json)
parameters=$(echo "$parameters" | sed -E 's/.*"(trained_)?parameters":([0-9]+).*/\2/')  # the last match: trained
for run in straight killed; do  # of the state, only the two moments: its header holds the run's seconds
    tail -c $((8 * parameters)) "$folder/$run/latest/training_state.safetensors" >"$folder/$run.moments"
done
cmp "$folder/straight.moments" "$folder/killed.moments" || fail "the optimizer's state differs"
[ "$(step "$folder/killed")" -eq "$steps" ] || fail "ended at step $(step "$folder/killed"), not $steps"
for left in "$folder"/killed/.[!.]*; do [ ! -e "$left" ] || fail "left behind: $left"; done
echo "killed $kills times in $steps steps, $new times with a new checkpoint: the same bits"
