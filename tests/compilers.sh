#!/usr/bin/env bash
# The same run, of programs that were compiled in different ways: without optimization, with -O2, -O3, by clang, for CPUs
# without AVX. Each one's weights are the same to the last bit with one thread and with two, and after 20 steps the
# losses of any two differ by at most 1e-5 in float32.
#   tests/compilers.sh [NAME...]      all, or some of: O0 O2 O3 clang sse2. Builds in build-compilers/, which takes minutes
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
names=("${@:-}")
[ -n "${names[0]}" ] || names=(O0 O2 O3 clang sse2)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "compilers: $*" >&2
    exit 1
}
"$root/tests/some_text.sh" 400 >"$folder/text.txt"

for name in "${names[@]}"; do
    compiler=g++ flags=-O2 march=native
    case $name in
    O0 | O2 | O3) flags=-$name ;;
    clang) compiler=clang++ ;;
    sse2) march=x86-64 ;;
    *) fail "there is no '$name': O0 O2 O3 clang sse2" ;;
    esac
    command -v "$compiler" >/dev/null || { echo "compilers: $name: skipped: $compiler is not installed" && continue; }
    build=$root/build-compilers/$name
    mkdir -p "$build"
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=$flags" \
        -DCMAKE_CXX_COMPILER="$compiler" -DINKLING_MARCH=$march -DINKLING_TESTS=OFF >"$build/configure.log"
    cmake --build "$build" --target inkling >"$build/build.log" || fail "$name does not build: see $build/build.log"
    for precision in fp32 bf16; do
        for threads in 1 2; do
            out=$folder/$name-$precision-$threads
            "$build/inkling" train --data "$folder/text.txt" --out "$out" --n-layer 2 --n-head 4 --n-embd 64 --block-size 48 \
                --batch-size 5 --dropout 0.1 --max-iters 20 --log-every 1 --sample-every 0 --precision $precision \
                --threads $threads --quiet
        done
        cmp "$folder/$name-$precision-"{1,2}/latest/model.safetensors || fail "$name: two threads give other weights in $precision"
        grep -o '"loss": *[0-9.e-]*' "$folder/$name-$precision-1/metrics.jsonl" | sed 's/.*: *//' >"$folder/$name-$precision"
        echo "compilers: $name, $precision: the last loss is $(tail -n 1 "$folder/$name-$precision"), sha256 of the weights" \
            "$(sha256sum <"$folder/$name-$precision-1/latest/model.safetensors" | cut -c1-16)"
    done
    first=${first:-$name}
    far=$(paste "$folder/$first-fp32" "$folder/$name-fp32" | awk '{ d = $1 - $2; d = d < 0 ? -d : d; if (d > far) far = d } END { print far + 0 }')
    [ "$(wc -l <"$folder/$name-fp32")" -ge 20 ] || fail "$name: fewer than 20 losses were written"
    echo "compilers: $name: at most $far from $first"
    awk "BEGIN { exit !($far <= 1e-5) }" || fail "$name: losses differ by $far from those of $first"
done
