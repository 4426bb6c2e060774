#!/usr/bin/env bash
# The library on 64-bit ARM: builds it with Debian's cross compiler in a bare Debian 12 (tests/fresh_machine.sh), and runs
# the fast tests of the engine, layers and formats and the golden runs under qemu. The tests of a folder share a process,
# because qemu starts slowly.
#   tests/arm64.sh [ctest flags]            for example: tests/arm64.sh -R engine
# While it runs, the kernel starts ARM programs through qemu.
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
cd "$root"
if [ "${1:-}" != --inside ]; then exec tests/fresh_machine.sh bookworm tests/arm64.sh --inside "$@"; fi
shift

dpkg --add-architecture arm64
apt-get -q update >/dev/null
libraries=()
for package in "${packages[@]}" libgomp1; do
    case $package in
        g++ | cmake | ninja-build) ;;
        libspdlog-dev | libcli11-dev | libedit-dev | libboost-dev) ;;  # only the program needs them
        libxtensor-dev) libraries+=("$package") ;;  # headers; ARM's package depends on a package that ARM lacks
        *) apt-cache show "$package:arm64" >/dev/null 2>&1 && package+=:arm64 # others are for all machines
            libraries+=("$package") ;;
    esac
done
packages=(g++-aarch64-linux-gnu qemu-user-static cmake ninja-build "${libraries[@]}")
install_missing

programs=/proc/sys/fs/binfmt_misc
mount -t binfmt_misc binfmt_misc $programs || fail "the kernel cannot be told here to start programs for ARM by qemu"
forget() { [ ! -e $programs/inkling-aarch64 ] || echo -1 >$programs/inkling-aarch64; }
forget
trap forget EXIT
sed 's/^:qemu/:inkling/' /usr/lib/binfmt.d/qemu-aarch64.conf >$programs/register

build release all -DCMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" -DINKLING_WERROR=ON -DINKLING_PROGRAM=OFF \
    "-DINKLING_TESTED=engine;nn;formats;train/test_golden" -Dxtensor_DIR=/usr/lib/x86_64-linux-gnu/cmake/xtensor
say "the fast tests"
ctest --preset release -j "$(nproc)" "$@"
