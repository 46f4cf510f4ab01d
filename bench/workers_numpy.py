#!/usr/bin/env python3
"""bench/workers_numpy.py N PRODUCTS WORKERS fork|spawn [WAKE [ELEMENT]]: workers of multiprocessing that multiply.

Each makes so many products of N x N matrices, new ones for each. Printed are the seconds from the first worker's first
product to the last one's last. WAKE is the size of a product that each worker makes before, unless it is 0; ELEMENT is
float, as without it, or double. bench/workers.py starts this many times.
"""
import multiprocessing
import sys
import time

import numpy

DTYPES = {"float": numpy.float32, "double": numpy.float64}


def work(task):
    """The times of the first product's start and the last one's end, by the clock that all processes share."""
    n, products, wake, element, barrier = task
    generator = numpy.random.default_rng(1)

    def make_matrix(extent):
        return generator.random((extent, extent), dtype=DTYPES[element])

    operands = [(make_matrix(n), make_matrix(n)) for _ in range(products)]
    if wake:
        numpy.matmul(make_matrix(wake), make_matrix(wake))
    barrier.wait()
    start = time.monotonic()
    for a, b in operands:
        numpy.matmul(a, b)
    return start, time.monotonic()


def main():
    n, products, workers, method = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    wake = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    element = sys.argv[6] if len(sys.argv) > 6 else "float"
    context = multiprocessing.get_context(method)
    with context.Manager() as manager, context.Pool(workers) as pool:
        task = n, products, wake, element, manager.Barrier(workers)
        times = pool.map(work, [task] * workers, chunksize=1)
    print(max(end for _, end in times) - min(start for start, _ in times))


if __name__ == "__main__":
    main()
