#!/usr/bin/env bash
# Makes first-hour.md: runs the commands of a new user on the King James Bible (Debian's package bible-kjv), and writes down
# what they print. tests/readme.sh compares the page with the program of today.
#   docs/first_hour.sh build/inkling > docs/first-hour.md
set -euo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir build
ln -s "$program" build/inkling
bible gen1:1-rev22:21 >bible.txt
echo "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife." >other.txt

say() { printf '\n%s\n' "$*"; }

# Prints a command with its stdout and stderr: of more than 20 lines, the first and the end of the training, without its sample.
run() {
    printf '\n```\n$ %s\n' "$1"
    (eval "$1") </dev/null >shown 2>&1
    sed '/^sha256 of the weights/d' shown | fold -s -w 130 | sed 's/ *$//' >lines
    if [ "$(wc -l <lines)" -gt 20 ]; then
        head -n 5 lines
        echo ...
        sed -n '/^all steps are done/,$p' lines | sed '/^--- a sample/,/^------/d'
    else
        cat lines
    fi
    [ -z "$(tail -c 1 lines)" ] || echo
    echo '```'
}

cat <<'PAGE'
# The first hour

A tutorial for newcomers: train a model on a book that you know, and see what a minute of training can and cannot do. `docs/first_hour.sh` made this page
and kept what each command printed. The text is the King James Bible, 4.3 MB:

```sh
sudo apt install bible-kjv
bible gen1:1-rev22:21 >bible.txt
```

## Train

`build/inkling train bible.txt --out runs/bible` trains for a minute. Here the budget is a number of operations, so that
your losses and texts equal these. It takes one to two minutes; the times below are of 2 cores of a Zen 4.
PAGE
run 'build/inkling train bible.txt --max-flops 1e13 --out runs/bible'
cat <<'PAGE'

The validation loss is that of the last tenth of the book, from the end of Acts on, which no step sees. [What `train` chooses](recipes.md) explains model and steps.

## Let it write
PAGE
run 'build/inkling generate --model runs/bible --prompt "And God said" -n 120 --seed 1'
cat <<'PAGE'

- **What it can do:** numbered verses, names, the book's words and turns of phrase, mostly correct spelling, a few words in a row that fit.
- **What it cannot do:** keep a subject for two verses, know a fact, answer a question. [More time and text](limits.md) help a little; for a model that
  answers, [fine-tune a trained model](finetuning.md).

## Measure it

The model has 1.64 bits per byte on the book. Newer English, the first sentence of *Pride and Prejudice*, surprises it more:

```sh
echo "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife." >other.txt
```
PAGE
run 'build/inkling eval --model runs/bible --data other.txt'
say "## Train more

The run goes on where it stopped, and the learning rate rises again for the new steps:"
run 'build/inkling train bible.txt --max-flops 1.3e13 --out runs/bible --resume auto'
say "## Look inside

Row: the word being read. Column: what it looks at."
run 'build/inkling attention --model runs/bible --prompt "In the beginning God created"'
say "The model for [other programs](files.md#gguf):"
run 'build/inkling export --model runs/bible --out bible.gguf'
