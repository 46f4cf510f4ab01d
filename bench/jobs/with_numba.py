"""Jobs of Numba, which calls BLAS by SciPy's pointers from the code that it makes."""

import concurrent.futures

import numba
import numpy
from checks import require, require_product
from with_numpy import normal


@numba.njit
def multiply(a, b):
    return a @ b


@numba.njit(nogil=True)
def solve_all(systems, right):
    found = numpy.empty_like(right)
    for i in range(len(systems)):
        found[i] = numpy.linalg.solve(systems[i], right[i])
    return found


def numba_products(size):
    n = size(2500)
    a, b = normal(n, n, seed=1), normal(n, n, seed=2)
    for _ in range(10):
        c = multiply(a, b)
        require_product(c, a, b, 1e-11)
        b = c / numpy.sqrt(n)


def numba_small(size):
    """Many small systems in the threads of a pool."""
    count, n = size(60000), 16
    systems, right = normal(count, n, n), normal(count, n, seed=9)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        parts = list(pool.map(solve_all, numpy.array_split(systems, 16), numpy.array_split(right, 16)))
    found = numpy.concatenate(parts)
    require(numpy.abs(systems[7] @ found[7] - right[7]).max() < 1e-8, "a solution")
