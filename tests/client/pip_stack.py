"""Whether programs of pip's packages keep their own BLAS: the libraries that are mapped are those of the plain process, and a limit
of one thread holds (threadpoolctl).

    pip_stack.py CASE preloaded|attached LIBRARY [hidden]

hidden: in a mount namespace in which the machine's own BLAS cannot be opened. The case runs in a process of its own, plain and with
the library; without a package that the case needs, the test is skipped.
"""

import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import time

SKIPPED = 77
LIMITED_SECONDS = 0.4
# What the dynamic linker's cache has under these names is the machine's BLAS.
MACHINE = ("libopenblas", "libblas", "libblis", "libcblas", "libmkl_rt", "libatlas", "liblapack", "libsatlas", "libtatlas")


def numpy_case():
    import numpy as np

    a = np.ones((300, 300))

    def work():
        assert (a @ a)[0, 0] == 300
        assert abs(np.linalg.solve(a + 300 * np.eye(300), a[0]) * 600 - 1).max() < 1e-10

    return work


def scipy_f2py_case():
    import numpy as np
    import scipy.linalg

    a = np.ones((300, 300), order="F")

    def work():
        assert scipy.linalg.blas.dgemm(1, a, a)[0, 0] == 300
        assert scipy.linalg.blas.ssyrk(1, a.astype(np.float32))[0, 0] == 300

    return work


def scipy_cython_case():
    """Through the pointers that others take from the capsules of cython_blas."""
    import numpy as np
    import scipy.linalg.cython_blas as cython_blas

    capsule = cython_blas.__pyx_capi__["dgemm"]
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule))
    dgemm = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(address)
    a, c = np.ones((300, 300)), np.empty((300, 300))
    n, letter = ctypes.byref(ctypes.c_int(300)), ctypes.c_char_p(b"N")
    one, zero = ctypes.byref(ctypes.c_double(1)), ctypes.byref(ctypes.c_double(0))

    def work():
        dgemm(letter, letter, n, n, n, one, a.ctypes.data, n, a.ctypes.data, n, zero, c.ctypes.data, n)
        assert c[0, 0] == 300

    return work


def neighbours_case():
    import numpy as np
    from sklearn.neighbors import KNeighborsClassifier

    points = np.random.default_rng(1).standard_normal((2000, 64), dtype=np.float32)
    labels = points[:, 0] > 0
    found = KNeighborsClassifier(1, algorithm="brute").fit(points, labels)

    def work():
        assert (found.predict(points[:500]) == labels[:500]).all()

    return work


def kmeans_case():
    import numpy as np
    from sklearn.cluster import KMeans

    points = np.random.default_rng(1).standard_normal((3000, 32))
    points[:1500] += 20

    def work():
        labels = KMeans(2, n_init=1, random_state=1).fit(points).labels_
        assert len(set(labels[:1500])) == 1 and labels[0] != labels[-1]

    return work


def numba_case():
    import numba
    import numpy as np

    product = numba.njit(lambda a: np.dot(a, a))
    a = np.ones((300, 300))

    def work():
        assert product(a)[0, 0] == 300

    return work


def statsmodels_case():
    import numpy as np
    import statsmodels.api as sm

    series = np.random.default_rng(1).standard_normal(200).cumsum()
    model = sm.tsa.SARIMAX(series, order=(2, 1, 1))

    def work():
        assert np.isfinite(model.loglike(model.start_params))

    return work


def torch_case():
    import torch

    a = torch.ones(300, 300)

    def work():
        assert (a @ a)[0, 0] == 300

    return work


CASES = {name[: -len("_case")]: case for name, case in globals().copy().items() if name.endswith("_case")}


def mapped_libraries():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if ".so" in line}
    # Not the library under test, nor what maps nothing of its own: caches.
    return sorted(path for path in paths if "tileblas" not in path and path.startswith("/"))


def ticks_of_other_threads():
    """What the process's other threads have computed, in clock ticks."""
    ticks = 0
    for task in os.listdir("/proc/self/task"):
        if int(task) != os.getpid():
            with open(f"/proc/self/task/{task}/stat", encoding="utf-8") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def run_case(name, library):
    try:
        from threadpoolctl import threadpool_limits

        work = CASES[name]()
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    if library:
        attach = ctypes.CDLL(library).tileblas_attach
        assert attach() >= 0
    work()
    with threadpool_limits(1):
        work()
        # OpenBLAS's threads look for work for some milliseconds after the last.
        time.sleep(0.3)
        before, end = ticks_of_other_threads(), time.monotonic() + LIMITED_SECONDS
        while time.monotonic() < end:
            work()
        others = ticks_of_other_threads() - before
    print(json.dumps({"libraries": mapped_libraries(), "others": others}))


def hide_machine():
    """Files that the dynamic linker's cache names are covered; what has them open already is this process alone."""
    cache = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    paths = {os.path.realpath(line.split("=> ")[1]) for line in cache.splitlines() if line.strip().startswith(MACHINE)}
    folders = ["/usr/lib/" + folder for folder in os.listdir("/usr/lib") if folder.endswith("-linux-gnu")]
    paths |= {f"{folder}/{name}/libblas.so.3" for folder in folders for name in ("atlas", "blas")}
    for path in filter(os.path.exists, paths):
        subprocess.run(["mount", "--bind", "/dev/null", path], check=True)


def outcome(name, environment, *library):
    child = subprocess.run([sys.executable, "-B", "-s", "-W", "ignore", __file__, "--run", name, *library],
                           env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(child.stderr)
    if child.returncode == SKIPPED:
        print(child.stdout.strip())
        sys.exit(SKIPPED)
    assert child.returncode == 0, f"{name}: exit {child.returncode}"
    assert "portable loops" not in child.stderr, "the program's BLAS was not found"
    return json.loads(child.stdout)


def main():
    name, way, library, *hidden = sys.argv[1:]
    if hidden == ["hidden"]:
        if subprocess.run(["unshare", "-rm", "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: no mount namespace is permitted")
            sys.exit(SKIPPED)
        os.execvp("unshare", ["unshare", "-rm", sys.executable, __file__, name, way, library, "covered"])
    if hidden:
        hide_machine()
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    environment["TILEBLAS_ROUTE"] = "host"
    plain = outcome(name, environment)
    if way == "preloaded":
        ours = outcome(name, environment | {"LD_PRELOAD": library})
    else:
        ours = outcome(name, environment, library)
    assert ours["libraries"] == plain["libraries"], set(ours["libraries"]) ^ set(plain["libraries"])
    print(f"{name}, {way}: {len(plain['libraries'])} libraries, other threads' ticks {plain['others']} and {ours['others']}")
    most = max(2, plain["others"] + 2) + 0.1 * LIMITED_SECONDS * os.sysconf("SC_CLK_TCK")
    assert ours["others"] <= most, "the limit of one thread does not hold"


if sys.argv[1] == "--run":
    run_case(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
else:
    main()
