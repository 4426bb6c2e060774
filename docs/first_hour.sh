#!/usr/bin/env bash
# Makes first-hour.md: runs what somebody does who has just built Inkling, on a text of 2 MB, and writes down what they
# see. The text is Inkling's own sources and pages.
#   docs/first_hour.sh build/inkling > docs/first-hour.md
set -euo pipefail
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir build
ln -s "$program" build/inkling
git -C "$root" ls-files '*.h' '*.cpp' '*.md' | grep -v first-hour | sed "s|^|$root/|" | xargs cat >my.txt
echo "Crème brûlée, 3 €: a text that the model has never seen." >other.txt

say() { printf '\n%s\n' "$*"; }

# A command and what it shows, stdout and stderr; of much the first and the last lines. Exit codes are shown.
run() {
    printf '\n```\n$ %s\n' "$*"
    local code=0
    (eval "$*") <typed >shown 2>&1 || code=$?
    fold -s -w 130 shown | sed 's/ *$//' >lines
    if [ "$(wc -l <lines)" -gt 40 ]; then
        head -n 12 lines
        echo ...
        tail -n 24 lines
    else
        cat lines
    fi
    [ -z "$(tail -c 1 lines)" ] || echo
    echo '```'
    [ $code = 0 ] || say "(exit code $code)"
}

echo 'The cat' >typed
cat <<'TEXT'
# The first hour

What `docs/first_hour.sh build/inkling` showed on two cores: every command here was really run, and what it printed is all there is
(`...` where much is left out). `my.txt` is a text of two megabytes, Inkling's own sources and pages; take any other.
TEXT
say "What is there:"
run build/inkling help
say "A model of your own text, after a minute of training. Nothing has to be chosen:"
run build/inkling train my.txt --out runs/mine
say "It writes:"
run build/inkling generate --model runs/mine --prompt '"// The "' -n 120 --seed 1
say "How good is it on another text? Bits per byte can be compared between models, whatever their tokenizers:"
run build/inkling eval --model runs/mine --data other.txt
say "A little more time: the run goes on where it was, and the learning rate rises again for what is left."
run build/inkling train my.txt --out runs/mine --resume auto --max-time 1m30s
say "What does a head look at?"
run build/inkling attention --model runs/mine --prompt '"const std::size_t n"'
say "The same, as a page to click through, and the model for other programs:"
run build/inkling attention --model runs/mine --prompt '"const std::size_t n"' --out heads.html
run build/inkling export --model runs/mine --out mine --format hf
run build/inkling info --model runs/mine
