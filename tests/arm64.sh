#!/usr/bin/env bash
# 64-bit ARM: builds library and program with Debian's cross compiler in a bare Debian 12 (tests/fresh_machine.sh). Under
# qemu, it trains a proof from x86-64 again, and runs the fast tests of the engine, layers and formats and the golden runs.
# The tests of a folder share a process, because qemu starts slowly.
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

flags=(-DCMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" -Dxtensor_DIR=/usr/lib/x86_64-linux-gnu/cmake/xtensor
    -DINKLING_WERROR=ON "-DINKLING_TESTED=engine;nn;formats;train/test_golden")
build release inkling "${flags[@]}" -DINKLING_MPI=OFF
say "a proof made on x86-64"
build/inkling verify tests/reference/proof

build release all "${flags[@]}" -DINKLING_PROGRAM=OFF
say "the fast tests"
ctest --preset release -j "$(nproc)" "$@"
