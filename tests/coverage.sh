#!/usr/bin/env bash
# Which branches of what reads files, and of what writes checkpoints, the fast tests take: a table by file, and the lines
# of those that were not taken. Builds in build-coverage/, which takes ten minutes. Branches of exceptions that
# calls may throw are not counted; many that remain are the compiler's own, of values that are destroyed behind them.
#   tests/coverage.sh
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
packages+=(gcovr)
install_missing
cd "$root"
build=build-coverage
mkdir -p $build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS=--coverage -fprofile-update=atomic" \
    -DCMAKE_CXX_FLAGS_DEBUG=-O1 >$build/configure.log
cmake --build $build >$build/build.log || { tail -40 $build/build.log && exit 1; }
find $build -name '*.gcda' -delete
ctest --test-dir $build -j "$(nproc)" -LE 'slow|long' --output-on-failure >$build/tests.log || { tail -40 $build/tests.log && exit 1; }

readers=(formats/.* data/records data/documents data/text_source 'data/tokenizers/(tokenizer_json|bpe_json|pipeline_json)'
    'models/(adapter_folder|folder|load)' 'models/families/.*' 'serve/(http_head|text_request)'
    'train/(options|checkpoint|run_folder|resume|verify)')
filters=()
for reader in "${readers[@]}"; do filters+=(--filter "$reader\.cpp"); done
gcovr --root . $build "${filters[@]}" --branches --exclude-throw-branches --exclude-unreachable-branches \
    --txt --print-summary -j "$(nproc)"
