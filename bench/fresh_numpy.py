#!/usr/bin/env python3
"""bench/fresh_numpy.py N reused|new reused|new SECONDS [WAKE]: bench/fresh.c in NumPy.

A new C is that of numpy.matmul(A, B), with its memory given back within the clock; a reused one is out=C. What is
printed is the same, the product alone being all that is timed.
"""
import statistics
import sys
import time

import numpy

WARM_UPS, TURNS_LEAST, TURNS_MOST = 2, 3, 101


def make_matrix(generator, n):
    return generator.random((n, n), dtype=numpy.float32)


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
    generator = numpy.random.default_rng(1)
    a, b = make_matrix(generator, n), make_matrix(generator, n)
    c = None if new_c else make_matrix(generator, n)
    if wake:
        numpy.matmul(make_matrix(generator, wake), make_matrix(generator, wake))
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
