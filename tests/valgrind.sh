#!/usr/bin/env bash
# Two steps of training in several ways, a save, a resumed step, an evaluation, a text and an export, each under valgrind:
# no uninitialized read, no access outside of allocated memory, no leak. valgrind knows AVX2 but not AVX-512. Builds the
# program for it in build-valgrind/, which takes two minutes; the rest takes two more.
#   tests/valgrind.sh
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
packages+=(valgrind)
install_missing
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build=$root/build-valgrind
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-g1 -DINKLING_MARCH=haswell \
    -DINKLING_TESTS=OFF >"$build/configure.log"
cmake --build "$build" --target inkling >"$build/build.log" || { tail -40 "$build/build.log" && exit 1; }

export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive # prevents re-execution, which valgrind does not allow
checked() {
    echo "valgrind: inkling $*"
    valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        "$build/inkling" "$@" >"$folder/log" 2>&1 && ! grep -q '^==' "$folder/log" || {
        cat "$folder/log" >&2
        fail "that failed"
    }
}

cd "$folder"
"$root/tests/some_text.sh" 60 >text.txt
for i in $(seq 20); do echo "{\"prompt\": \"What is $i?\", \"completion\": \"A number, $((i * 7)).\"}"; done >lines.jsonl
small=(--recipe nanogpt-cpu --n-layer 2 --n-head 2 --n-embd 24 --block-size 21 --batch-size 3 --eval-every 1
    --eval-iters 1 --sample-every 2)
checked train "${small[@]}" --data text.txt --max-iters 2 --out gpt2 --arch gpt2 --dropout 0.1 --optimizer adamw
checked train "${small[@]}" --data text.txt --max-iters 3 --out gpt2 --arch gpt2 --dropout 0.1 --optimizer adamw --resume auto
checked train "${small[@]}" --data text.txt --max-iters 2 --out nanochat --arch nanochat --optimizer muon --precision bf16 --checkpoint-activations
checked train "${small[@]}" --data text.txt --max-iters 2 --out llama --arch llama --n-kv-head 1 --precision bf16 --tokenizer bpe --vocab-size 300
checked train "${small[@]}" --data text.txt --max-iters 2 --out adapter --init-from llama --lora-rank 4 --base-precision q8_0
checked train "${small[@]}" --max-iters 2 --data lines.jsonl --out lines --arch qwen3 --tokenizer char --block-size 40
for run in gpt2 nanochat llama adapter; do
    checked eval --model $run --data text.txt
    checked generate --model $run --prompt "Line 7" --max-tokens 30
    checked generate --model $run --prompt "Line 7" --max-tokens 5 --quantize q8_0
done
checked export --model llama --out llama.gguf --type q8_0
echo "valgrind: nothing was found"
