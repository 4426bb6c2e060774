#!/usr/bin/env bash
# test.sh CMAKE BUILD_DIR CXX [CMAKE FLAGS]: installs the build into a scratch folder, builds and runs the programs of the
# pages against it, and compiles every installed header alone.
set -eu
source "$(dirname "$0")/../../cmake/setup.sh"
[ $# -ge 4 ] || set -- "$@" ""
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$1" --install "$2" --prefix "$scratch/usr" >"$scratch/install.log" || fail "cmake --install failed"
"$scratch/usr/bin/inkling" --version
manual=
! command -v help2man >/dev/null || manual=man/man1/inkling-train.1
for file in $manual bash-completion/completions/inkling 'zsh/*/_inkling' \
    fish/vendor_completions.d/inkling.fish; do
    ls "$scratch"/usr/share/$file* >/dev/null || fail "$file is not installed"
done

# No public header may depend on -march or on the location of the sources.
if grep -rlE 'xsimd|#include "(engine|nn|formats|data|models|generate|train)/' "$scratch/usr/include"; then
    fail "the headers above must not be installed like this"
fi
# An installed header includes only installed ones.
for header in $(grep -rohE '#include "inkling/[^"]+"' "$scratch/usr/include" | cut -d'"' -f2 | sort -u); do
    [ -f "$scratch/usr/include/$header" ] || fail "an installed header includes $header, which is not installed"
done

"$1" -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/usr" -DCMAKE_CXX_COMPILER="$3" \
    $4 >"$scratch/configure.log" ||
    fail "find_package(inkling) failed"
"$1" --build "$scratch/build" -- -k 0 >"$scratch/build.log" || {
    grep -E 'error:' "$scratch/build.log" >&2
    fail "the example does not compile, or headers that are installed do not, each on its own"
}
"$scratch/build/example" "$here/../reference/gpt2_tiny" "$scratch/adapter" | tee "$scratch/output"
grep -q '^loss 0\.1' "$scratch/output" && [ -s "$scratch/adapter/adapter_model.safetensors" ] || fail "the adapter did not learn"

# inkling::engine needs neither the packages nor the libraries for reading and writing files.
without=
for package in tomlplusplus nlohmann_json ZLIB; do without="$without -DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"; done
"$1" --no-warn-unused-cli -S "$here/engine" -B "$scratch/engine" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/usr" -DCMAKE_CXX_COMPILER="$3" \
    $without $4 >"$scratch/configure.log" || fail "find_package(inkling COMPONENTS engine) failed"
"$1" --build "$scratch/engine" >"$scratch/build.log" || {
    grep -E 'error|undefined' "$scratch/build.log" >&2
    fail "a program over inkling::engine does not compile"
}
for program in custom_op gpt; do
    ! ldd "$scratch/engine/$program" | grep -E 'toml|pcre2|utf8proc|libz' || fail "$program needs the libraries above"
done
"$scratch/engine/gpt" "$here/../../LICENSE" 1 | grep 'step 1 ' || fail "gpt does not run"

losses=$("$scratch/build/gradient_descent" | paste -sd, | sed 's/,/, /g')
grep -q "// $losses\$" "$here/gradient_descent.cpp" || fail "gradient_descent printed other losses: $losses"

# The page shows exactly these programs.
sed -n '/^```cpp$/,/^```$/{/^```/!p}' "$here/../../docs/cpp.md" | diff - <(cat "$here"/{gradient_descent,example}.cpp) ||
    fail "the programs in docs/cpp.md are not those of tests/package"
