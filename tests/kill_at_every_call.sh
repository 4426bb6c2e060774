#!/usr/bin/env bash
# A run that is killed at any system call and resumed ends with the bytes, the links and the best loss of an undisturbed
# run. strace, which it needs, counts every call of a run, and then kills the run at each call in turn.
#   tests/kill_at_every_call.sh PROGRAM [EVERY [FIRST [flags of inkling train]]]
# Kills at each call, or at every EVERY-th call from the FIRST-th on. A run makes about 2,000 calls, which takes three
# minutes.
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
program=$(realpath "$1")
every=${2:-1} first=${3:-1}
shift $(($# < 3 ? $# : 3))
command -v strace >/dev/null || {
    echo "skipped: strace is required: apt-get install strace"
    exit 4
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_WAIT_POLICY=passive # the program does not execute itself again

"$root/tests/some_text.sh" 60 >"$folder/text.txt"
train=("$program" train --recipe nanogpt-cpu --data "$folder/text.txt" --n-layer 1 --n-head 2 --n-embd 16 --block-size 8
    --batch-size 2 --dropout 0.1 --max-iters 8 --eval-every 4 --eval-iters 1 --save-every 2 --sample-every 0 --threads 1
    --resume auto --quiet "$@")

# The required end state of a run.
ending() {
    for link in latest best; do
        echo "$link $(readlink "$1/$link") $(sha256sum <"$1/$link/model.safetensors")"
    done
    (cd "$1" && ls -A)
    "$program" info --model "$1" --json | grep -o '"best_val_loss":[^,]*'
}

"${train[@]}" --out "$folder/straight"
expected=$(ending "$folder/straight")
strace -f -qq -o "$folder/calls" "${train[@]}" --out "$folder/counted"
[ "$(ending "$folder/counted")" = "$expected" ] || fail "two runs differ"
# Lists each call by name and number: "write 1", "write 2", ...
sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$folder/calls" | grep -v -e '^exit' -e '^execve$' |
    awk '{ print $1, ++n[$1] }' | awk "NR % $every == $first % $every" >"$folder/points"

kills=0
while read -r call number; do
    rm -rf "$folder/killed"
    code=0
    { strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$number" \
        "${train[@]}" --out "$folder/killed" 2>"$folder/log" || code=$?; } 2>/dev/null # drops the shell's own message
    [ "$code" -eq 137 ] || [ "$code" -eq 0 ] || fail "$call $number: exit code $code: $(cat "$folder/log")"
    [ "$code" -eq 0 ] || kills=$((kills + 1))
    "${train[@]}" --out "$folder/killed" 2>"$folder/log" || fail "after $call $number: $(cat "$folder/log")"
    ended=$(ending "$folder/killed")
    [ "$ended" = "$expected" ] || fail "after $call $number: $(diff <(echo "$expected") <(echo "$ended"))"
    [ $((kills % 10)) -ne 0 ] || "$program" verify "$folder/killed" >"$folder/log" || fail "after $call $number: $(cat "$folder/log")"
done <"$folder/points"
[ "$kills" -gt 0 ] || fail "no call was killed"
echo "killed at $kills of $(wc -l <"$folder/calls") system calls: the same bytes, links and best loss"
