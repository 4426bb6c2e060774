#!/usr/bin/env bash
# The tests of Python's module: makes a virtual environment in the build folder, compiles the module against the build,
# and runs python/tests. Exits with 4, which ctest counts as skipped, if Python or the network is missing.
#   python/test.sh BUILD [flags of pytest]
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
skip() {
    echo "skipped: $*"
    exit 4
}

python=$(command -v /usr/bin/python3 || command -v python3) || skip "there is no python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "Python 3.10 or newer is required"
[ -f "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    skip "Python's headers are missing: apt-get install python3-dev"
venv=$build/python-venv
[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv" >/dev/null 2>&1 ||
    skip "Python makes no virtual environments: apt-get install python3-venv"
needed=(scikit-build-core nanobind nanobind-backend numpy pytest nbclient ipykernel matplotlib)
if ! [ -e "$venv/complete" ]; then
    timeout 300 "$venv/bin/pip" install -q "${needed[@]}" >"$build/python-venv.log" 2>&1 ||
        skip "pip cannot install ${needed[*]}: $(grep -m 1 -i error "$build/python-venv.log" || true)"
    touch "$venv/complete"
fi

"$venv/bin/pip" install -q --no-build-isolation --no-deps --force-reinstall . \
    --config-settings=build-dir="$build/python" --config-settings=cmake.define.INKLING_BUILT="$build"
export OMP_WAIT_POLICY=passive INKLING_PROGRAM=$build/inkling
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests "$@"
