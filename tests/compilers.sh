#!/usr/bin/env bash
# Trains the same run with differently compiled programs: without optimization, with -O2, -O3, by clang, for AVX2, for
# CPUs without AVX. In float32 all must write the same weights to the last bit, with one thread and with two; in bfloat16,
# all programs that multiply it in the same way.
#   tests/compilers.sh [NAME...]      all, or some of: O0 O2 O3 clang avx2 sse2. Builds in build-compilers/, which takes
#                                     minutes
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
[ $# -gt 0 ] || set -- O0 O2 O3 clang avx2 sse2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$root/tests/some_text.sh" 400 >"$folder/text.txt"

declare -A hashes
for name in "$@"; do
    compiler=g++ flags=-O2 march=native
    case $name in
    O0 | O2 | O3) flags=-$name ;;
    clang) compiler=clang++ ;;
    avx2) march=x86-64-v3 ;;
    sse2) march=x86-64 ;;
    *) fail "there is no '$name': O0 O2 O3 clang avx2 sse2" ;;
    esac
    command -v "$compiler" >/dev/null || { say "$name: skipped: $compiler is not installed" && continue; }
    build=$root/build-compilers/$name
    mkdir -p "$build"
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=$flags" \
        -DCMAKE_CXX_COMPILER="$compiler" -DINKLING_MARCH=$march -DINKLING_TESTS=OFF >"$build/configure.log"
    cmake --build "$build" --target inkling >"$build/build.log" || fail "$name does not build: see $build/build.log"
    pairs=$("$build/inkling" info --cpu --json | grep -o '"instructions": *"avx512-bf16"' || true)
    for precision in fp32 bf16; do
        for threads in 1 2; do
            "$build/inkling" train --data "$folder/text.txt" --out "$folder/run" --overwrite --n-layer 2 --n-head 4 --n-embd 64 \
                --block-size 48 --batch-size 5 --dropout 0.1 --max-iters 20 --sample-every 0 --precision $precision \
                --threads $threads --quiet
            found=$(sha256sum <"$folder/run/latest/model.safetensors" | cut -c1-16)
            key=$precision
            [ $precision = fp32 ] || key+=$pairs
            [ "${hashes[$key]:=$found}" = "$found" ] || fail "$name, $precision: weights $found, elsewhere ${hashes[$key]}"
            say "$name, $precision, $threads threads: weights $found"
        done
    done
done
