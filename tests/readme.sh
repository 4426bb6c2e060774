#!/usr/bin/env bash
# Follows README.md and the pages of docs/: runs the commands of each page's blocks in order, in a folder that holds
# nothing but a few texts and the program. Each command must succeed, and write what its --out names.
#   tests/readme.sh PROGRAM      for example: tests/readme.sh build/inkling
# Commands that would take long get flags behind the pages' own, the last of which hold: `train` takes --max-iters, more
# with each command, so that --resume has something to do; `eval --stories` checks 2 stories; `bench` measures for a
# moment, with one sequence per step; `gradcheck` takes the rows of linear, since test_gradcheck takes all. Of ./quickstart the training is run: the script itself, ./check and what they stand
# for (cmake, ctest) are run in a bare system by tests/fresh_machine.sh, and cmake --install by tests/package/test.sh.
# Blocks in C++ are compiled by tests/package/test.sh, and those of attention.md by tests/docs; others are not allowed.
# docs/serving.md is followed by tests/serving.sh, docs/installing.md by tests/package/debian.sh; docs/python.md
# and blocks in Python by python/tests.
set -euo pipefail
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
pages=("$root/README.md" "$root"/docs/{first-hour,using,chat,finetuning,distributed,pages,files,library,recipes,adding}.md)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_ALLOW_RUN_AS_ROOT=1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "readme: $*" >&2
    exit 1
}

for page in "$root/README.md" "$root"/docs/*.md; do
    case " ${pages[*]} $root/docs/attention.md $root/docs/learning.md $root/docs/serving.md $root/docs/installing.md $root/docs/python.md " in *" $page "*) ;; *) fail "this test does not read $page" ;; esac
done
for page in "${pages[@]}"; do
    languages=$(awk '/^ *```/ { inside = !inside; if (inside && !/^```(cpp|python)?$/) print }' "$page")
    [ -z "$languages" ] || fail "$page has a block that no test runs or compiles: $languages"
done

# The lines of a page's blocks without a language that are commands; what a program prints is none.
commands_of() {
    awk '/^```/ { inside = !inside; plain = $0 == "```"; next }
         inside && plain && /^(\$ |\.\/|build\/|mpirun |cmake |ctest |tests\/)/' "$@" | sed 's/^\$ //; s/ \+# .*//'
}

run() {
    ran=$((ran + 1))
    echo "readme: $*"
    (eval "$*") <typed >stdout 2>stderr || fail "exit code $? of: $*: $(cat stderr)"
    local out
    out=$(sed -n 's/.* --out \([^ ]*\).*/\1/p' <<<"$*")
    case $* in *' --dry-run'*) out= ;; esac
    [ -z "$out" ] || [ -s "$out" ] || fail "$out was not written by: $*"
}

ran=0 steps=4
follow() {
    local command
    while read -r command; do
        case $command in
        ./quickstart) command="build/inkling train --out runs/quickstart --overwrite" ;;
        ./check | 'cmake '* | 'ctest '* | 'mpirun --hostfile '*) continue ;;
        'mpirun '*) command -v mpirun >/dev/null && [ -e "$(dirname "$program")/inkling-mpi.so" ] || continue ;;
        'build/inkling '*) ;;
        *) fail "this test does not know how to run: $command" ;;
        esac
        case $command in
        *' --dry-run'*) run "$command" ;;
        *'build/inkling train '*) run "$command" --max-iters $((steps += 1)) ;;
        'build/inkling compare '*) run "$command" --max-iters 3 --max-seeds 2 ;;
        'build/inkling gradcheck') run "$command" --filter linear ;;
        *' --stories '*) run "$command" --stories 2 ;;
        'mpirun '*'build/inkling bench'*) run "$command" --batch 2 --seconds 0.1 ;;
        'build/inkling bench'*) run "$command" --batch 1 --seconds 0.1 ;;
        *) run "$command" ;;
        esac
    done
}

for page in "${pages[@]}"; do
    mkdir -p "$folder/$(basename "$page")/build"
    cd "$folder/$(basename "$page")"
    ln -s "$program" build/inkling
    "$root/tests/some_text.sh" 400 >my.txt
    echo "Crème brûlée, 3 €: other characters than those of my.txt, and a quick brown fox?" >other.txt
    echo "The quick brown" >typed
    echo 'learning_rate = 0.02' >a.toml
    echo 'learning_rate = 0.03' >b.toml
    mkdir -p notes/drafts books logs
    cp my.txt notes/one.md
    cp my.txt notes/drafts/two.md
    cp my.txt books/one.txt
    { cat my.txt && printf 'caf\351\n'; } | gzip >logs/one.gz
    sed 's/.*/{"answer": "&"}/' my.txt >questions.jsonl
    sed 's/.*/{"messages": [{"role": "user", "content": "&"}, {"role": "assistant", "content": "Yes."}]}/' my.txt >chats.jsonl
    { echo id,body && sed 's/.*/1,"&"/' my.txt; } | gzip >table.csv.gz
    follow < <(commands_of "$page")
done

for command in $("$program" --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
    commands_of "${pages[@]}" "$root/docs/serving.md" | grep -E "^build/inkling $command( |\$)" >/dev/null ||
        fail "the pages do not show: inkling $command"
done
echo "readme: $ran commands"
