"""ScaLAPACK's testers of PBLAS of level 3 and of factorizations, as Debian's scalapack-mpi-test brings them, over Open MPI.

The inputs are made here. In every grid of processes are all ranks, because those outside it would test nothing.
"""

import glob
import itertools
import os
import re
import subprocess
import sys

import netlib
import suite
from suite import CannotRun, Outcome

DEADLINE_SECONDS = 120

# What the testers say: of PBLAS a line for each routine, of factorizations how many there were.
ROUTINE = re.compile(r"^ *\| +(\S+) +\d+ +(\d+) +(\d+) +\d+ *$", re.MULTILINE)
FINISHED = re.compile(r"^ *(\d+) tests completed and passed.*\n *(\d+) tests completed and failed", re.MULTILINE)
MULTIPLIED = re.compile(r"^tileblas: .* on (device \d+|\d+ devices):", re.MULTILINE)


# ---- Inputs -------------------------------------------------------------------------------------------------------------


def line_of(values):
    return " ".join(map(str, values))


def lists(*groups):
    """Lines of lists, behind the length that those of a group have in common."""
    return [line for group in groups for line in (str(len(group[0])), *map(line_of, group))]


def file_of(*lines):
    """An input file, whose first lines are a title, who runs it, a file that the output does not go to, and where it goes."""
    return "\n".join(["''", "''", "'unused'", "6", *lines]) + "\n"


def factorizations(rows, columns, blocks, sides, grids):
    """Input files, by what their testers are called without the element's letter. The thresholds are those of ScaLAPACK's
    own files."""
    estimates, no_estimates = "T", "F"
    solved = [[blocks], [sides], [[2]], grids]
    kinds_of_matrices = ["'GEN'", "'UTR'", "'LTR'", "'UPD'", "'LPD'"]
    kinds_of_factors = ["'QR'", "'QL'", "'LQ'", "'RQ'", "'QP'", "'TZ'"]
    # With estimates of conditions, the testers of Cholesky's factorization wait for ever now and then, or Open MPI ends them,
    # without TileBLAS too (2.2.1, Open MPI 4.1.4).
    cholesky = {f"LLT {uplo}": file_of(f"'{uplo}'", *lists([rows], *solved), "3.0", no_estimates) for uplo in "UL"}
    return cholesky | {
        "LU": file_of(*lists([rows, columns], *solved), "1.0", estimates),
        "QR": file_of(*lists([kinds_of_factors], [rows, columns], [blocks, blocks[::-1]], grids), "5.0"),
        "LS": file_of(*lists([rows, columns], *solved), "4.0"),
        "INV": file_of(*lists([kinds_of_matrices], [rows], [blocks], grids), "1.0"),
    }


def level3(letter, routines, grids):
    """All of SIDE, UPLO and TRANSA occur together, each TRANSB with each TRANSA, and each DIAG with each of the former."""
    tests = list(itertools.product("LR", "UL", "NTC"))
    side, uplo, transa = zip(*tests)
    transb = ["NTC"[number // 3 % 3] for number in range(len(tests))]
    diag = ["NU"[(s == "R") ^ (u == "L")] for s, u, _ in tests]
    sizes = [[22, 30, 8, 60, 3, 51, 1, 40, 17, 33, 64, 9],
             [23, 29, 7, 21, 3, 64, 11, 8, 50, 1, 48, 19],
             [24, 28, 9, 22, 1, 37, 64, 5, 61, 13, 32, 40]]
    is_complex = letter in "cz"
    alpha, beta = ("(2.0, -4.0)", "(3.0, -2.0)") if is_complex else ("2.0", "3.0")
    stop, error_exits, verbosity, gap, threshold, block = "F", "T", "0", "10", "16.0", "10"
    lines = [stop, error_exits, verbosity, gap, threshold, block, *lists(grids), alpha, beta, str(len(tests))]
    lines += [line_of(f"'{value}'" for value in values) for values in (diag, side, transa, transb, uplo)]
    lines += map(line_of, sizes)
    for matrix in range(3):
        lines += map(line_of, zip(*(placed(matrix + number) for number in range(len(tests)))))
    return file_of(*lines, *(f"P{letter.upper()}{routine} T" for routine in routines))


def placed(number):
    """How a matrix is distributed, and where in it the operand begins."""
    length, first_process = 80, 0
    block = [4, 5, 6, 3, 2, 1, 16, 8][number % 8]
    begin = [5, 1, 7, 3][number % 4]
    return [length] * 2 + [block] * 4 + [first_process] * 2 + [begin] * 2


# ---- Testers ------------------------------------------------------------------------------------------------------------


def run_ranks(ranks, program, folder, libraries, environment):
    """What the testers print. TileBLAS is preloaded in the ranks, and not in mpirun. What a rank says on standard error, a
    line for each call, goes to a file. Ranks give up the processor while they wait: others' tests run beside them. Each mpirun
    has its own TMPDIR: of several that make the same folder in /tmp, one now and then gives up (Open MPI 4.1.4)."""
    environment = environment | {"LD_LIBRARY_PATH": libraries, "TILEBLAS_VERBOSE": "1", "TMPDIR": folder}
    preload = environment.pop("LD_PRELOAD", None)
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
               "--timeout", str(DEADLINE_SECONDS), "--output-filename", os.path.join(folder, "output"), "-n", str(ranks)]
    if preload:
        command += ["-x", f"LD_PRELOAD={preload}"]
    with open(os.path.join(folder, "errors"), "wb") as errors:
        done = subprocess.run([*command, program], cwd=folder, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=errors, check=False)
    if done.returncode != 0:
        with open(errors.name, encoding="utf-8", errors="replace") as file:
            said = [line for line in file if not line.startswith("tileblas: ")]
        sys.exit(f"{program} ended with {done.returncode}:\n{done.stdout[-2000:]}{''.join(said[-20:])}")
    return done.stdout


def outcomes_of(name, text):
    counts = [(name, *found) for found in FINISHED.findall(text)] + ROUTINE.findall(text)
    outcomes = {test: Outcome(int(passed) + int(failed), int(failed)) for test, passed, failed in counts}
    if not outcomes:
        sys.exit(f"{name} came to no end:\n{text[-2000:]}")
    if any(outcome.failed for outcome in outcomes.values()):
        print("\n".join(line for line in text.splitlines() if re.search(r"\bFAILED\b(?!  SKIPPED)", line)))
    return outcomes


def devices_of_rank(folder, rank):
    devices = set()
    for path in glob.glob(f"{folder}/output/*/rank.{rank}/stderr"):
        with open(path, encoding="utf-8", errors="replace") as file:
            devices |= set(MULTIPLIED.findall(file.read()))
    return devices


class Testers:
    """Programs that have a name, a path, and a file that they read. `calls` and `declined` are those of netlib.Tester."""

    def __init__(self, ranks, programs, calls, part=None, declined=()):
        self.ranks, self.programs, self.calls, self.part, self.declined = ranks, programs, calls, part, declined

    def run(self, route, work, environment):
        home = os.path.join(os.environ["SUITE_NETLIB"], "scalapack/openmpi-tests")
        if not os.path.isdir(home):
            raise CannotRun(f"there is no {home}, of the package scalapack-mpi-test")
        if not has_open_mpi():
            raise CannotRun("there is no mpirun of Open MPI")
        environment = environment | {"TILEBLAS_SIM_DEVICES": str(self.ranks)}
        devices = self._devices(route, environment)
        return [self._run_on(libraries, home, devices, environment) for libraries, _ in netlib.make_libraries(route, work)]

    def _devices(self, route, environment):
        """How many devices the ranks are to multiply on."""
        if route == "gpu":
            return suite.count_gpus(environment)
        return self.ranks if route == "streamed" else 0

    def _run_on(self, libraries, home, devices, environment):
        """Outcomes, among them whether each rank multiplied on the device of its number, and on no other."""
        outcomes = {}
        for name, (program, file, text) in self.programs.items():
            folder = os.path.join(libraries, name)
            os.mkdir(folder)
            with open(os.path.join(folder, file), "w", encoding="ascii") as written:
                written.write(text)
            text = run_ranks(self.ranks, os.path.join(home, program), folder, libraries, environment)
            outcomes |= outcomes_of(name, text)
            strays = [rank for rank in range(self.ranks)
                      if devices > 0 and devices_of_rank(folder, rank) != {f"device {rank % devices}"}]
            outcomes[f"{name}, ranks on their own devices"] = Outcome(self.ranks, len(strays))
        return outcomes


def has_open_mpi():
    try:
        told = subprocess.run(["mpirun", "--version"], text=True, stdout=subprocess.PIPE, check=False)
    except FileNotFoundError:
        return False
    return "Open MPI" in told.stdout


# ---- Rows ---------------------------------------------------------------------------------------------------------------


def named(letter, inputs):
    """Programs by name, for instance xdllt by LLT U, which reads LLT.dat."""
    kinds = {name: name.split()[0] for name in inputs}
    return {name: (f"x{letter}{kinds[name].lower()}", f"{kinds[name]}.dat", text) for name, text in inputs.items()}


def testers(letter):
    """Rows of the table for an element: as wholes on four ranks, as parts on two. PBLAS of level 3 hands on general products
    and solves. The host computes some of the former in complex numbers, those with a complex beta."""
    is_complex = letter in "cz"
    routines = ["GEMM", "SYMM", "SYRK", "SYR2K", "TRMM", "TRSM"] + (["HEMM", "HERK", "HER2K"] if is_complex else [])
    multiplied = ("gemm", "hemm", "herk", "trmm", "trsm") if is_complex else ("gemm", "symm", "syrk", "trmm", "trsm")

    def level3_row(ranks, grids, gemm, trsm, part=None):
        program = f"PBLAS/{letter}pb3tst", f"P{letter.upper()}BLAS3TST.dat", level3(letter, routines, grids)
        return Testers(ranks, {"PBLAS": program}, {f"{letter}gemm": gemm, f"{letter}trsm": trsm}, part,
                       declined=[f"{letter}gemm"] if is_complex else [])

    def factorization_row(ranks, inputs, least, part=None):
        return Testers(ranks, named(letter, inputs), {letter + name: count for name, count in zip(multiplied, least)}, part)

    of_two, of_four = [[1, 2], [2, 1]], [[2, 1, 4], [2, 4, 1]]
    small = factorizations([13, 57], [17, 50], [3, 16], [9], of_two)
    large = factorizations([4, 13, 57, 130], [4, 17, 50, 130], [3, 8, 32], [1, 9], of_four)
    return {
        "pblas3": level3_row(4, of_four, 3500, 600, part=level3_row(2, of_two, 1400, 300)),
        "scalapack": factorization_row(4, large, [300000, 10000, 9000, 20000, 40000],
                                       part=factorization_row(2, small, [14000, 700, 650, 1700, 1500])),
    }


SUITES = {f"{name}_{element}": row for letter, element in netlib.ELEMENTS.items() for name, row in testers(letter).items()}
