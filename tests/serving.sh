#!/usr/bin/env bash
# Follows docs/serving.md: starts its servers, one after the other, on a separate port, and runs its curl commands, which
# must all return 200. With the openai client in $PEERS_PYTHON (or python3), it runs the page's Python, too.
#   tests/serving.sh PROGRAM      for example: tests/serving.sh build/inkling
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
program=$(realpath "$1")
page=$root/docs/serving.md
command -v curl >/dev/null || { echo "serving: skipped: there is no curl" && exit 4; }
folder=$(mktemp -d) server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT

languages=$(awk '/^```/ { inside = !inside; if (inside && !/^```(sh|python|yaml)?$/) print }' "$page")
[ -z "$languages" ] || fail "the page has a block that this test does not know: $languages"
mkdir -p "$folder/build" "$folder/runs"
cd "$folder"
ln -s "$program" build/inkling
cp -r "$root/tests/reference/greedy_gpt2" runs/mine
cp -r runs/mine runs/base
for adapter in formal verse; do
    build/inkling train --quiet --data "$page" --init-from runs/base --lora-rank 2 --max-iters 2 --out runs/lora-$adapter
done
echo my-secret-key >keys.txt
port=$((20000 + $$ % 12000)) ran=0  # below the ports that the system gives to clients

stop() {
    [ -n "$server" ] || return 0
    kill -TERM "$server"
    local code=0
    wait "$server" || code=$?
    server=
    [ $code -eq 143 ] || fail "the server ended with $code: $(cat log)"
}

python_block() {
    local python=${PEERS_PYTHON:-python3}
    "$python" -c 'import openai' 2>/dev/null || { echo "serving: the Python block is skipped: no openai client" && return; }
    awk '/^```python/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" | sed "s/:8080/:$port/" >block.py
    "$python" block.py >stdout || fail "the Python block fails"
    [ -s stdout ] || fail "the Python block prints nothing"
}

commands=$(awk '/^```/ { inside = !inside; plain = $0 == "```"; next } inside && plain' "$page")
while read -r command; do
    echo "serving: $command"
    case $command in
    'build/inkling serve '*)
        stop
        port=$((port + 1))
        eval "exec $command --port $port" >/dev/null 2>log &
        server=$!
        for i in $(seq 500); do
            curl -sf "http://127.0.0.1:$port/health" >/dev/null && break
            kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat log)"
            sleep 0.02
        done
        ;;
    'curl '*)
        eval "${command//:8080/:$port} -sS --fail-with-body" >stdout 2>stderr || fail "$command: $(cat stdout stderr)"
        [ -s stdout ] || fail "no answer to: $command"
        case $command in *completions*) [ -f asked ] || { touch asked && python_block; } ;; esac
        ;;
    *) fail "this test does not know how to run: $command" ;;
    esac
    ran=$((ran + 1))
done <<<"$commands"
stop
[ $ran -ge 11 ] || fail "only $ran commands were run"
echo "serving: $ran commands of the page did what it says"
