"""Starts a job as a process of its own, in one of several ways, timed or counted.

A way is a list of environment variables: "plain" has none; all others preload the library, and may set more. Options of
TileBLAS in the runner's environment hold for all ways but plain.
"""

import dataclasses
import json
import os
import signal
import struct
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MISSING = 77  # as in job.py
LONGEST_SECONDS = 150  # of a job that hangs
UNLOADED = 127  # the library was not in the process

WAYS = {
    "plain": {},
    "preloaded": {},
    "wait": {"TILEBLAS_START": "wait"},
    "never": {"TILEBLAS_START": "never"},
    "host": {"TILEBLAS_ROUTE": "host"},
    "served": {"TILEBLAS_SERVER": "auto"},
}


@dataclasses.dataclass
class Run:
    seconds: float  # from the start of the process until it is reaped
    cpu: float  # of all its threads and of the children that it waited for
    status: int  # 0: the result was right
    message: str  # the end of what it wrote to stderr


def environment_of(way, library):
    variables = dict(os.environ)
    variables.pop("LD_PRELOAD", None)
    variables["PYTHONPATH"] = os.pathsep.join([HERE, *filter(None, [variables.get("PYTHONPATH")])])
    if way == "plain":
        return {key: value for key, value in variables.items() if not key.startswith("TILEBLAS_")}
    if library:
        variables["LD_PRELOAD"] = library
    return variables | WAYS[way]


def command_of(job, arguments):
    scale = [] if arguments.scale == 1 else [str(arguments.scale)]
    if job.is_program:
        return [os.path.join(arguments.programs or "", job.name), *scale]
    return [arguments.python, os.path.join(HERE, "job.py"), job.name, *scale]


def start(command, variables):
    """Its output goes nowhere, its errors into a file that is looked at afterwards."""
    with tempfile.TemporaryFile() as errors:
        nowhere = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, nowhere, 0), (os.POSIX_SPAWN_DUP2, nowhere, 1)]
        actions.append((os.POSIX_SPAWN_DUP2, errors.fileno(), 2))
        began = time.perf_counter()
        try:
            child = os.posix_spawn(command[0], command, variables, file_actions=actions, setpgroup=0)
        except OSError as error:
            return Run(0, 0, MISSING, f"{command[0]}: {error.strerror}")
        finally:
            os.close(nowhere)
        watch = threading.Timer(LONGEST_SECONDS, os.killpg, (child, signal.SIGKILL))
        watch.start()
        _, status, usage = os.wait4(child, 0)
        watch.cancel()
        seconds = time.perf_counter() - began
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    code, message = os.waitstatus_to_exitcode(status), lines[-1] if lines else ""
    ignored = [line for line in lines if "LD_PRELOAD cannot be preloaded" in line]
    if ignored:  # by the dynamic linker, which goes on without
        code, message = code or UNLOADED, ignored[0]
    return Run(seconds, usage.ru_utime + usage.ru_stime, code, message)


# ---- Counting ------------------------------------------------------------------------------------------------------

HEADER = struct.Struct("4I 6q")  # of count.c: lock, threads inside, since, wall
RECORD = struct.Struct("40s 2q")
LEVEL3, LAPACK, EITHER = range(3)


def bare_name(symbol):
    """dgemm of scipy_cblas_dgemm64_."""
    for prefix in ("scipy_", "cblas_", "LAPACKE_"):
        symbol = symbol.removeprefix(prefix)
    for suffix in ("64_", "_64", "_"):
        symbol = symbol.removesuffix(suffix)
    return symbol.removesuffix("_")


def kind_of(symbol):
    stems = ("gemm", "gemmt", "gemmtr", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm")
    stem = bare_name(symbol)[1:].removesuffix("_strided").removesuffix("_batch")
    return LEVEL3 if stem in stems else LAPACK


def read_counts(path):
    """Seconds in which any thread of any process was in level 3, in LAPACK, in either; and each routine's calls, and
    seconds of its threads."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEADER.size:
        return None
    walls = HEADER.unpack_from(data)[-3:]
    records = data[HEADER.size : HEADER.size + (len(data) - HEADER.size) // RECORD.size * RECORD.size]
    routines = {}
    for name, calls, nanoseconds in RECORD.iter_unpack(records):
        symbol = name.rstrip(b"\0").decode()
        if symbol:
            known = routines.setdefault(bare_name(symbol), {"kind": kind_of(symbol), "calls": 0, "seconds": 0.0})
            known["calls"] += calls
            known["seconds"] += nanoseconds * 1e-9
    return {
        "level3": walls[LEVEL3] * 1e-9,
        "lapack": walls[LAPACK] * 1e-9,
        "either": walls[EITHER] * 1e-9,
        "routines": routines,
    }


def count(command, counter):
    """A plain run with the counting library, which is not timed. Without a counter it is a plain run, as where counting
    fails."""
    variables = environment_of("plain", None)
    if not counter:
        return start(command, variables), None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counts")
        run = start(command, variables | {"LD_PRELOAD": counter, "JOBS_COUNT_FILE": path})
        if run.status == MISSING:
            return run, None
        if run.status:
            return start(command, variables), None
        if not os.path.exists(path):
            sys.exit(f"{counter} was not in {' '.join(command)}")
        return run, read_counts(path)


def count_routes(job_command, way, library):
    """Of a run by itself, with the library's statistics: calls of products, and those of them that a device ran. None
    where the library says nothing."""
    with tempfile.NamedTemporaryFile("r") as file:
        variables = {"TILEBLAS_STATS": "json", "TILEBLAS_STATS_FILE": file.name}
        run = start(job_command, environment_of(way, library) | variables)
        ends = [line for line in map(json.loads, file) if line["event"] == "exit"]
    if run.status or not ends:
        return None
    on_device = sum(route["calls"] for end in ends for name, route in end["routes"].items() if name != "host")
    return {"calls": sum(end["calls"] for end in ends), "device": on_device}
