#!/usr/bin/env bash
# Follows README.md and the pages of docs/: runs the commands of each page's blocks in order, in a folder that holds
# only a few texts and the program. Each command must succeed, write its --out, and print what the page shows below it.
#   tests/readme.sh PROGRAM      for example: tests/readme.sh build/inkling
# Long commands get flags after the page's own, and the last flag wins: `train` takes --max-iters, which grows with each
# command, so that --resume has something to do; `eval --stories` checks 2 stories; `bench` measures briefly, with one
# sequence per step; `gradcheck` takes the rows of linear, because test_gradcheck takes all. For ./quickstart, only its
# training and its check run here; tests/fresh_machine.sh runs the script itself, ./check, cmake and ctest in a bare
# system, and tests/package/test.sh runs cmake --install and the C++ blocks. tests/docs checks attention.md and
# learning.md, tests/serving.sh serving.md, python/tests the Python blocks, and tests/peers/finetuning.sh, by hand, the
# block in sh. Pages hold no other blocks.
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
program=$(realpath "$1")
pages=("$root/README.md" "$root"/docs/{install,limits,first-hour,using,compare,chat,finetuning,distributed,same-bits,pages,files,cpp,recipes,adding}.md)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_ALLOW_RUN_AS_ROOT=1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for page in "$root/README.md" "$root"/docs/*.md; do
    case " ${pages[*]} $root/docs/attention.md $root/docs/engine.md $root/docs/learning.md $root/docs/serving.md $root/docs/python.md $root/docs/look-inside.md $root/docs/library.md " in *" $page "*) ;; *) fail "this test does not read $page" ;; esac
done
for page in "${pages[@]}"; do
    languages=$(awk '/^ *```/ { inside = !inside; if (inside && !/^```(cpp|python|sh)?$/) print }' "$page")
    [ -z "$languages" ] || fail "$page has a block that no test runs or compiles: $languages"
done

# The commands in a page's blocks without a language. With a folder, the lines below command N go to the folder's file N.
commands_of() {
    awk -v shown="${shown:-}" '/^```/ { inside = !inside; plain = inside && $0 == "```"; command = 0; next }
        plain && /^(\$ |\.\/|build\/|mpirun |cmake |ctest |tests\/)/ { command = ++n; print; next }
        plain && command && shown { print >(shown "/" command) }' "$@" | sed 's/^\$ //; s/ \+# .*//'
}

# Removes everything that differs from run to run: numbers, times, units, quoted texts, and text that a model writes.
facts() {
    fold -s -w 130 | sed -E -e '/^quickstart: what the model/,/^quickstart: 200 stories/d' \
        -e '/^--- a sample ---$/,/^-{16}$/{//!d}' -e '/^weight  /,/^this is one of/{//!d}' \
        -e 's/ --prompt "[^"]*"$//; s/"[^"]*"/""/g; s/(bf|fp)?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?[kMG]?/#/g' \
        -e 's/^(the time is up|all steps are done):/ended:/; s/(#[hms])+\b/#/g; s/# threads?/# threads/; s/ +/ /g; s/ $//' | sort -u
}

# A budget in operations gives the same on every machine: the program must print these lines exactly.
compare_exactly() {
    local line
    while read -r line; do
        [ "$line" = ... ] || cat stdout stderr | grep -Fx -- "$line" >/dev/null || fail "$(basename "$PWD"): $* does not print: $line"
    done <"shown/$place"
}

# The program, or a longer training, prints every line that the page shows. The page shows every printed line, except
# for `train` and where it leaves lines out (...).
compare() {
    local line page=$PWD/shown/$place
    case $* in
    'build/inkling generate '*) head -n "$(wc -l <stderr)" "$page" | facts >wanted && facts <stderr >printed ;;  # a text follows
    *) facts <"$page" >wanted && cat stderr stdout | facts >printed ;;
    esac
    while read -r line; do
        [ "$line" = ... ] || sed 's/{[^}]*}/#/g; s/ \+/ /g' "$root"/cli/training/*.cpp | grep -F -- "\"$line" >/dev/null ||
            fail "$(basename "$PWD") shows what is not printed by $*: $line"
    done < <(comm -23 wanted printed)
    grep -x '\.\.\.' wanted >/dev/null || case $* in *'inkling train '*) ;; *)
        [ -z "$(comm -13 wanted printed)" ] || fail "$(basename "$PWD") does not show what $* prints: $(comm -13 wanted printed)" ;;
    esac
}

run() {
    ran=$((ran + 1))
    echo "readme: $*"
    (eval "$*") <typed >stdout 2>stderr || fail "exit code $? of: $*: $(cat stderr)"
    local out
    out=$(sed -n 's/.* --out \([^ ]*\).*/\1/p' <<<"$*")
    case $* in *' --dry-run'*) out= ;; esac
    [ -z "$out" ] || [ -s "$out" ] || fail "$out was not written by: $*"
    [ -e "shown/$place" ] || return 0
    case $* in *'inkling train --max-flops '* | *' runs/same '*) compare_exactly "$*" ;; *) compare "$*" ;; esac
}

ran=0 steps=4
follow() {
    local command place=0
    while read -r command; do
        place=$((place + 1))
        case $command in
        ./quickstart) ;;
        ./check | 'git clone '* | 'cmake '* | 'ctest '* | 'mpirun --hostfile '*) continue ;;
        'mpirun '*) command -v mpirun >/dev/null && [ -e "$(dirname "$program")/inkling-mpi.so" ] || continue ;;
        'build/inkling '*) ;;
        *) fail "this test does not know how to run: $command" ;;
        esac
        case $command in
        ./quickstart) run "build/inkling train --out runs/quickstart --max-iters 5 && build/inkling eval --model runs/quickstart --stories 2" ;;
        *' --dry-run'* | *'inkling train --max-flops'*) run "$command" ;;
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
    mkdir -p "$folder/$(basename "$page")"/{build,shown}
    cd "$folder/$(basename "$page")"
    ln -s "$program" build/inkling
    "$root/tests/some_text.sh" 400 >my.txt
    case $page in */first-hour.md) cat "$root"/engine/{ops/*,fused,more}/*.cpp >bible.txt ;; esac  # long enough for byte pairs
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
    shown=shown commands_of "$page" >commands
    follow <commands
done

for command in $("$program" --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
    commands_of "${pages[@]}" "$root/docs/serving.md" | grep -E "^build/inkling $command( |\$)" >/dev/null ||
        fail "the pages do not show: inkling $command"
done
echo "readme: $ran commands"
