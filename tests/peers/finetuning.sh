#!/usr/bin/env bash
# Runs the commands of the ```sh block in docs/finetuning.md, which fetches a model with pip and trains for ten minutes.
# Run it by hand, because it needs a network and a quarter of an hour:
#   tests/peers/finetuning.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$(mktemp -d)"
ln -s "$root/build" "$root/bench" .
awk '/^```/ { inside = $0 == "```sh"; next } inside' "$root/docs/finetuning.md" >commands.sh
[ -s commands.sh ] || { echo "finetuning.sh: the page has no such block" >&2 && exit 1; }
bash -euxo pipefail commands.sh
echo "finetuning.sh: the model is in $PWD"
