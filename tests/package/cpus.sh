#!/usr/bin/env bash
# The packaged program on CPUs that this machine does not have, under qemu: it uses the instructions of each CPU, and
# trains to the same bits as on any other CPU, in bfloat16 as on any CPU that multiplies it in the same way; what one CPU
# has trained, another replays. It refuses a CPU without AVX2 with a message. qemu 7 has no AVX-512, so there CPUs with AVX-512 act like CPUs with AVX2; INKLING_CPU
# tests the real instructions if this machine has them.
#   tests/package/cpus.sh PROGRAM       for example: build/package/inkling, of cmake --build build --target package
set -euo pipefail
source "$(dirname "$0")/../../cmake/setup.sh"
[ -x "${1:-}" ] || fail "the packaged program is required, such as build/package/inkling"
program=$(realpath "$1")
packages=(qemu-user)
install_missing
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$root/tests/some_text.sh" 400 >text.txt
export OMP_WAIT_POLICY=passive  # with it the program does not re-execute itself, which would leave qemu

emulated() {  # CPU COMMAND...
    local code=0
    qemu-x86_64 -cpu "$@" 2>err.txt || code=$?
    grep -v "^qemu-x86_64: warning" err.txt >&2 || true
    return $code
}

uses() { "$@" info --cpu --json | sed -n 's/.*"instructions": *"\([^"]*\)".*/\1/p'; }

hash_of() {  # PRECISION COMMAND...: trains, and prints a hash of the weights
    local precision=$1
    shift
    "$@" train --data text.txt --out run --overwrite --n-layer 2 --n-head 2 --n-embd 32 --block-size 32 --batch-size 2 \
        --max-iters 4 --sample-every 0 --save-at 2 --keep-checkpoints all --precision "$precision" --threads 2 --quiet >&2
    sha256sum <run/latest/model.safetensors | cut -c1-16
}

replay() {  # WHAT RUN COMMAND...
    local what=$1 run=$2
    shift 2
    "$@" verify "$run" --replay all --threads 2 >said.txt || fail "$what: $run differs: $(cat said.txt)"
    grep -q ' replayed stretches hold' said.txt || fail "$what: $run was not replayed: $(cat said.txt)"
    say "$what: $run: every stretch holds"
}

expect() {  # WHAT INSTRUCTIONS COMMAND...
    local what=$1 instructions=$2 precision found
    shift 2
    found=$(uses "$@")
    [ "$found" = "$instructions" ] || fail "$what: takes $found, not $instructions"
    for precision in fp32 bf16; do
        found=$(hash_of $precision "$@")
        local key=$precision
        [ $precision-"$instructions" != bf16-avx512-bf16 ] || key=pairs
        [ "${hashes[$key]:=$found}" = "$found" ] ||
            fail "$what: in $precision the weights are $found, elsewhere ${hashes[$key]}"
        say "$what, $precision: $instructions, weights $found"
        [ $precision = bf16 ] || { rm -rf "run-of-$instructions" && mv run "run-of-$instructions"; }
    done
}

declare -A hashes
here=$(uses "$program")
kinds=()
for kind in avx2 avx512 avx512-bf16; do
    [ "$here" != portable ] || break
    expect "this CPU, as $kind" "$kind" env INKLING_CPU=$kind "$program"
    kinds+=("$kind")
    [ "$here" != $kind ] || break
done
for kind in "${kinds[@]}"; do
    for other in "${kinds[@]}"; do
        [ "$kind" = "$other" ] || replay "this CPU, as $kind" "run-of-$other" env INKLING_CPU="$kind" "$program"
    done
    replay Haswell "run-of-$kind" emulated Haswell "$program"
done
for cpu in Haswell Skylake-Client Skylake-Server Cooperlake EPYC EPYC-Milan; do
    expect "$cpu" avx2 emulated $cpu "$program"
done
[ "$here" = portable ] || replay "this CPU" run-of-avx2 "$program"  # that of the last emulated CPU
for cpu in Nehalem SandyBridge IvyBridge; do
    code=0
    emulated $cpu "$program" generate --model run >out.txt 2>said.txt || code=$?
    [ $code -eq 1 ] && [ ! -s out.txt ] && [ "$(wc -l <said.txt)" -eq 1 ] ||
        fail "$cpu: exit code $code: $(head -n 3 said.txt)"
    say "$cpu is refused: $(cat said.txt)"
done
