"""When nothing was intercepted, `tileblas run` says so and why."""

import os
import shutil
import sys
import tempfile

from tool import PATHS, SANITIZED, call, contains, equal, main, run_json

NUMPY = """
import sys
import numpy
a = numpy.ones((300, 300), sys.argv[1])
for i in range(4):
    a @ a
"""


def _why(*command, **settings):
    """The remarks on a program of whose calls none arrives, as one text."""
    summary, done = run_json(*command, **settings)
    equal(done.returncode, 0)
    equal(summary["calls"], 0)
    assert summary["remarks"], "no reason is given"
    words = call("TOOL", "run", *command, **settings)
    contains(words.stderr, "nothing was intercepted", *summary["remarks"])
    return "\n".join(summary["remarks"])


def a_program_without_a_blas():
    equal(_why("CLIENT_NONE", "calls", "1"), "no BLAS was loaded")


def a_static_program():
    summary, _ = run_json("CLIENT_STATIC", "calls", "1")
    equal(summary["loaded"], False)
    contains(_why("CLIENT_STATIC", "calls", "1"), "linked statically", "holds its own GEMM")


def a_blas_inside_the_program():
    contains(_why("CLIENT_INSIDE", "calls", "1"), os.path.realpath(PATHS["CLIENT_INSIDE"]), "holds its own GEMM")


def a_program_of_an_odd_name():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(os.path.realpath(folder), 'a "quoted" \\ \t name')
        shutil.copy(PATHS["CLIENT_INSIDE"], program)
        summary, _ = run_json(program, "calls", "1")
        equal(summary["remarks"], [f"{program} holds its own GEMM: a BLAS is linked into it statically"])


def a_library_behind_many_references():
    if SANITIZED != "no":  # which forbids RTLD_DEEPBIND
        return
    said = call("TOOL", "run", "CLIENT_NONE", "open", PATHS["EXTENSION"],
                environment={"LD_PRELOAD": PATHS["REFERENCES"]}).stderr
    contains(said, "RTLD_DEEPBIND", PATHS["EXTENSION"], "cblas_sgemm", PATHS["BLAS"])


def a_library_opened_with_deepbind():
    if SANITIZED != "no":
        return  # the sanitizers end programs that do that
    said = _why("CLIENT_NONE", "open", PATHS["EXTENSION"])
    contains(said, "RTLD_DEEPBIND", PATHS["EXTENSION"], "cblas_sgemm", PATHS["BLAS"])
    summary, _ = run_json("CLIENT", "calls", "2", "open", PATHS["EXTENSION"])
    equal((summary["calls"], len(summary["remarks"])), (2, 1), "beside calls that do arrive:")
    contains(summary["remarks"][0], "RTLD_DEEPBIND", PATHS["EXTENSION"])


def products_that_are_not_called():
    for client in ("CLIENT", "CLIENT_DOUBLE"):
        equal(_why(client, "calls", "0"), "a product that TileBLAS takes over is referred to, but was not called")


def either_precision_arrives():
    summary, _ = run_json("CLIENT_DOUBLE", "calls", "3")
    equal((summary["calls"], summary["remarks"]), (3, []))


def a_set_uid_program():
    if os.getuid() != 0 or SANITIZED != "no":
        print("not checked: only root can make a program of somebody else's, and sanitizers fail in one")
        return
    with tempfile.TemporaryDirectory() as folder:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            print(f"not checked: {folder} is mounted nosuid")
            return
        os.chmod(folder, 0o755)
        program = shutil.copy(PATHS["CLIENT_NONE"], folder)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        contains(_why(program, "calls", "1"), "set-uid", program)


def numpy_in_real_and_complex_numbers():
    if SANITIZED != "no" or call(sys.executable, "-c", "import numpy").returncode != 0:
        print("not checked: no NumPy, or one that cannot load a sanitized library")
        return
    for precision in ("float32", "float64", "complex64", "complex128"):
        summary, _ = run_json(sys.executable, "-c", NUMPY, precision)
        # a @ a: NumPy gives products with a transpose of the same matrix to ssyrk, this one to sgemm.
        equal((summary["calls"], summary["remarks"]), (4, []))


if __name__ == "__main__":
    main(globals())
