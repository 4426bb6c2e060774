#!/usr/bin/env bash
# The Debian packages for a newcomer. Makes a bare Debian (tests/fresh_machine.sh, which needs root), builds the packages
# of the last commit there, and tests the program on other CPUs (cpus.sh). Then, in another bare Debian without a compiler,
# it runs lintian, installs the program's package, trains, writes text, reads the manual, completes flags, removes
# everything and looks for leftovers. At last, it builds a program with the library's packages.
#   tests/package/debian.sh SUITE [FOLDER]      FOLDER: packages that are already built
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../../cmake/setup.sh"

in_bare_build() {
    packages+=(dpkg-dev file lintian help2man)
    install_missing
    cd "$root"
    cmake --preset release -DINKLING_TESTS=OFF >/dev/null
    cmake --build build --target package
    cp build/*.deb /mnt
    tests/package/cpus.sh build/package/inkling
}

# All files on the system, except those that apt and dpkg always write.
files() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /mnt -o -path /root -o -path /tmp -o \
    -path /run -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune -o -print; }

install_packages() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" >>/tmp/apt.log 2>&1 ||
        fail "apt-get install $* failed: $(grep -m 1 '^E:' /tmp/apt.log)"
}

in_bare_use() {
    apt-get -q update >/tmp/apt.log 2>&1 || true
    say "the manual's reader and lintian"
    install_packages man-db mandoc lintian
    lintian --fail-on error --tag-display-limit 0 /mnt/*.deb || fail "lintian found errors"
    apt-mark showmanual | sort >/tmp/manual.before
    files | sort >/tmp/files.before

    install_packages /mnt/inkling_*.deb
    ! command -v g++ >/dev/null || fail "there is a compiler: this system is not bare"
    cd /tmp
    inkling info --cpu
    inkling train --max-time 10 --out run
    inkling generate --model run -n 40 --seed 1 --prompt "One "
    for page in /usr/share/man/man1/inkling*.1.gz; do
        page=$(basename "$page" .1.gz)
        man --warnings "$page" >page.txt 2>page.err || fail "man $page failed"
        [ ! -s page.err ] || fail "man $page: $(head -n 1 page.err)"
        [ "$(wc -l <page.txt)" -gt 20 ] || fail "man $page shows nearly nothing"
    done
    bash -c 'source /usr/share/bash-completion/completions/inkling
        COMP_WORDS=(inkling train --recipe "") COMP_CWORD=3; _inkling; echo "${COMPREPLY[*]}"' |
        grep -w nanogpt-cpu || fail "bash does not complete --recipe"

    apt-get -q -y purge inkling >>/tmp/apt.log 2>&1
    apt-get -q -y autoremove --purge >>/tmp/apt.log 2>&1
    files | sort | diff /tmp/files.before - || fail "these files are left after inkling is removed"

    say "a program with the library"
    install_packages /mnt/libinkling*.deb g++ cmake ninja-build
    cmake -S /root/inkling/tests/package -B build -G Ninja >build.txt 2>&1 &&
        cmake --build build --target gradient_descent >>build.txt 2>&1 || fail "it does not build: $(tail -n 20 build.txt)"
    build/gradient_descent
    ldd build/gradient_descent | grep libinkling
}

case ${1:-} in
"") fail "a suite is required, such as bookworm (Debian 12) or trixie (Debian 13)" ;;
--build) in_bare_build ;;
--use) in_bare_use ;;
*)
    share=${2:-}
    if [ -z "$share" ]; then
        share=$(mktemp -d)
        trap 'rm -rf "$share"' EXIT
        INKLING_SHARE=$share "$here/../fresh_machine.sh" "$1" tests/package/debian.sh --build
    fi
    INKLING_SHARE=$share "$here/../fresh_machine.sh" "$1" tests/package/debian.sh --use
    ;;
esac
