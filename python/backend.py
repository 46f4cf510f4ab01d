"""Builds the wheel: the package, the libraries, the header and the command, from a CMake build.

pip calls build_wheel. It builds the libraries in build/wheel of the project (with Ninja in build/wheel-ninja) or, with the
setting build-folder (pip wheel --config-settings build-folder=PATH), packs those of a finished build. Nothing but Python
and a C compiler is needed: pip brings CMake and Ninja where they are missing. Where there is a CUDA toolkit the wheel has
device code, compressed for size: for all generations of GPUs or, with the setting architectures ("80;90"), for some.

The platform tag says which GNU C library is needed: the newest version of its symbols that the libraries use.
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
LARGEST = 60 << 20  # bytes of a wheel
ALL_ARCHITECTURES = "all-major"
OLDEST_GLIBC = 17  # of 2.17, the least that a tag can say


def get_requires_for_build_wheel(config_settings=None):
    if not (PROJECT / "CMakeLists.txt").exists():
        raise RuntimeError("pip 21.3 or later is needed, which builds in the project's own folder and not in a copy")
    requires = [] if has_cmake() else ["cmake>=3.24"]
    return requires if has_make() or shutil.which("ninja") else [*requires, "ninja"]


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("a wheel is built from the whole project, of which this folder is a part")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    given, architectures = settings.get("build-folder"), settings.get("architectures", "")
    build = Path(given).resolve() if given else make_build(architectures)
    with tempfile.TemporaryDirectory() as installed:
        for component in ("link", "preload", "command"):
            run("cmake", "--install", build, "--prefix", installed, "--component", component, "--strip")
        contents = gather(Path(installed))
    return write_wheel(Path(wheel_directory), contents, find_version() + variant_of(architectures))


def has_cmake():
    if not shutil.which("cmake"):
        return False
    said = subprocess.run(["cmake", "--version"], capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", said)
    return bool(version) and (int(version[1]), int(version[2])) >= (3, 24)


def has_make():
    return shutil.which("make") is not None


def run(*words):
    # Standard output belongs to pip.
    subprocess.run([str(word) for word in words], check=True, stdout=2)


def make_build(architectures):
    # CMake takes make unless told otherwise, and a folder stays with one of them. Ninja may be pip's, elsewhere every time.
    build = PROJECT / "build" / ("wheel" if has_make() else "wheel-ninja")
    generator = [] if has_make() else ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}"]
    run("cmake", "-S", PROJECT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DTILEBLAS_TESTS=OFF",
        "-DTILEBLAS_BENCH=OFF", "-DTILEBLAS_COMPRESS=size", f"-DTILEBLAS_ARCHITECTURES={architectures or ALL_ARCHITECTURES}")
    run("cmake", "--build", build, "--parallel", os.cpu_count() or 1,
        "--target", "tileblas", "tileblas-preload", "tileblas-command")
    return build


def gather(installed):
    """The wheel's files outside of its metadata: a path and the bytes, and whether they are a program."""
    wanted = {
        "tileblas/lib/libtileblas-preload.so": "libtileblas-preload.so",
        "tileblas/lib/libtileblas.so.0": "libtileblas.so.0",
        "tileblas/include/tileblas.h": "tileblas.h",
        "tileblas/bin/tileblas": "bin/tileblas",
    }
    contents = [(f"tileblas/{source.name}", source.read_bytes(), False) for source in sorted((HERE / "tileblas").glob("*.py"))]
    for path, name in wanted.items():
        found = next(installed.rglob(name))
        contents.append((path, found.read_bytes(), name == "bin/tileblas"))
    return contents


def find_version():
    return re.search(r"project\(TileBLAS VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text())[1]


def variant_of(architectures):
    """What a wheel for some generations has behind its version: "+sm80.sm90"."""
    return "+" + ".".join(f"sm{one}" for one in architectures.split(";")) if architectures else ""


def find_tag(contents):
    versions = [int(version) for _, data, _ in contents if data.startswith(b"\x7fELF")
                for version in re.findall(rb"\0GLIBC_2\.(\d+)\b", data)]
    return f"py3-none-manylinux_2_{max([OLDEST_GLIBC, *versions])}_{platform.machine()}"


def describe(version, tag):
    """The metadata: pip's view of pyproject.toml, which Python before 3.11 cannot read."""
    settings = (HERE / "pyproject.toml").read_text()

    def setting(name):
        return re.search(rf'^{name} = "(.*)"', settings, re.MULTILINE)[1]

    metadata = (f"Metadata-Version: 2.4\nName: tileblas\nVersion: {version}\nSummary: {setting('description')}\n"
                f"Requires-Python: {setting('requires-python')}\nLicense-Expression: {setting('license')}\n"
                "License-File: LICENSE\nDescription-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text())
    wheel = f"Wheel-Version: 1.0\nGenerator: tileblas\nRoot-Is-Purelib: false\nTag: {tag}\n"
    scripts = f"[console_scripts]\ntileblas = {setting('tileblas')}\n"
    return {"METADATA": metadata, "WHEEL": wheel, "entry_points.txt": scripts,
            "licenses/LICENSE": (PROJECT / "LICENSE").read_text()}


def write_wheel(folder, contents, version):
    tag = find_tag(contents)
    about = f"tileblas-{version}.dist-info"
    files = contents + [(f"{about}/{name}", text.encode(), False) for name, text in describe(version, tag).items()]
    lines = [f"{path},sha256={digest(data)},{len(data)}" for path, data, _ in files]
    record = "\n".join([*lines, f"{about}/RECORD,,", ""])
    wheel = folder / f"tileblas-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, is_program in [*files, (f"{about}/RECORD", record.encode(), False)]:
            entry = zipfile.ZipInfo(path)  # of the same date always: the same contents are the same wheel
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    if wheel.stat().st_size > LARGEST:
        raise RuntimeError(f"{wheel} has more than {LARGEST >> 20} MiB: build it with -DTILEBLAS_COMPRESS=size, "
                           "or one for each generation of GPUs (--config-settings architectures=90)")
    return wheel.name


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
