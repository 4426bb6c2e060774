#!/usr/bin/env bash
# The steps of a newcomer on an empty machine: makes a bare Debian beside this system (debootstrap minbase), puts the last
# commit of this checkout into it, and runs ./quickstart and ./check there, or COMMAND.
#   tests/fresh_machine.sh SUITE [COMMAND...]      for example: tests/fresh_machine.sh bookworm
#                                                               tests/fresh_machine.sh trixie ./check --fast
# INKLING_SHARE=FOLDER: FOLDER becomes /mnt there.
# Needs root to make the system and to enter it. Mounts are in a separate namespace, so none remains. INKLING_CACHE
# (~/.cache/inkling) keeps the bare system for a month, and the packages installed into it.
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
[ $# -gt 0 ] || fail "a suite is required, such as bookworm (Debian 12) or trixie (Debian 13)"
suite=$1
shift
[ $# -gt 0 ] || set -- sh -c './quickstart && ./check'

[ "$(id -u)" -eq 0 ] || fail "root is required to make a system and to enter it: run this script as root"
unshare --mount --pid --fork true 2>/dev/null ||
    fail "namespaces of mounts and processes cannot be made here: run this script outside of the container"
packages=(debootstrap)
install_missing

cache=${INKLING_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/inkling}/$suite
mkdir -p "$cache/archives/partial"
exec 9>"$cache/lock"
flock -n 9 || { say "waiting for another bare $suite" && flock 9; }

system=$(mktemp -d -p "${TMPDIR:-/var/tmp}" inkling-"$suite".XXXXXX)
inside=
clean_up() {
    [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true  # and everything that runs there
    wait
    rm -rf "$system"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

base=$cache/base.tar
if [ -n "$(find "$base" -mtime -30 2>/dev/null)" ]; then
    tar -xpf "$base" -C "$system"
else
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 2>/dev/null | head -n 1)  # this system's mirror
    say "making a bare $suite"
    unshare --mount debootstrap --variant=minbase "$suite" "$system" "${mirror:-http://deb.debian.org/debian}" \
        >"$cache/debootstrap.log" 2>&1 ||
        fail "debootstrap failed: $(tail -n 1 "$cache/debootstrap.log"); its output is in $cache/debootstrap.log"
    rm -f "$system"/var/cache/apt/archives/*.deb
    tar -cf "$base.new" -C "$system" .
    mv "$base.new" "$base"
fi
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
# this system's access to Debian's packages: proxies, and whether clocks are reliable
apt-config dump | grep -E '^Acquire::(https?(::| )|Check-|Retries )' >"$system/etc/apt/apt.conf.d/90as-around" || true
echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/90-unsafe-io"  # data need not survive a power cut
# and to Python's packages, if this system configures certificates
if [ -n "${PIP_CERT:-}" ]; then
    cp -L "$PIP_CERT" "$system/etc/trusted.pem"
    export PIP_CERT=/etc/trusted.pem
fi
git -C "$root" diff --quiet HEAD || say "changes that are not committed are left out"
mkdir "$system/root/inkling"
git -C "$root" archive HEAD | tar -x -C "$system/root/inkling"
say "in a bare $suite: $*"

enter='
    mount -t proc proc "$1/proc"
    mount -t sysfs -o ro sysfs "$1/sys"
    mount --rbind /dev "$1/dev"  # including pts and shm
    mount --bind "$2" "$1/var/cache/apt/archives"
    [ -z "$3" ] || mount --bind "$3" "$1/mnt"
    system=$1
    shift 3
    exec chroot "$system" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${no_proxy:+no_proxy="$no_proxy"} ${PIP_CERT:+PIP_CERT="$PIP_CERT"} sh -c "cd /root/inkling && exec \"\$@\"" sh "$@"'
unshare --mount --pid --fork --kill-child bash -ec "$enter" bash "$system" "$cache/archives" \
    "${INKLING_SHARE:-}" "$@" 9>&- &
inside=$!
code=0
wait "$inside" || code=$?
inside=
[ "$code" -eq 0 ] || fail "exit code $code in a bare $suite, after $SECONDS s"
say "all of it succeeded in a bare $suite, in $SECONDS s"
