"""Processes timed beside each other: what programs.py, callers.py, workers.py and fresh.py share.

A side is a way to start the same program: "plain" as it is; "preloaded" with the library; "never" with the library and
TILEBLAS_START=never; "up" with the library, TILEBLAS_START=wait and a product before the clock, so that the device is
up when the clock starts; "served" with the library, TILEBLAS_SERVER=auto and a server beside it (--server). Other
options of TileBLAS in the environment stay, for all sides that have the library. A cell is one line of the table: one
setting of the program, on all sides. Sides take turns, and each begins as often as any other.
"""
import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIDES = {
    "plain": {},
    "preloaded": {"TILEBLAS_SERVER": "never"},
    "never": {"TILEBLAS_START": "never", "TILEBLAS_SERVER": "never"},
    "up": {"TILEBLAS_START": "wait", "TILEBLAS_SERVER": "never"},
    "served": {"TILEBLAS_SERVER": "auto"},
}
SIDES_BY_THEMSELVES = [side for side in SIDES if side != "served"]


@dataclasses.dataclass
class Run:
    wall: float  # seconds from the start of the process until it is reaped
    cpu: float  # seconds of all its threads, of user and system
    values: list  # the numbers that it printed


@dataclasses.dataclass
class Cell:
    setting: tuple
    runs: dict = dataclasses.field(default_factory=dict)  # of each side
    spent: float = 0
    device_calls: tuple = (0, 0)  # products that ran on a device, of how many, on the side that is counted

    def rounds(self):
        return min((len(runs) for runs in self.runs.values()), default=0)

    def times(self, side, of):
        return [of(run) for run in self.runs[side]]

    def median(self, side, of):
        return statistics.median(self.times(side, of))

    def least(self, side, of):
        return min(self.times(side, of))


def add_arguments(parser, seconds, most, sides):
    parser.add_argument("program", help="the benchmark's program, in the build folder's bench/")
    parser.add_argument("library", help="libtileblas-preload.so")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--sides", type=names, default=sides, help="default: " + ",".join(sides))
    parser.add_argument("--seconds", type=float, default=seconds, help=f"for all, about (default {seconds})")
    parser.add_argument("--repetitions", type=int, default=most, help=f"of each cell, at most (default {most})")
    parser.add_argument("--element", choices=["float", "double"], default="float", help="of the matrices")
    parser.add_argument("--server", metavar="COMMAND", help="the command tileblas, which serves the side served")
    parser.add_argument("--wake", type=int, default=2048, help="size of the side up's first product (default 2048)")


def parse(parser):
    arguments = parser.parse_args()
    for path in arguments.program, arguments.library:
        if not os.path.exists(path):
            parser.error(f"there is no {path}")
    for side in arguments.sides:
        if side not in SIDES:
            parser.error(f"there is no side {side}")
    if "served" in arguments.sides and not arguments.server:
        parser.error("the side served needs --server")
    if "plain" not in arguments.sides:
        parser.error("the side plain is what the others are compared with")
    arguments.program = os.path.abspath(arguments.program)
    arguments.library = os.path.abspath(arguments.library)
    return arguments


def server(arguments):
    """The server runs meanwhile, where a side needs one."""
    return server_of(arguments.server) if "served" in arguments.sides else contextlib.nullcontext()


@contextlib.contextmanager
def server_of(command):
    """The server of that command, tileblas, runs meanwhile. It answers when this begins."""
    with subprocess.Popen([command, "serve"], stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            if not line.startswith("ready"):
                sys.exit("the server did not start: " + line)
            yield
        finally:
            process.terminate()


def names(text):
    return text.split(",")


def integers(text):
    return [int(number) for number in text.split(",") if number]


def environment(side, library):
    variables = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "TILEBLAS_START", "TILEBLAS_SERVER")}
    if side != "plain":
        variables["LD_PRELOAD"] = library
    return variables | SIDES[side]


def last_arguments(side, arguments):
    """The program's arguments WAKE and ELEMENT."""
    return [str(arguments.wake if side == "up" else 0), arguments.element]


def run(command, variables):
    reader, writer = os.pipe()
    os.set_inheritable(writer, False)
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, variables, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    os.close(writer)
    with os.fdopen(reader) as output:
        text = output.read()
    if status:
        sys.exit(f"{' '.join(command)}: ended with status {os.waitstatus_to_exitcode(status)}")
    return Run(wall, usage.ru_utime + usage.ru_stime, [float(word) for word in text.split()])


def count_device_calls(command, variables):
    """How many of a program's products ran on a device, and of how many; also that the library is in the program at
    all. It is a run by itself, as counting takes time."""
    with tempfile.NamedTemporaryFile("r") as file:
        run(command, variables | {"TILEBLAS_STATS": "json", "TILEBLAS_STATS_FILE": file.name})
        lines = [json.loads(line) for line in file]
    ends = [line for line in lines if line["event"] == "exit"]
    if not ends:
        sys.exit(f"{' '.join(command)}: the library was not in it")
    routes = ends[-1]["routes"]
    return sum(route["calls"] for name, route in routes.items() if name != "host"), ends[-1]["calls"]


def take_turns(cells, arguments, command_of, least, fits=lambda cell: True):
    """Runs all cells `least` times, one after the other; then always the cell that has had the least time, until the
    time is over or all have been run as often as is wanted. What cannot end in time is not begun again."""
    deadline = time.monotonic() + arguments.seconds
    for _ in range(least):
        for cell in cells:
            if may_run(cell, deadline) and fits(cell):
                run_sides(cell, arguments, command_of)
    while True:
        wanted = [c for c in cells if 0 < c.rounds() < arguments.repetitions and may_run(c, deadline)]
        if not wanted:
            return
        run_sides(min(wanted, key=lambda c: c.spent), arguments, command_of)


def may_run(cell, deadline):
    expected = cell.spent / cell.rounds() if cell.rounds() else 0
    return time.monotonic() + expected < deadline


def run_sides(cell, arguments, command_of):
    start = time.monotonic()
    if not cell.runs:
        counted = "preloaded" if "preloaded" in arguments.sides else arguments.sides[-1]
        if counted != "plain":
            variables = environment(counted, arguments.library)
            cell.device_calls = count_device_calls(command_of(cell, counted), variables)
    turn = cell.rounds() % len(arguments.sides)
    for side in arguments.sides[turn:] + arguments.sides[:turn]:
        done = run(command_of(cell, side), environment(side, arguments.library))
        cell.runs.setdefault(side, []).append(done)
    cell.spent += time.monotonic() - start


def describe_machine():
    """What a figure needs beside it to mean something."""
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    query = ["nvidia-smi", "--query-gpu=name,driver_version,persistence_mode", "--format=csv,noheader"]
    try:
        gpus = subprocess.run(query, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    except OSError:
        gpus = []
    return {"cores": len(os.sched_getaffinity(0)), "cpu": models[0] if models else "", "gpus": gpus}


def say(word, verdicts):
    """The word, if all statistics agree; with a question mark, if some do."""
    return [word if all(verdicts) else word + "?"] if any(verdicts) else []


def write_json(arguments, cells):
    if not arguments.json:
        return
    with open(arguments.json, "w") as file:
        json.dump({"machine": describe_machine(), "element": arguments.element, "cells": cells}, file, indent=1)
        file.write("\n")


def print_table(heads, rows):
    """Columns are as wide as they must be; numbers come as text."""
    widths = [max(len(row[i]) for row in [heads] + rows) for i in range(len(heads))]
    for row in [heads] + rows:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths)).rstrip(), flush=True)
