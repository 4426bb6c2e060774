#!/usr/bin/env bash
# Parts of the check that take long and depend on few files. A part that passed is skipped until one of its files changes:
# the cache of tests/fresh_machine.sh keeps a hash of these files.
#   tests/parts.sh changed [SECONDS]   the parts whose files have changed since they passed on this machine; none begins
#                                      after SECONDS, and the skipped parts are named
#   tests/parts.sh all
#   tests/parts.sh NAME...             some of: headers browser arm mpi packages wheel
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
cd "$root"
passed=${INKLING_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/inkling}/passed
build_files=(CMakeLists.txt cmake)
declare -A files=(  # file names and git patterns
    [headers]="engine/*.h nn/*.h formats/*.h data/*.h models/*.h generate/*.h distributed/*.h train/*.h tests/package"
    [arm]="${build_files[*]} engine nn formats models/inference train/optimizers generate/sampling.cpp tests/engine tests/nn tests/formats tests/train/test_golden.cpp tests/reference/proof tests/arm64.sh"
    [browser]="web cli/serve.cpp cli/report.cpp tests/browser"
    [packages]="${build_files[*]} cli/usage engine/kernels engine/base/cpu.cpp train/proof tests/package"
    [wheel]="${build_files[*]} python pyproject.toml"
    [mpi]="distributed cmake/mpi.cmake tests/cli/test_mpirun.cpp"
)
names=(headers browser arm mpi packages wheel)

run_headers() {
    build release all  # what cmake --install installs
    tests/package/test.sh cmake build "${CXX:-c++}"
}
run_arm() { tests/arm64.sh; }
run_browser() { ./check --browser; }
run_packages() { tests/package/debian.sh trixie; }
run_wheel() {
    tests/fresh_machine.sh trixie python/wheel.sh --try .
    python/wheel.sh
    python/wheel.sh --try build/wheel/*.whl
}
run_mpi() {
    packages+=(openmpi-bin libopenmpi-dev mpich libmpich-dev)
    install_missing
    for mpi in mpich openmpi; do
        build release inkling_tests -U 'MPI_*' -DINKLING_MPI=ON -DMPI_CXX_COMPILER=mpicxx.$mpi \
            -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.$mpi)"
        ctest --preset release -R '^test_mpirun$'
    done
}

# The file that says that a part passed, for its files as they are now.
mark_of() {
    set -f
    # shellcheck disable=SC2086
    echo "$passed/$1-$(git ls-files -- ${files[$1]} | xargs -d '\n' sha256sum -- 2>/dev/null | sha256sum | cut -c 1-32)"
    set +f
}

[ $# -gt 0 ] || fail "changed, all, or names of parts are required: ${names[*]}"
until=1000000
case $1 in
all) chosen=("${names[@]}") ;;
changed)
    until=${2:-$until} chosen=()
    for each in "${names[@]}"; do
        if [ -e "$(mark_of "$each")" ]; then say "$each: passed with these files"; else chosen+=("$each"); fi
    done
    ;;
*) chosen=("$@") ;;
esac
for each in "${chosen[@]}"; do
    [ -n "${files[$each]:-}" ] || fail "'$each' is not a part: ${names[*]}"
    if [ $SECONDS -ge "$until" ]; then
        say "$each: NOT RUN, for want of time: tests/parts.sh $each"
        continue
    fi
    mark=$(mark_of "$each")
    part "$each" "run_$each"
    mkdir -p "$passed" && touch "$mark"
done
