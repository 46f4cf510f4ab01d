#!/bin/sh
# The wheel as people meet it: packed from a build, checked by auditwheel, installed into a new environment, used there by
# a script, by the command and by a notebook. The environment sees NumPy and SciPy of the one that tests have.
#
#   wheel.sh BUILD PYTHON TOOLS SIMULATED    TOOLS: a folder with auditwheel, nbclient and ipykernel; SIMULATED: a library
#                                            on the simulated device, for the notebook
set -eu
build=$1 python=$2 tools=$3 simulated=$4
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TILEBLAS_LIBRARY PYTHONPATH

"$python" -c 'import numpy, scipy' 2>/dev/null || { echo "skipped: $python has no NumPy and SciPy"; exit 77; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: $python makes no environments"; exit 77; }
PYTHONPATH=$tools "$python" -c 'import auditwheel, ipykernel, nbclient' 2>/dev/null ||
    { echo "skipped: auditwheel, nbclient and ipykernel are not in $tools"; exit 77; }

# pip brings what building lacks: CMake where there is none or an old one, and Ninja where there is no make either.
mkdir "$work/none" "$work/old" "$work/new"
offer() { # offer FOLDER PROGRAM [OUTPUT]
    printf '#!/bin/sh\necho "%s"\n' "${3:-}" >"$work/$1/$2"
    chmod +x "$work/$1/$2"
}
offer old cmake "cmake version 3.22.1"
offer old make
offer new cmake "cmake version 4.0.2"
offer new ninja
brings() { # brings FOLDER WORDS: what pip is asked to bring where FOLDER is all there is
    found=$("$python" -B - "$work/$1" "$project/python" <<'PROGRAM'
import os, sys
os.environ["PATH"] = sys.argv[1]
sys.path.insert(0, sys.argv[2])
import backend
print(*backend.get_requires_for_build_wheel())
PROGRAM
    )
    test "$found" = "$2" || { echo "where the programs are the $1 ones pip brings: $found"; exit 1; }
}
brings none "cmake>=3.24 ninja"
brings old "cmake>=3.24"
brings new ""

# Packed twice, it is the same.
for folder in first second; do
    "$python" -m pip --quiet wheel --no-deps --no-build-isolation --no-index --config-settings build-folder="$build" \
        --wheel-dir "$work/$folder" "$project/python"
done
wheel=$(echo "$work"/first/*.whl)
cmp "$wheel" "$work"/second/*.whl

# Its tag is true, and it needs no other library than the C library's.
tag=$(echo "$wheel" | sed 's/.*-none-\(.*\)\.whl/\1/')
PYTHONPATH=$tools "$python" -m auditwheel show "$wheel" >"$work/audit"
tr '\n' ' ' <"$work/audit" | grep -q "consistent with the following platform tag: \"$tag\"" || { cat "$work/audit"; exit 1; }
if grep -E 'libstdc|libcuda|libcudart|libgcc|libgomp' "$work/audit"; then exit 1; fi
size=$(stat -c %s "$wheel")
test "$size" -lt 62914560 || { echo "the wheel has $size bytes"; exit 1; }

# Its record is that of its files, of which one has the device code, where the build has any.
with_code=$(test ! -d "$build/tb_code" || echo tileblas/lib/libtileblas.so.0)
"$python" - "$wheel" "$with_code" <<'PROGRAM'
import base64, csv, hashlib, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    names = archive.namelist()
    rows = list(csv.reader(archive.read(next(name for name in names if name.endswith("/RECORD"))).decode().splitlines()))
    assert sorted(row[0] for row in rows) == sorted(names), "files and record differ"
    for name, digest, size in rows[:-1]:
        data = archive.read(name)
        found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={found}", str(len(data))), f"{name} is not what the record says"
    holders = [name for name in names if b"\x7fELF" == archive.read(name)[:4] and b".tileblas.code\0" in archive.read(name)]
    assert holders == sys.argv[2].split(), f"device code is in {holders}"
PROGRAM

# Installed without the network, and without a compiler.
"$python" -m venv --without-pip "$work/venv"
"$python" -c 'import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)' \
    >"$(echo "$work"/venv/lib/python*/site-packages)/numpy_and_scipy.pth"
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
