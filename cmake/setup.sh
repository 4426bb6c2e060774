# quickstart, check and the scripts of tests/ source it: `root`, `say`, `fail`, `part`, `install_missing` and `build`.
# All messages go to stderr, so that stdout holds only the requested output.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$(basename "$0")

say() { printf '%s: %s\n' "$name" "$*" >&2; }
fail() {
    say "$@"
    exit 1
}

# part NAME COMMAND...: runs a part of a check. At its end the script prints the seconds of each part.
parts=() part=
part() {
    local start=$SECONDS
    [ ${#parts[@]} -gt 0 ] || [ -n "$part" ] || trap show_parts EXIT
    part=$1
    shift
    say "$part"
    "$@"
    parts+=("$((SECONDS - start))" "$part")
    part=
}
show_parts() {
    say "seconds by part:"
    printf '%8s  %s\n' "${parts[@]}" ${part:+"failed" "$part"} "$SECONDS" "in all" >&2
}

# Packages that the build and the tests need; the same names in Debian 12 and 13.
packages=(g++ cmake ninja-build libxtensor-dev libxsimd-dev librandom123-dev
    libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libpcre2-dev libutf8proc-dev
    libedit-dev zlib1g-dev libzstd-dev nettle-dev libboost-dev catch2)

# Installs packages that dpkg does not have with apt-get. If none is missing, it needs neither network nor root.
install_missing() {
    local missing=() as_root=() package log
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail "this script installs Debian packages, and apt-get is missing: install the equivalents of" \
            "${packages[*]}, then run: cmake --preset release && cmake --build --preset release"
    fi
    for package in "${packages[@]}"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "missing packages, and neither root nor sudo; as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing Debian packages${as_root[*]:+ with sudo}: ${missing[*]}"
    log=$(mktemp)
    # Ignore a failed update: the lists may be good enough, and otherwise install reports it.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 ||
        true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
        --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 </dev/null ||
        fail "apt-get failed: $(grep -m 1 -E '^(E|sudo):' "$log"); its output is in $log"
    rm -f "$log"
    say "installed in $SECONDS s"
}

# build PRESET TARGET [cmake flags]: shows a moving line on a terminal; otherwise writes a log and shows it on failure.
build() {
    local preset=$1 target=$2 dir=$root/build log start=$SECONDS
    shift 2
    [ "$preset" = release ] || dir=$root/build-$preset
    log=$dir/build.log
    mkdir -p "$dir"
    say "building $target ($preset) in ${dir#"$PWD"/}"
    cmake -S "$root" --preset "$preset" "$@" >"$log" 2>&1 || {
        grep -A 8 -m 1 'CMake Error' "$log" >&2 || tail -n 8 "$log" >&2
        fail "cmake cannot configure; its output is in $log"
    }
    if [ -t 2 ]; then
        cmake --build "$dir" --target "$target" -j "$(nproc)" >&2 || fail "the build failed"
    else
        cmake --build "$dir" --target "$target" -j "$(nproc)" >>"$log" 2>&1 || {
            grep -E 'error:|undefined reference|ninja: error' "$log" | head -n 10 >&2
            fail "the build failed; its output is in $log"
        }
    fi
    say "built $target ($preset) in $((SECONDS - start)) s"
}
