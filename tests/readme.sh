#!/usr/bin/env bash
# Follows README.md: runs the commands of its blocks in their order, in a folder that holds nothing but two texts and
# the program. Each must succeed, and write what its --out names.
#   tests/readme.sh PROGRAM      for example: tests/readme.sh build/inkling
# What would take long is made short by flags behind the README's own, the last of which hold: `train` takes
# --max-iters, more with each command, so that --resume has something to do; `eval --stories` checks 2 stories; `bench`
# measures for a moment, with one window a step. Of ./quickstart the training is run: the script itself, ./check and
# what they stand for (cmake, ctest) are run in a bare system by tests/fresh_machine.sh, and cmake --install by
# tests/package/test.sh.
set -euo pipefail
program=$(realpath "$1")
readme=$(cd "$(dirname "$0")/.." && pwd)/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "readme: $*" >&2
    exit 1
}

# The lines of blocks without a language that are commands; of the lines after `$ ./command`, what it prints, none is.
commands=$(awk '/^```/ { inside = !inside; plain = $0 == "```"; next }
                inside && plain && /^(\$ |\.\/|build\/|cmake |ctest |tests\/)/' "$readme" | sed 's/^\$ //; s/ \+# .*//')

mkdir "$folder/build"
ln -s "$program" "$folder/build/inkling"
cd "$folder"
for i in $(seq 400); do
    echo "Line $i: The cat and $((i * 7919 % 101)) quick brown foxes jump over $((i * 104729 % 97)) lazy dogs."
done >my.txt
echo "Crème brûlée, 3 €: other characters than those of my.txt, and a quick brown fox?" >other.txt
echo "The quick brown" >typed

run() {
    ran=$((ran + 1))
    echo "readme: $*"
    (eval "$*") <typed >stdout 2>stderr || fail "exit code $? of: $*: $(cat stderr)"
    local out
    out=$(sed -n 's/.* --out \([^ ]*\).*/\1/p' <<<"$*")
    [ -z "$out" ] || [ -s "$out" ] || fail "$out was not written by: $*"
}

ran=0 steps=0
while read -r command; do
    case $command in
    ./quickstart) command="build/inkling train --out runs/quickstart --overwrite" ;;
    ./check | 'cmake '* | 'ctest '*) continue ;;
    'build/inkling '*) ;;
    *) fail "this test does not know how to run: $command" ;;
    esac
    case $command in
    *' --dry-run'*) run "$command" ;;
    'build/inkling train '*) run "$command" --max-iters $((steps += 5)) ;;
    *' --stories '*) run "$command" --stories 2 ;;
    'build/inkling bench '*) run "$command" --batch 1 --seconds 0.1 ;;
    *) run "$command" ;;
    esac
done <<<"$commands"

for command in $(build/inkling --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
    grep -qE "^build/inkling $command( |\$)" <<<"$commands" || fail "README.md does not show: inkling $command"
done
echo "readme: $ran commands"
