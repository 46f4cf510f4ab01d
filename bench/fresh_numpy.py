#!/usr/bin/env python3
"""bench/fresh_numpy.py N reused|new reused|new SECONDS [WAKE [ELEMENT]]: bench/fresh.c in NumPy.

A new C is that of numpy.matmul(A, B), with its memory given back within the clock; a reused one is out=C. What is
printed is the same, the product alone being all that is timed.
"""
import statistics
import sys
import time

import numpy

WARM_UPS, TURNS_LEAST, TURNS_MOST = 2, 3, 101


DTYPES = {"float": numpy.float32, "double": numpy.float64}


def time_turn(a, b, c):
    start = time.perf_counter()
    if c is None:
        numpy.matmul(a, b)
    else:
        numpy.matmul(a, b, out=c)
    return time.perf_counter() - start


def main():
    n, new_c, new_operands, limit = int(sys.argv[1]), sys.argv[2] == "new", sys.argv[3] == "new", float(sys.argv[4])
    wake = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    dtype = DTYPES[sys.argv[6] if len(sys.argv) > 6 else "float"]
    generator = numpy.random.default_rng(1)

    def make_matrix(extent):
        return generator.random((extent, extent), dtype=dtype)

    a, b = make_matrix(n), make_matrix(n)
    c = None if new_c else make_matrix(n)
    if wake:
        numpy.matmul(make_matrix(wake), make_matrix(wake))
    times = []
    for turn in range(-WARM_UPS, TURNS_MOST):
        if turn >= TURNS_LEAST and sum(times) >= limit:
            break
        turn_a, turn_b = (a.copy(), b.copy()) if new_operands else (a, b)
        times.append(time_turn(turn_a, turn_b, c))
    counted = times[WARM_UPS:]
    median = statistics.median(counted)
    print(f"{median:.9f} {median:.9f} {len(counted)}")


if __name__ == "__main__":
    main()
