#!/usr/bin/env bash
# Fuzzes a reader of external files with clang's libFuzzer and the address and undefined-behaviour sanitizers. It writes
# each finding as crash-* to the current folder: fix the bug, and put the file into corpus/.
#   tests/fuzz/run.sh safetensors|config_json|tokenizer_json|settings_toml|text_lines|serve_request|jinja|adapter|gguf [flags
#   of libFuzzer, e.g. -runs=10000000]
#   tests/fuzz/run.sh all SECONDS     all readers, for SECONDS each; prints the number of inputs of each
# -use_counters=0 -max_len=600 makes twice as many inputs per second, but less varied ones: `all` spends half of its time
# on them. Builds the library in build-fuzz/, which takes minutes the first time. build-fuzz/corpus/ keeps inputs that
# reach new code for the next time.
set -euo pipefail
target=${1:-} && shift $(($# > 0))
source "$(dirname "$0")/../../cmake/setup.sh"
command -v clang++ >/dev/null || fail "clang++ with libFuzzer is required: apt-get install clang libomp-dev"
cd "$root"
if [ "$target" = all ]; then
    half=(-max_total_time=$((${1:-3600} / 2)) -print_final_stats=1)
    for one in $(ls tests/fuzz/corpus); do
        log=build-fuzz-$one.log
        { "$0" "$one" "${half[@]}" && "$0" "$one" "${half[@]}" -use_counters=0 -max_len=600; } >"$log" 2>&1 ||
            { tail -40 "$log" && exit 1; }
        echo "$one: $(awk '/^stat::number_of_executed_units/ {n += $2} END {print n}' "$log") inputs, nothing found"
        mv "$log" "build-fuzz/$one.log"
    done
    exit
fi
[ -n "$target" ] && [ -d "tests/fuzz/corpus/$target" ] || { echo "run.sh: no target '$target': there are $(ls -m tests/fuzz/corpus)" >&2 && exit 2; }
out=build-fuzz
mkdir -p "$out/corpus/$target"
cmake --preset asan -B "$out" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_DEBUG="-O2 -g1" -DINKLING_SANITIZE=fuzzer-no-link,address,undefined >"$out/configure.log"
cmake --build "$out" --target "fuzz_$target"
# short traces, little freed memory kept, no memory filled: a fifth more inputs per second
export OMP_NUM_THREADS=1 ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=4:quarantine_size_mb=16:max_malloc_fill_size=0}
exec "$out/tests/fuzz_$target" -dict=tests/fuzz/json.dict -max_len=4096 -timeout=20 -rss_limit_mb=1024 \
    "$@" "$out/corpus/$target" "tests/fuzz/corpus/$target"
