#!/usr/bin/env bash
# Branch coverage of the fast tests over the code that reads files and writes checkpoints: prints a table by file, and each
# condition that was never true, or never false. clang counts the conditions of the source; gcov would count the machine's
# branches, of which the compiler adds an eighth. Fails below 95%. Builds in build-coverage/, which takes ten minutes.
#   tests/coverage.sh
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
packages+=(clang llvm libomp-dev)
install_missing
cd "$root"
build=build-coverage
mkdir -p $build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
    "-DCMAKE_CXX_FLAGS=-fprofile-instr-generate -fcoverage-mapping" "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -DNDEBUG" >$build/configure.log
cmake --build $build >$build/build.log || { tail -40 $build/build.log && exit 1; }
rm -rf $build/profiles $build/failed
# Excludes tests that would also keep the profile from being read or written.
for which in '[cli]' '~[cli]'; do
    LLVM_PROFILE_FILE=$root/$build/profiles/%4m.profraw OMP_WAIT_POLICY=passive $build/tests/inkling_tests \
        "$which~[slow]~\"faulty files: any read*\"~\"surroundings: any limit*\"" >$build/tests-"$which".log || touch $build/failed &
done
wait
[ ! -e $build/failed ] || { grep -h -B 4 -A 12 FAILED: $build/tests-*.log | tail -40 && exit 1; }
llvm-profdata merge -sparse $build/profiles/*.profraw -o $build/profile

files=(formats/files/*.cpp formats/safetensors/*.cpp formats/gguf/*.cpp formats/*.cpp data/{records,example_shapes,dataset,text_source}.cpp data/tokenizers/json/{tokenizer_json,bpe_json,pipeline_json}.cpp
    models/files/{adapter_folder,folder,weight_files,stored_weights}.cpp models/families/*.cpp web/http/http_request.cpp web/api/{text_request,chat_request}.cpp
    train/settings/options.cpp train/run/{checkpoint,run_folder,resume,verify}.cpp)
profile=($build/tests/inkling_tests -object $build/inkling -instr-profile $build/profile)
llvm-cov report "${profile[@]}" "${files[@]}" 2>$build/report.log |
    awk '/%|-$/ && $11 > 0 { printf "%-42s %5d conditions  %4d not taken  %s\n", $1, $(NF - 2), $(NF - 1), $NF }' | tee $build/table
for file in "${files[@]}"; do
    llvm-cov show "${profile[@]}" -show-branches=count -show-instantiations=false "$file" 2>>$build/report.log |
        sed -nE "s|.*Branch \(([0-9]+:[0-9]+)\): \[True: 0, False: 0\]|$file:\1 never reached|p
                 s|.*Branch \(([0-9]+:[0-9]+)\): \[True: 0, .*|$file:\1 never true|p
                 s|.*Branch \(([0-9]+:[0-9]+)\): .*False: 0\]|$file:\1 never false|p"
done
awk '$1 == "TOTAL" { taken = 1 - $4 / $2 } END { exit !(taken >= 0.95) }' $build/table
