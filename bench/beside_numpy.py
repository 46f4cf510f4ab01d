#!/usr/bin/env python3
"""bench/beside_numpy.py N SECONDS WAKE ELEMENT: products of N x N matrices, one after the other, for so many seconds.

Printed is what each took, in seconds. WAKE is the size of a product before the clock, unless it is 0; ELEMENT is float or
double. bench/beside.py starts two of these at a time.
"""
import sys
import time

import numpy

DTYPES = {"float": numpy.float32, "double": numpy.float64}
OPERANDS = 8


def main():
    n, seconds, wake, element = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    generator = numpy.random.default_rng(1)

    def make_matrix(extent):
        return generator.random((extent, extent), dtype=DTYPES[element])

    operands = [make_matrix(n) for _ in range(OPERANDS)]
    result = make_matrix(n)
    if wake:
        numpy.matmul(make_matrix(wake), make_matrix(wake))
    taken = []
    first = time.perf_counter()
    while not taken or time.perf_counter() - first < seconds:
        start = time.perf_counter()
        numpy.matmul(operands[len(taken) % OPERANDS], operands[(len(taken) + 1) % OPERANDS], out=result)
        taken.append(time.perf_counter() - start)
    print(*taken)


if __name__ == "__main__":
    main()
