#!/usr/bin/env python3
"""Products into fresh memory, with the library and without: what A @ B takes longer than a product into an old C.

    bench/fresh.py build/bench/fresh build/libtileblas-preload.so [--element double] [--sizes 1024,4096]

Each of C, and A with B, is reused or new at each product (bench/fresh.c, bench/fresh_numpy.py): a process for each of the
four cases and each side, and in it the median of its products; of several such processes, the median again. All in ms.
With the library the device is up, unless --sides says otherwise (processes.py). Two verdicts:

  new C    with A and B reused, a new C costs more than 2 ms, and more than it costs plain
  all new  a product of which all is new takes more than 1.5 times as long as one of which nothing is, and the difference
           is more than it is plain
"""
import argparse
import os
import subprocess
import sys

import processes

NEW_C_SECONDS, ALL_NEW_RATIO = 2e-3, 1.5
CASES = [("reused", "reused"), ("new", "reused"), ("reused", "new"), ("new", "new")]  # C; A and B


def seconds(run):
    return run.values[0]


def has_numpy(python):
    return subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0


def make_cells(arguments):
    settings = [("C", n, *case) for n in arguments.sizes for case in CASES]
    if has_numpy(arguments.python):
        settings += [("NumPy", n, *case) for n in arguments.numpy_sizes for case in CASES]
    else:
        print(f"fresh: {arguments.python} has no NumPy; it is left out")
    return [processes.Cell(setting) for setting in settings]


def group(cells):
    """The cells of each language and size, by their cases; only where all four have been run."""
    groups = {}
    for cell in cells:
        if cell.rounds():
            groups.setdefault(cell.setting[:2], {})[cell.setting[2:]] = cell
    return {key: cases for key, cases in groups.items() if len(cases) == len(CASES)}


def times_of(cases, side):
    return [cases[case].median(side, seconds) for case in CASES]


def judge(cases, side):
    plain, times = times_of(cases, "plain"), times_of(cases, side)
    words = []
    if times[1] - times[0] > max(NEW_C_SECONDS, plain[1] - plain[0]):
        words.append("new C")
    if times[3] > max(ALL_NEW_RATIO * times[0], times[0] + plain[3] - plain[0]):
        words.append("all new")
    return ", ".join(words) or "ok"


def rows_of(key, cases, sides):
    rows = []
    for side in sides:
        times = times_of(cases, side)
        device_calls = "" if side == "plain" else " ".join("%d/%d" % cases[case].device_calls for case in CASES)
        rows.append([key[0], str(key[1]), side, str(min(cell.rounds() for cell in cases.values()))]
                    + [f"{1e3 * time:.2f}" for time in times]
                    + [f"{1e3 * (times[1] - times[0]):+.2f}", f"{times[3] / times[0]:.2f}", f"{times[3] / times[2]:.2f}"]
                    + [device_calls, "" if side == "plain" else judge(cases, side)])
    return rows


HEADS = ["", "n", "side", "runs", "reused", "new C", "new AB", "all new", "C costs", "all/none", "all/AB", "on device",
         "verdict"]


def as_json(key, cases):
    entry = {"language": key[0], "n": key[1], "cases": []}
    for (c, operands), cell in cases.items():
        sides = {side: {"seconds": [run.values[0] for run in runs], "product": [run.values[1] for run in runs]}
                 for side, runs in cell.runs.items()}
        entry["cases"].append({"c": c, "operands": operands, "sides": sides, "device_calls": cell.device_calls[0]})
    return entry


def main():
    parser = argparse.ArgumentParser()
    processes.add_arguments(parser, 60, 5, ["plain", "up"])
    parser.add_argument("--sizes", type=processes.integers, default=[1024, 2048, 4096, 8192])
    parser.add_argument("--numpy-sizes", type=processes.integers, default=[1024, 4096])
    parser.add_argument("--python", default=sys.executable, help="a Python that has NumPy")
    parser.add_argument("--turns-seconds", default="0.4", help="of each process's products (default 0.4), but 3 at least")
    arguments = processes.parse(parser)
    cells = make_cells(arguments)
    numpy_program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fresh_numpy.py")

    def command_of(cell, side):
        language, n, *case = cell.setting
        program = [arguments.python, numpy_program] if language == "NumPy" else [arguments.program]
        return program + [str(n), *case, arguments.turns_seconds, *processes.last_arguments(side, arguments)]

    with processes.server(arguments):
        processes.take_turns(cells, arguments, command_of, 1)
    groups = group(cells)
    rows = [row for key, cases in groups.items() for row in rows_of(key, cases, arguments.sides)]
    processes.print_table(HEADS, rows)
    left_out = len(cells) // len(CASES) - len(groups)
    if left_out:
        print(f"{left_out} sizes not run, or not in all cases: too long")
    processes.write_json(arguments, [as_json(key, cases) for key, cases in groups.items()])


if __name__ == "__main__":
    main()
