#!/usr/bin/env python3
"""Worker processes that multiply at once, with the library and without: what a pool of multiprocessing or joblib does.

    bench/workers.py PYTHON build/libtileblas-preload.so --sides plain,preloaded,served --server build/tileblas

PYTHON has NumPy. Each worker makes products of new matrices (bench/workers_numpy.py), with NumPy's BLAS limited to one
thread, as joblib does it ("one"), or not ("all"). Timed is the whole, from the first product's start to the last one's end.
processes.py says what the sides are. Times are medians in ms; ratios are plain's to a side's, of the medians and, as
"least", of the minima.
"""
import argparse
import os

import processes

ROUNDS_LEAST = 2


def seconds(run):
    return run.values[0]


def make_cells(arguments):
    return [processes.Cell((n, method, threads)) for n in arguments.sizes for method in arguments.methods
            for threads in arguments.threads]


def ratios(cell, side):
    return [statistic("plain", seconds) / statistic(side, seconds) for statistic in (cell.median, cell.least)]


def row_of(cell, arguments):
    row = [*map(str, cell.setting), str(cell.rounds())]
    row += [f"{1e3 * cell.median(side, seconds):.1f}" for side in arguments.sides]
    for side in arguments.sides:
        if side != "plain":
            row += [f"{ratio:.2f}" for ratio in ratios(cell, side)]
    return row


def heads_of(arguments):
    heads = ["n", "method", "threads", "runs"] + arguments.sides
    for side in arguments.sides:
        if side != "plain":
            heads += ["plain/" + side, "least"]
    return heads


def as_json(cell, arguments):
    n, method, threads = cell.setting
    sides = {side: [seconds(run) for run in runs] for side, runs in cell.runs.items()}
    return {"n": n, "method": method, "threads": threads, "products": arguments.products, "workers": arguments.workers,
            "seconds": sides}


def main():
    parser = argparse.ArgumentParser()
    processes.add_arguments(parser, 120, 5, ["plain", "preloaded", "up"])
    parser.add_argument("--sizes", type=processes.integers, default=[1200])
    parser.add_argument("--products", type=int, default=12, help="of each worker (default 12)")
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--methods", type=processes.names, default=["fork", "spawn"])
    parser.add_argument("--threads", type=processes.names, default=["one", "all"], help="of NumPy's BLAS")
    arguments = processes.parse(parser)
    cells = make_cells(arguments)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers_numpy.py")

    def command_of(cell, side):
        n, method, threads = cell.setting
        limit = ["/usr/bin/env", "OPENBLAS_NUM_THREADS=1"] if threads == "one" else []
        return limit + [arguments.program, program, str(n), str(arguments.products), str(arguments.workers), method,
                        *processes.last_arguments(side, arguments)]

    with processes.server(arguments):
        processes.take_turns(cells, arguments, command_of, ROUNDS_LEAST)
    done = [cell for cell in cells if cell.rounds()]
    processes.print_table(heads_of(arguments), [row_of(cell, arguments) for cell in done])
    processes.write_json(arguments, [as_json(cell, arguments) for cell in done])


if __name__ == "__main__":
    main()
