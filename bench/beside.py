#!/usr/bin/env python3
"""Short products of one program beside long ones of another: how long does the one wait for the other?

    bench/beside.py PYTHON build/libtileblas-preload.so --sides plain,up,served --server build/tileblas

PYTHON has NumPy. A program makes products of one size for some seconds (bench/beside_numpy.py), by itself and then beside
another program that makes long products all the while. Both have half of the cores. processes.py says what the sides are.
Times are of one short product, in ms: the median and the 95th percentile by itself, the same beside the other program, and
the other program's median.
"""
import argparse
import os
import statistics
import subprocess

import processes


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def command_of(arguments, n, seconds, side, cores):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "beside_numpy.py")
    limit = ["/usr/bin/env", f"OPENBLAS_NUM_THREADS={len(cores)}", "taskset", "-c", ",".join(map(str, cores))]
    return limit + [arguments.program, program, str(n), str(seconds), *processes.last_arguments(side, arguments)]


def start(command, variables):
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


def times_of(process):
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a program ended with status {process.returncode}")
    return [float(word) for word in output.split()]


def measure(arguments, n, side, halves):
    """The short products' times by themselves and beside long ones, and the long ones' beside them."""
    variables = processes.environment(side, arguments.library)
    short = command_of(arguments, n, arguments.each, side, halves[0])
    alone = times_of(start(short, variables))
    long = start(command_of(arguments, arguments.long, 2 * arguments.each, side, halves[1]), variables)
    beside = times_of(start(short, variables))
    return alone, beside, times_of(long)


def row_of(n, side, times):
    alone, beside, long = times
    numbers = [statistics.median(alone), percentile(alone, 0.95), statistics.median(beside), percentile(beside, 0.95)]
    return [str(n), side] + [f"{1e3 * number:.2f}" for number in numbers + [statistics.median(long)]]


def main():
    parser = argparse.ArgumentParser()
    processes.add_arguments(parser, 60, 1, ["plain", "up"])
    parser.add_argument("--sizes", type=processes.integers, default=[1024, 2048], help="of the short products")
    parser.add_argument("--long", type=int, default=12288, help="size of the long products")
    parser.add_argument("--each", type=float, default=3, help="seconds of short products (default 3)")
    arguments = processes.parse(parser)
    cores = sorted(os.sched_getaffinity(0))
    halves = cores[: len(cores) // 2], cores[len(cores) // 2 :]
    rows, results = [], []
    with processes.server(arguments):
        for n in arguments.sizes:
            for side in arguments.sides:
                times = measure(arguments, n, side, halves)
                rows.append(row_of(n, side, times))
                results.append({"n": n, "long": arguments.long, "side": side, "seconds": dict(zip(("alone", "beside", "other"), times))})
    processes.print_table(["n", "side", "alone", "95%", "beside", "95%", "long"], rows)
    processes.write_json(arguments, results)


if __name__ == "__main__":
    main()
