#!/usr/bin/env bash
# Tests the packaged Inkling in a bare Debian (tests/fresh_machine.sh SUITE tests/package/bare.sh): builds the packages'
# library, for every x86-64 CPU from AVX2 on, and runs the fast tests over it, those of mpirun included; makes and installs
# the packages, trains with the program and builds a program with the library; and runs the tests of Python's module over
# it. debian.sh tests the packages without a compiler.
set -euo pipefail
source "$(dirname "$0")/../../cmake/setup.sh"
cd "$root"
packages+=(dpkg-dev file help2man python3-venv python3-dev openmpi-bin libopenmpi-dev)
part "Debian's packages" install_missing
# Builds only the library for AVX2: ./check tests the library for this CPU, and both must compute the same bits. debian.sh
# also builds the library for AVX-512.
part "build" build release all -DINKLING_NATIVE=OFF -DINKLING_AVX512=OFF -DINKLING_MPI=ON -DINKLING_WERROR=ON \
    -DCMAKE_INSTALL_PREFIX=/usr
part "fast tests" ctest --preset release -j $(($(nproc) + 1)) --label-exclude 'slow|packages'

install_packages() {
    cmake --build build --target package >build/package.log || fail "no packages: $(tail -n 5 build/package.log)"
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install ./build/*.deb >build/apt.log 2>&1 ||
        fail "apt-get install failed: $(grep -m 1 '^E:' build/apt.log)"
    cd /tmp
    inkling train --max-iters 20 --out run --quiet
    inkling generate --model run -n 20 --seed 1 --prompt "One "
    cmake -S "$root/tests/package" -B example -G Ninja >example.txt 2>&1 &&
        cmake --build example --target gradient_descent >>example.txt 2>&1 || fail "no program: $(tail -n 20 example.txt)"
    example/gradient_descent
    ldd example/gradient_descent | grep libinkling
    cd "$root"
}
part "packages" install_packages
part "programs of the pages" tests/package/test.sh cmake build g++ -DEVERY_HEADER=OFF  # headers: tests/parts.sh
part "Python" python/test.sh build
