#!/usr/bin/env bash
# Parts of the check that take long and depend on few files. tests/parts.passed records the commit on which each part
# passed with a clean tree; commit that file, and the part is skipped until one of its files changes.
#   tests/parts.sh changed [SECONDS]   the parts with files that changed since they passed; none begins after SECONDS,
#                                      and the skipped parts are named
#   tests/parts.sh all
#   tests/parts.sh NAME...             some of: headers browser arm mpi packages wheel
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
cd "$root"
noted=tests/parts.passed
build_files=(CMakeLists.txt cmake)
declare -A files=(  # file names and git patterns
    [headers]="engine/*.h nn/*.h formats/*.h data/*.h models/*.h generate/*.h distributed/*.h train/*.h tests/package"
    [arm]="${build_files[*]} engine nn formats models/inference train/optimizers generate/sampling.cpp tests/engine tests/nn tests/formats tests/train/test_golden.cpp tests/arm64.sh"
    [browser]="web cli/serve.cpp cli/report.cpp tests/browser"
    [packages]="${build_files[*]} cli/usage/manual.cpp cli/usage/completion.cpp engine/kernels engine/base/cpu.cpp tests/package"
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

passed_on() { awk -v name="$1" '$1 == name { print $2 }' $noted; }
has_changed() {
    local commit changed=0
    commit=$(passed_on "$1")
    set -f
    # shellcheck disable=SC2086
    git diff --quiet "$commit" -- ${files[$1]} 2>/dev/null || changed=1
    set +f
    [ $changed = 1 ]
}
note() {
    git diff --quiet HEAD -- . ":!$noted" || { say "$1 passed; it is not noted, since there are changes that are not committed" && return; }
    { grep -v "^$1 " $noted || true; echo "$1 $(git rev-parse HEAD)"; } | sort >$noted.new
    mv $noted.new $noted
}

[ $# -gt 0 ] || fail "changed, all, or names of parts are required: ${names[*]}"
until=1000000
case $1 in
all) chosen=("${names[@]}") ;;
changed)
    until=${2:-$until} chosen=()
    for each in "${names[@]}"; do
        if has_changed "$each"; then chosen+=("$each"); else say "$each: nothing has changed since $(passed_on "$each")"; fi
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
    part "$each" "run_$each"
    note "$each"
done
