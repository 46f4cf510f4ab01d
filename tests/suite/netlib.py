"""Netlib's testers of BLAS and LAPACK, as Debian's libblas-test and liblapack-test bring them.

They are linked with libblas.so.3, liblapack.so.3 and libtmglib.so.3. Which libraries the first two names mean is said
here, by links in a folder on the library path, so that nothing depends on what this machine has chosen. LAPACK is
always Netlib's: OpenBLAS's calls its own products from inside, where nobody can come between.
"""

import os
import re
import subprocess

from suite import CannotRun, Outcome

# What the testers say of a group of tests. Whatever else they say instead, the group's line is missing, which counts
# as a failure where the yardstick has it. A pattern's groups are the name, the number of tests, and how many failed.
PASSED = [
    re.compile(r" *(\S+) +PASSED THE ((?:\S+-MAJOR)?) *COMPUTATIONAL TESTS \( *(\d+) CALLS\)"),
    re.compile(r" *All tests for (?:the )?(.*?)( *)(?:routines?)? +passed(?: the threshold)?"
               r"(?: \( *(\d+) tests run\))?$"),
]
EXITS = re.compile(r" *(.*?) +(?i:passed the tests of (?:the )?error[- ]exits)")
FAILED = re.compile(r" *(.*?)(?: routines?)?: +(\d+) out of +(\d+) tests failed to pass the threshold")


def parse(text):
    """Outcomes by name. Groups of one name are added up: the eigenvalue testers repeat theirs for each block size."""
    outcomes = {}

    def add(name, run, failed):
        before = outcomes.get(name, Outcome(0, 0))
        outcomes[name] = Outcome(before.run + run, before.failed + failed)

    for line in text.splitlines():
        for pattern in PASSED:
            if found := pattern.match(line):
                add(f"{found[1]} {found[2]}".strip(), int(found[3] or 1), 0)
        if found := EXITS.match(line):
            add(found[1] + ", error exits", 1, 0)
        if found := FAILED.match(line):
            add(found[1], int(found[3]), int(found[2]))
    return outcomes


def link(folder, name, target):
    os.makedirs(folder, exist_ok=True)
    os.symlink(os.path.realpath(target), os.path.join(folder, name))


def make_libraries(route, work):
    """Folders with what libblas.so.3 and liblapack.so.3 are to mean on a route, each with its BLAS: without TileBLAS one
    with either host BLAS."""
    reference, openblas = os.environ["SUITE_REFERENCE_BLAS"], os.environ["SUITE_OPENBLAS"]
    lapack = os.environ["SUITE_REFERENCE_LAPACK"]
    for path, what in ((reference, "libblas3"), (lapack, "liblapack3")):
        if not os.path.exists(path):
            raise CannotRun(f"there is no {path}, of the package {what}")
    hosts = [reference]
    if route == "system":
        hosts = [os.environ["SUITE_PROVIDER"]]
    elif route == "plain" and os.path.exists(openblas):
        hosts.append(openblas)
    for number, host in enumerate(hosts):
        folder = os.path.join(work, str(number))
        link(folder, "libblas.so.3", host)
        link(folder, "liblapack.so.3", lapack)
        yield folder, host


class Tester:
    """A program that reads what to test from an input file, which is Netlib's unless it lies beside this file.

    `calls` are lower bounds of the calls that a run makes, by routine. `replaced` are lines of the input that read
    otherwise, by their numbers. `declined` are routines that the host computes some calls of, whatever the route: those
    with a complex beta. In files that lie here a ? stands for the letter of the element.
    """

    def __init__(self, letter, program, inputs, calls, output=None, needs_reference=False, replaced=None, part=None,
                 declined=()):
        self.letter, self.program, self.inputs, self.calls, self.output = letter, program, inputs, calls, output
        self.replaced, self.part, self.declined = replaced or {}, part, declined
        self.needs_reference = needs_reference  # for a variable in it that tells how cblas_xerbla is to count

    def run(self, route, work, environment):
        """The outcomes of each run that the route takes."""
        program = os.path.join(os.environ["SUITE_NETLIB"], self.program)
        if not os.path.exists(program):
            raise CannotRun(f"there is no {program}, of the packages libblas-test and liblapack-test")
        reference = os.environ["SUITE_REFERENCE_BLAS"]
        runs = []
        for folder, host in make_libraries(route, work):
            variables = {"LD_LIBRARY_PATH": folder}
            if self.needs_reference and host != reference:
                # It stands behind the library in its place, whose names come first.
                variables["LD_PRELOAD"] = f"{folder}/libblas.so.3:{reference}"
            runs.append(self._run_once(program, folder, environment | variables))
        return runs

    def _run_once(self, program, folder, environment):
        text = ""
        for name in self.inputs:
            path = os.path.join(os.path.dirname(__file__), name)
            if not os.path.exists(path):
                path = os.path.join(os.path.dirname(program), name)
            with open(path, encoding="ascii") as file:
                lines = file.read().replace("?", self.letter.upper()).splitlines()
            for number, line in self.replaced.items():
                lines[number - 1] = line
            done = subprocess.run([program], input="\n".join(lines) + "\n", cwd=folder, env=environment, text=True,
                                  errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode != 0:
                print(f"{program} ended with {done.returncode}:\n{done.stdout[-2000:]}")
            text += done.stdout
        if self.output:
            with open(os.path.join(folder, self.output), encoding="ascii", errors="replace") as file:
                text += file.read()
        return parse(text)


# Parts have one size of blocks, or two, and fewer and smaller matrices of the same kinds: with them every path, and a tenth of
# the calls.
LINEAR_PART = {2: "2", 3: "5 17", 4: "2", 5: "5 17", 6: "1", 7: "2", 8: "1", 9: "8", 10: "0"}
PACKED_PART = {2: "4", 3: "0 1 6 30", 4: "1", 5: "2"}
EIGEN_PART = {4: "2", 5: "1 3", 6: "2 2", 7: "1 5"}


def of_lapack(letter, **calls):
    return {letter + name: least for name, least in calls.items()}


def of_reflectors(letter, geqrf, q, applied):
    """With what is orgqr of real numbers as ungqr of complex ones."""
    prefix = letter + ("un" if letter in "cz" else "or")
    return {letter + "geqrf": geqrf, prefix + "gqr": q, prefix + "mqr": applied}


def testers(letter):
    """Rows of the table for an element."""
    gemm, trmm, trsm = letter + "gemm", letter + "trmm", letter + "trsm"
    is_complex = letter in "cz"
    linear = "lapack/xlintst" + letter, ["linear_complex.in" if is_complex else "linear.in"]
    # Where a device is forced it factors and solves itself, so that few of TRSM's calls are left.
    solved = {gemm: 130000, trmm: 70000, trsm: 5000} | of_lapack(
        letter, potrf=300, potrs=3500, posv=45, getrf=1800, getrs=8000, gesv=30, trtrs=1200, potri=150, getri=150, trtri=200
    ) | of_reflectors(letter, geqrf=120, q=300, applied=800)
    solved_part = {gemm: 8000, trmm: 4000, trsm: 1300} | of_lapack(
        letter, potrf=150, potrs=1200, posv=30, getrf=600, getrs=3500, gesv=20, trtrs=150, potri=80, getri=80, trtri=100
    ) | of_reflectors(letter, geqrf=60, q=170, applied=450)
    by_host = [letter + "gels"]  # three of its four ways, and what it scales
    linear_part = Tester(letter, *linear, solved_part, replaced=LINEAR_PART, declined=by_host)
    multiplied = {gemm: 10000, letter + "symm": 500, trmm: 1500, trsm: 1500}
    if is_complex:
        multiplied |= {gemm: 6000, letter + "hemm": 500}
    declined = [letter + name for name in ("gemm", "symm", "hemm", "syrk", "syr2k", "her2k")] if is_complex else ()
    # Where a device is forced it does POTRF itself, whose solves are calls on other routes.
    packed = {gemm: 5000, trmm: 1400, trsm: 17000, letter + "potrf": 1000}
    packed_part = {gemm: 600, trmm: 130, trsm: 2000, letter + "potrf": 200}
    rows = {
        "blas3": Tester(letter, f"blas/xblat3{letter}", [f"{letter}blat3.in"], multiplied, output=f"{letter}blat3.out",
                        declined=declined),
        "cblas3": Tester(letter, f"blas/x{letter}cblat3", [f"{letter}in3"], {name: 2 * least for name, least in multiplied.items()},
                         needs_reference=True, declined=declined),
        "lapack_linear": Tester(letter, *linear, solved, part=linear_part, declined=by_host),
    }
    # The rest is left out of complex numbers: what is multiplied there are the same calls.
    return rows if is_complex else rows | {
        "lapack_packed": Tester(letter, f"lapack/xlintstrf{letter}", [f"{letter}test_rfp.in"],
                                packed,
                                part=Tester(letter, f"lapack/xlintstrf{letter}", [f"{letter}test_rfp.in"], packed_part,
                                            replaced=PACKED_PART)),
        "lapack_eigen": Tester(letter, f"lapack/xeigtst{letter}", ["sep.in", "gqr.in", "gsv.in", "lse.in"],
                               {gemm: 30000, trmm: 20000},
                               part=Tester(letter, f"lapack/xeigtst{letter}", ["sep.in"], {gemm: 3000, trmm: 3000},
                                           replaced=EIGEN_PART)),
    }


ELEMENTS = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
SUITES = {f"{name}_{element}": tester for letter, element in ELEMENTS.items() for name, tester in testers(letter).items()}
# Solvers that factorize in single precision, and refine the solution in double.
SUITES["lapack_mixed"] = Tester("d", "lapack/xlintstds", ["dstest.in"],
                                {"dgemm": 2000, "strsm": 3000, "dtrsm": 800} | of_lapack("s", potrf=400, potrs=900, getrf=280,
                                                                                        getrs=1500)
                                | of_lapack("d", potrf=250, potrs=220, getrf=140, getrs=110))
