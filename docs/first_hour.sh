#!/usr/bin/env bash
# Makes first-hour.md: runs the commands of a new user on a text of 4 MB, Inkling's own sources and pages, and writes down
# what they print. tests/readme.sh compares the page with the program of today.
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

# Prints a command with its stdout and stderr: of more than 40 lines, the first and the last. Shows an exit code that is not 0.
run() {
    printf '\n```\n$ %s\n' "$*"
    local code=0
    (eval "$*") <typed >shown 2>&1 || code=$?
    sed '/^sha256 of the weights/d' shown | fold -s -w 130 | sed 's/ *$//' >lines  # another hash on each run
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
machine=$("$program" info --cpu | awk '{name = $1; $1 = ""} name == "cpu" {cpu = $0} name == "instructions" {print cpu " (" $2 ")"}')
echo '# The first hour'
say "\`docs/first_hour.sh build/inkling\` made this page on $(nproc) cores of an$machine: it ran each command and kept what the command
printed, with \`...\` for lines left out. \`my.txt\` is four megabytes of text, here Inkling's own sources and pages. Use any text you like."
say "The commands:"
run build/inkling help
say "Train a model on your own text for a minute. Inkling chooses everything else:"
run build/inkling train my.txt --out runs/mine
say "Let it write:"
run build/inkling generate --model runs/mine --prompt '"// The "' -n 120 --seed 1
say "How well does it predict another text? Bits per byte compare models with different tokenizers:"
run build/inkling eval --model runs/mine --data other.txt
say "Train for 30 seconds more. The run continues where it stopped, and the learning rate rises again for the new steps:"
run build/inkling train my.txt --out runs/mine --resume auto --max-time 1m30s
say "What does a head look at?"
run build/inkling attention --model runs/mine --prompt '"const std::size_t n"'
say "Write all heads as a page to click through, export the model for other programs, and look at its folder:"
run build/inkling attention --model runs/mine --prompt '"const std::size_t n"' --out heads.html
run build/inkling export --model runs/mine --out mine --format hf
run build/inkling info --model runs/mine
