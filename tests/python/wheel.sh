#!/bin/sh
# The package as people meet it: the source archive, a wheel made of that and installed into a new environment, used there by
# a script, by the command and by a notebook; an installation that is edited. Environments see NumPy and SciPy of the one
# that tests have. It is built without kernels, and hardly optimized.
#
#   wheel.sh BUILD PYTHON TOOLS SIMULATED    BUILD: a finished build, of which is installed what a wheel has; TOOLS: a folder
#                                            with scikit-build-core, auditwheel, nbclient and ipykernel; SIMULATED: a library on
#                                            the simulated device, for the notebook
set -eu
build=$1 python=$2 tools=$3 simulated=$4
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TILEBLAS_LIBRARY PYTHONPATH

"$python" -c 'import numpy, scipy' 2>/dev/null || { echo "skipped: $python has no NumPy and SciPy"; exit 77; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: $python makes no environments"; exit 77; }
PYTHONPATH=$tools "$python" -c 'import auditwheel, ipykernel, nbclient, scikit_build_core' 2>/dev/null ||
    { echo "skipped: scikit-build-core, auditwheel, nbclient and ipykernel are not in $tools"; exit 77; }
command -v ninja >/dev/null || PYTHONPATH=$tools "$python" -c 'import ninja' 2>/dev/null ||
    { echo "skipped: there is no ninja"; exit 77; }

call_backend() { # call_backend FUNCTION FOLDER: as pip does, in the folder of the source
    PYTHONPATH=$tools "$python" -c 'import sys, scikit_build_core.build as build; getattr(build, sys.argv[1])(sys.argv[2])' "$@" \
        >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
run_pip() { # run_pip ARGUMENT...: with what the wheels of this test have, and without a network
    PYTHONPATH=$tools "$python" -m pip --quiet "$@" --no-deps --no-build-isolation --no-index \
        -C cmake.define.TILEBLAS_CUDA=OFF -C cmake.define.CMAKE_C_FLAGS_RELEASE=-O0 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# The source archive is made without git, and has what building takes. What pip asks first builds nothing.
(cd "$project" && call_backend build_sdist "$work")
tar -xzf "$work"/tileblas-*.tar.gz -C "$work"
source=$(echo "$work"/tileblas-*/)
(cd "$source" && call_backend prepare_metadata_for_build_wheel "$work/metadata")
grep -q '^Name: tileblas$' "$work"/metadata/*.dist-info/METADATA
test ! -e "$source/build" || { echo "for the metadata alone there is a build"; exit 1; }

# Made twice, the wheel is the same.
run_pip wheel --wheel-dir "$work/first" "$source"
wheel=$(echo "$work"/first/*.whl)
if test "${SUITE_WHOLE:-}" = 1; then
    run_pip wheel --wheel-dir "$work/second" "$source"
    cmp "$wheel" "$work"/second/*.whl
fi

# It is for any Python on this kind of machine, and needs no other library than the C library's, of some age.
test "${wheel##*-py3-none-}" = "linux_$(uname -m).whl" || { echo "the wheel is $wheel"; exit 1; }
PYTHONPATH=$tools "$python" -m auditwheel show "$wheel" >"$work/audit"
tr '\n' ' ' <"$work/audit" | grep -q 'consistent with the following platform tag: "manylinux_' || { cat "$work/audit"; exit 1; }
if grep -E 'libstdc|libcuda|libcudart|libgcc|libgomp' "$work/audit"; then exit 1; fi

# Its files are these, all that a finished build installs for it among them, of which one has the device code where there is any.
cmake --install "$build" --prefix "$work/component" --component python >"$work/log"
test ! -d "$build/tb_code" || code="$work/component/lib/libtileblas.so.$("$build/tileblas" --version | sed 's/.* //')"
found=$(find "$work/component" -type f -exec grep -lF .tileblas.code {} +) || true
test "$found" = "${code-}" || { echo "device code is in: $found"; exit 1; }
"$python" - "$wheel" "$project/python" "$work/component" <<'PROGRAM'
import pathlib, sys, zipfile

wheel, module, component = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    found = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist() if ".dist-info/" not in entry.filename}
compiled = ["bin/tileblas", "include/tileblas.h", "lib/libtileblas-preload.so", "lib/libtileblas.so.0"]
wanted = {f"tileblas/{name}" for name in compiled} | {str(path.relative_to(module)) for path in pathlib.Path(module).rglob("*.py")}
assert set(found) == wanted, f"in the wheel: {sorted(set(found) ^ wanted)}"
assert found["tileblas/bin/tileblas"] & 0o111, "the command is no program"
lacking = [name for name in compiled if not pathlib.Path(component, name).exists()]
assert not lacking, f"of a finished build there is no {lacking}"
PROGRAM

# Installed without the network, and without a compiler.
make_environment() { # make_environment FOLDER
    "$python" -m venv --without-pip "$1"
    "$python" -c 'import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)' \
        >"$(echo "$1"/lib/python*/site-packages)/numpy_and_scipy.pth"
}
make_environment "$work/venv"
"$python" -m pip --quiet --python "$work/venv/bin/python" install --no-deps --no-index "$wheel"
PATH=/nonexistent "$work/venv/bin/tileblas" info >"$work/info"
grep -q . "$work/info"
cd "$work"
test "$("$work/venv/bin/tileblas" --version)" = "$("$build/tileblas" --version)"
TILEBLAS_ROUTE=host "$work/venv/bin/python" -B "$here/attached.py" late
TILEBLAS_ROUTE=host "$work/venv/bin/python" -B "$here/attached.py" workers
"$work/venv/bin/python" -B "$here/attached.py" explanation
TILEBLAS_ROUTE=host "$work/venv/bin/tileblas" run -- "$work/venv/bin/python" -c \
    'import numpy as np; np.ones((200, 200)) @ np.ones((200, 201))' 2>"$work/run"
grep -q 'host 1 calls' "$work/run" || { cat "$work/run"; exit 1; }

PYTHONPATH=$tools TILEBLAS_LIBRARY=$simulated TILEBLAS_ROUTE=streamed TILEBLAS_START=wait "$work/venv/bin/python" -B \
    "$here/notebook.py" "$project/examples/attach.ipynb"

# Gone without a trace.
"$python" -m pip --quiet --python "$work/venv/bin/python" uninstall --yes tileblas
test -z "$(find "$work/venv" -name '*tileblas*')"

# Installed to be edited, the module is the source's own. That compiles all once more.
test "${SUITE_WHOLE:-}" = 1 || exit 0
make_environment "$work/edited"
run_pip --python "$work/edited/bin/python" install --editable "$source"
echo 'edited = True' >>"$source/python/tileblas/__init__.py"
"$work/edited/bin/python" -B -c 'import tileblas; assert tileblas.edited'
"$work/edited/bin/python" -B -m tileblas info >"$work/info"
grep -q "^link .*$work/edited/" "$work/info"
TILEBLAS_ROUTE=host "$work/edited/bin/python" -B "$here/attached.py" late

# What was compiled twice, for the wheel and for this, is the same.
"$python" -m zipfile --extract "$wheel" "$work/unpacked"
edited=$(echo "$work"/edited/lib/python*/site-packages/tileblas)
for file in bin/tileblas lib/libtileblas-preload.so lib/libtileblas.so.0; do
    cmp "$work/unpacked/tileblas/$file" "$edited/$file"
done
