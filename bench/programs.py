#!/usr/bin/env python3
"""Whole processes, with the library and without: what preloading costs or gains a program that someone starts.

    bench/programs.py build/bench/program build/libtileblas-preload.so [--json FILE] [--sizes 256,4096] [--calls 1,10]

Each process makes so many products of n x n matrices and exits (bench/program.c). Timed are the process, from its start
until it is reaped, and its products. processes.py says what the sides are. A line of the table is judged twice:

  slower   the process took longer than plain by more than 5% and more than 10 ms
  served slower   it did with a server, by more than 3% and more than 3 ms
  gain     plain's products took 2 s or more, and less than 85% was gained of what "up" gained

A judgement holds if the medians and the minima say so; with a question mark, if one of them does. Times are medians in
ms, of the process, and of its products as "in plain" and so on. "least" is the difference of the minima. CPU times are
in s. "on device" counts products of the side preloaded, in a run by itself.

Where no process keeps the driver loaded (nvidia-smi -pm 1 or its daemon), each process that uses the device has to wait
until it is loaded again.
"""
import argparse

import processes

SLOWER_SHARE, SLOWER_SECONDS = 0.05, 0.010
SERVED_SLOWER_SHARE, SERVED_SLOWER_SECONDS = 0.03, 0.003
LONG_SECONDS, GAIN_SHARE = 2, 0.85
ROUNDS_LEAST = 2
CPU_SIDES = ("plain", "preloaded")


def wall(run):
    return run.wall


def cpu(run):
    return run.cpu


def products(run):
    return run.values[0]


def make_cells(arguments):
    return [processes.Cell((n, calls)) for n in sorted(arguments.sizes) for calls in sorted(arguments.calls)]


def expected_plain(cell, cells):
    """From the cell before it in the list that has been run, in proportion to the arithmetic; 0 for the first."""
    known = [c for c in cells[: cells.index(cell)] if c.rounds()]
    if not known:
        return 0
    volume = lambda c: c.setting[0] ** 3 * c.setting[1]
    return known[-1].least("plain", products) * volume(cell) / volume(known[-1])


def is_slower(plain, side, name):
    if name == "served":
        return side - plain > max(SERVED_SLOWER_SHARE * plain, SERVED_SLOWER_SECONDS)
    return side - plain > max(SLOWER_SHARE * plain, SLOWER_SECONDS)


def gain(cell, statistic):
    """The share of what the device could gain; None where that is not asked."""
    if not {"preloaded", "up"} <= cell.runs.keys():
        return None
    plain, preloaded, up = (statistic(side, products) for side in ("plain", "preloaded", "up"))
    return (plain - preloaded) / (plain - up) if plain >= LONG_SECONDS and up < plain else None


def judge(cell):
    words = []
    for side in ("preloaded", "never", "served"):
        if side in cell.runs:
            slower = [is_slower(s("plain", wall), s(side, wall), side) for s in (cell.median, cell.least)]
            words += processes.say("slower" if side == "preloaded" else side + " slower", slower)
    gains = [gain(cell, statistic) for statistic in (cell.median, cell.least)]
    words += processes.say("gain", [share is not None and share < GAIN_SHARE for share in gains])
    return ", ".join(words) or "ok"


def milliseconds(seconds):
    return f"{1e3 * seconds:.1f}"


def row_of(cell, arguments):
    n, calls = cell.setting
    row = [str(n), str(calls), str(cell.rounds())]
    row += [milliseconds(cell.median(side, wall)) for side in arguments.sides]
    if "preloaded" in cell.runs:
        plain, preloaded = (cell.median(side, wall) for side in ("plain", "preloaded"))
        least = cell.least("preloaded", wall) - cell.least("plain", wall)
        row += [f"{1e3 * (preloaded - plain):+.1f}", f"{100 * (preloaded / plain - 1):+.1f}%", f"{1e3 * least:+.1f}"]
        row += ["%d/%d" % cell.device_calls]
    row += [milliseconds(cell.median(side, products)) for side in arguments.sides if side != "never"]
    share = gain(cell, cell.median)
    row += [f"{100 * share:.0f}%" if share is not None else ""]
    row += [f"{cell.median(side, cpu):.2f}" for side in arguments.sides if side in CPU_SIDES]
    return row + [judge(cell)]


def heads_of(arguments):
    heads = ["n", "calls", "runs"] + arguments.sides
    if "preloaded" in arguments.sides:
        heads += ["more", "%", "least", "on device"]
    heads += ["in " + side for side in arguments.sides if side != "never"] + ["gain"]
    return heads + ["CPU " + side for side in arguments.sides if side in CPU_SIDES] + ["verdict"]


def as_json(cell):
    sides = {}
    for side, runs in cell.runs.items():
        sides[side] = {"wall": [run.wall for run in runs], "cpu": [run.cpu for run in runs]}
        for index, name in enumerate(("products", "first", "last")):
            sides[side][name] = [run.values[index] for run in runs]
    n, calls = cell.setting
    share = gain(cell, cell.median)
    return {"n": n, "calls": calls, "sides": sides, "device_calls": cell.device_calls[0], "gain": share,
            "verdict": judge(cell)}


def main():
    parser = argparse.ArgumentParser()
    processes.add_arguments(parser, 150, 9, processes.SIDES_BY_THEMSELVES)
    parser.add_argument("--sizes", type=processes.integers, default=[256, 512, 1024, 2048, 4096])
    parser.add_argument("--calls", type=processes.integers, default=[1, 3, 10, 30, 100])
    parser.add_argument("--longest", type=float, default=12, help="seconds of plain's products, at most (default 12)")
    arguments = processes.parse(parser)
    cells = make_cells(arguments)

    def command_of(cell, side):
        return [arguments.program, *map(str, cell.setting), *processes.last_arguments(side, arguments)]

    def fits(cell):
        return cell.rounds() > 0 or expected_plain(cell, cells) <= arguments.longest

    with processes.server(arguments):
        processes.take_turns(cells, arguments, command_of, ROUNDS_LEAST, fits)
    done = [cell for cell in cells if cell.rounds()]
    processes.print_table(heads_of(arguments), [row_of(cell, arguments) for cell in done])
    for cell in cells:
        if cell not in done:
            print(f"{cell.setting[0]} x {cell.setting[1]}: not run, too long")
    print(f"{sum(judge(cell) == 'ok' for cell in done)} of {len(done)} ok")
    processes.write_json(arguments, [as_json(cell) for cell in done])


if __name__ == "__main__":
    main()
