#!/usr/bin/env python3
"""Many threads that call at once, with the library and without: what a KMeans of scikit-learn does.

    bench/callers.py build/bench/callers build/libtileblas-preload.so [--shapes 256x256x512] [--threads 2,16]

Each thread multiplies matrices of its own, again and again (bench/callers.c), with OpenBLAS limited to one thread by a
call, as threadpoolctl does it ("call"), by OPENBLAS_NUM_THREADS=1 ("environment") or not at all ("none"). Timed is the
whole, from the first product's start to the last one's end. processes.py says what the sides are. Times are medians in
ms. Ratios are those of a side to plain, of the medians and, as "least", of the minima. A side is slower where they are
more than 1.03; with a question mark, where only one of them is.
"""
import argparse
import os

import processes

RATIO_MOST = 1.03
# A thread's work in one process: half a second of a core that does 80 GFLOP/s.
FLOP_OF_THREAD = 4e10
ROUNDS_LEAST = 2


def seconds(run):
    return run.values[0]


def shape(text):
    m, n, k = (int(extent) for extent in text.split("x"))
    return m, n, k


def default_cells():
    """All shapes with a thread for each core; the first also with fewer, and with a BLAS that is not limited."""
    cores = len(os.sched_getaffinity(0))
    shapes = [(256, 256, 512), (512, 512, 512), (1024, 1024, 1024), (128, 256, 64)]
    settings = [(s, cores, "call") for s in shapes]
    settings += [(shapes[0], threads, "call") for threads in (2, 4) if threads != cores]
    settings += [(shapes[0], cores, "environment")] + [(s, cores, "none") for s in (shapes[0], shapes[2])]
    return settings


def make_cells(arguments):
    asked = arguments.shapes, arguments.threads, arguments.limits
    if not any(asked):
        return [processes.Cell(setting) for setting in default_cells()]
    shapes = arguments.shapes or [(256, 256, 512)]
    threads = arguments.threads or [len(os.sched_getaffinity(0))]
    limits = arguments.limits or ["call"]
    return [processes.Cell((s, t, limit)) for s in shapes for t in threads for limit in limits]


def calls_of(cell, arguments):
    m, n, k = cell.setting[0]
    return max(1, round(arguments.flop / (2 * m * n * k)))


def ratios(cell, side):
    return [statistic(side, seconds) / statistic("plain", seconds) for statistic in (cell.median, cell.least)]


def judge(cell):
    words = []
    for side in cell.runs:
        words += processes.say(side + " slower", [ratio > RATIO_MOST for ratio in ratios(cell, side)])
    return ", ".join(words) or "ok"


def row_of(cell, arguments):
    (m, n, k), threads, limit = cell.setting
    row = [f"{m}x{n}x{k}", str(threads), limit, str(calls_of(cell, arguments)), str(cell.rounds())]
    row += [f"{1e3 * cell.median(side, seconds):.1f}" for side in arguments.sides]
    for side in arguments.sides:
        if side != "plain":
            row += [f"{ratio:.3f}" for ratio in ratios(cell, side)]
    return row + ["%d/%d" % cell.device_calls, judge(cell)]


def heads_of(arguments):
    heads = ["shape", "threads", "limit", "calls", "runs"] + arguments.sides
    for side in arguments.sides:
        if side != "plain":
            heads += [side + "/plain", "least"]
    return heads + ["on device", "verdict"]


def as_json(cell, arguments):
    (m, n, k), threads, limit = cell.setting
    sides = {side: [seconds(run) for run in runs] for side, runs in cell.runs.items()}
    return {"m": m, "n": n, "k": k, "threads": threads, "limit": limit, "calls": calls_of(cell, arguments),
            "seconds": sides, "device_calls": cell.device_calls[0], "verdict": judge(cell)}


def main():
    parser = argparse.ArgumentParser()
    processes.add_arguments(parser, 60, 9, ["plain", "preloaded", "up"])
    parser.add_argument("--shapes", type=lambda text: [shape(s) for s in text.split(",")], help="256x256x512,...")
    parser.add_argument("--threads", type=processes.integers)
    parser.add_argument("--limits", type=processes.names, help="of call, environment, none")
    parser.add_argument("--flop", type=float, default=FLOP_OF_THREAD, help="of each thread (default %(default)g)")
    arguments = processes.parse(parser)
    cells = make_cells(arguments)

    def command_of(cell, side):
        extents, threads, limit = cell.setting
        command = [arguments.program, *map(str, extents), str(threads), str(calls_of(cell, arguments))]
        if limit == "environment":
            command = ["/usr/bin/env", "OPENBLAS_NUM_THREADS=1"] + command
        return command + ["call" if limit == "call" else "none", *processes.last_arguments(side, arguments)]

    with processes.server(arguments):
        processes.take_turns(cells, arguments, command_of, ROUNDS_LEAST)
    done = [cell for cell in cells if cell.rounds()]
    processes.print_table(heads_of(arguments), [row_of(cell, arguments) for cell in done])
    print(f"{sum(judge(cell) == 'ok' for cell in done)} of {len(done)} ok, {len(cells) - len(done)} not run")
    processes.write_json(arguments, [as_json(cell, arguments) for cell in done])


if __name__ == "__main__":
    main()
