#!/usr/bin/env bash
# Fuzzes one of the readers of files that come from elsewhere, with clang's libFuzzer and the address and undefined-
# behaviour sanitizers. What it finds is a file crash-* in the current folder: mend it, and put the file into corpus/.
#   tests/fuzz/run.sh safetensors|config_json|tokenizer_json [flags of libFuzzer, e.g. -runs=10000000]
# Inputs that reach new code are kept in build-fuzz/corpus/, for the next time.
set -euo pipefail
target=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v clang++ >/dev/null || { echo "run.sh: clang++ with libFuzzer is required: apt-get install clang libomp-dev" >&2 && exit 1; }
cd "$root"
case $target in
safetensors) sources=(data/{file,json,utf8}.cpp models/{safetensors,safetensors_header}.cpp) ;;
config_json) sources=(data/{json,utf8}.cpp models/{config_json,gpt_config}.cpp) ;;
tokenizer_json) sources=(data/{added_tokens,bpe_json,bpe_json_writer,bpe_tokenizer,byte_alphabet,byte_pairs}.cpp
    data/{char_tokenizer,file,gpt2_split,json,pre_tokenizer,regex,split_dialect,tokenizer_json,utf8}.cpp) ;;
*) echo "run.sh: no target $target" >&2 && exit 2 ;;
esac
out=build-fuzz
mkdir -p "$out/corpus/$target"
clang++ -std=c++20 -O1 -g -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fopenmp \
    "tests/fuzz/$target.cpp" "${sources[@]}" -lfmt -lpcre2-8 -o "$out/fuzz_$target"
# short traces and little memory kept after it was freed: a fifth more inputs a second
export OMP_NUM_THREADS=1 ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=4:quarantine_size_mb=16}
exec "$out/fuzz_$target" -dict=tests/fuzz/json.dict -max_len=4096 -timeout=20 -rss_limit_mb=1024 \
    "$@" "$out/corpus/$target" "tests/fuzz/corpus/$target"
