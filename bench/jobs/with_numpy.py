"""Jobs of NumPy alone. jobs.py lists them; each takes the sizes through size(), which only tests make smaller."""

import concurrent.futures
import multiprocessing

import numpy
from checks import require, require_near, require_product


def normal(*shape, seed=52):
    return numpy.random.default_rng(seed).standard_normal(shape)


def normal_float32(*shape, seed=52):
    return numpy.random.default_rng(seed).standard_normal(shape, dtype=numpy.float32)


def products(size):
    n = size(3000)
    a, b = normal(n, n, seed=1), normal(n, n, seed=2)
    for _ in range(10):
        c = a @ b
        require_product(c, a, b, 1e-11)
        b = c / numpy.sqrt(n)


def products_float32(size):
    n = size(4000)
    a, b = normal_float32(n, n, seed=1), normal_float32(n, n, seed=2)
    for _ in range(12):
        c = a @ b
        require_product(c, a, b, 1e-3)
        b = c / numpy.sqrt(numpy.float32(n))


def products_complex(size):
    n = size(2500)
    a = normal(n, n, seed=1) + 1j * normal(n, n, seed=2)
    b = normal(n, n, seed=3) + 1j * normal(n, n, seed=4)
    for _ in range(4):
        c = a @ b
        require_product(c, a, b, 1e-11)
        b = c / numpy.sqrt(2 * n)


def one_product(size):
    n = size(1500)
    a, b = normal(n, n, seed=1), normal(n, n, seed=2)
    require_product(a @ b, a, b, 1e-11)


def covariance(size):
    data = normal(size(40000), size(1500))
    matrix = numpy.cov(data, rowvar=False)
    values, vectors = numpy.linalg.eigh(matrix)
    require_near(values.sum(), numpy.trace(matrix), 1e-9, "the eigenvalues' sum")
    v = vectors[:, -1]
    require(numpy.linalg.norm(matrix @ v - values[-1] * v) < 1e-9 * values[-1], "an eigenvector")


def solve(size):
    n = size(4000)
    for seed in range(3):
        a, b = normal(n, n, seed=seed), normal(n, seed=seed + 10)
        x = numpy.linalg.solve(a, b)
        require(numpy.linalg.norm(a @ x - b) < 1e-9 * n * numpy.linalg.norm(x), "a solution")


def inverse(size):
    n = size(3000)
    x = normal(n, seed=9)
    for seed in range(3):
        a = normal(n, n, seed=seed)
        inverted = numpy.linalg.inv(a)
        y = a @ x
        require(numpy.linalg.norm(inverted @ y - x) < 1e-6 * numpy.linalg.norm(x), "an inverse")


def cholesky(size):
    n = size(5000)
    x = normal(n, seed=9)
    for seed in range(3):
        a = numpy.random.default_rng(seed).random((n, n))
        a += a.T
        a[numpy.diag_indices(n)] += 2 * n
        factor = numpy.linalg.cholesky(a)
        expected = a @ x
        require(numpy.linalg.norm(factor @ (factor.T @ x) - expected) < 1e-11 * numpy.linalg.norm(expected), "a factor")


def svd(size):
    n = size(2000)
    a, x = normal(n, n), normal(n, seed=9)
    u, values, vt = numpy.linalg.svd(a)
    expected = a @ x
    error = numpy.linalg.norm(u @ (values * (vt @ x)) - expected)
    require(error < 1e-10 * numpy.linalg.norm(expected), "a singular value decomposition")


def qr(size):
    m, n = size(6000), size(3000)
    a, x = normal(m, n), normal(n, seed=9)
    q, r = numpy.linalg.qr(a)
    expected = a @ x
    require(numpy.linalg.norm(q @ (r @ x) - expected) < 1e-11 * numpy.linalg.norm(expected), "a QR factorization")


def least_squares(size):
    m, n = size(8000), size(1500)
    a, b = normal(m, n), normal(m, seed=9)
    x = numpy.linalg.lstsq(a, b)[0]
    residual = b - a @ x
    require(
        numpy.linalg.norm(a.T @ residual) < 1e-9 * numpy.linalg.norm(b) * numpy.sqrt(m * n), "a least squares solution"
    )


def thin_products(size):
    """Sixty blocks of 48 vectors, one after the other, go through one matrix."""
    n, width = size(6000), 48
    a = normal(n, n) / numpy.sqrt(n)
    block = normal(n, width, seed=9)
    for _ in range(60):
        product = a @ block
        require_near(product[0] @ product[0], (a[0] @ block) @ (a[0] @ block), 1e-9, "a row")
        block = product


def subspace(size):
    """The largest eigenvalues by iterating a subspace: products with 200 columns, and QR of these."""
    n, width = size(5000), size(200)
    q = numpy.linalg.qr(normal(n, width))[0]
    diagonal = 1 / (1 + numpy.arange(n))
    a = 1e-4 * normal(n, n, seed=9)
    a += a.T
    a[numpy.diag_indices(n)] += diagonal
    for _ in range(25):
        q = numpy.linalg.qr(a @ q)[0]
    values, vectors = numpy.linalg.eigh(q.T @ (a @ q))
    v = q @ vectors[:, -1]
    require(numpy.linalg.norm(a @ v - values[-1] * v) < 1e-3 * values[-1], "the first eigenvector")


def small_products(size):
    """400000 products of 24 x 24, 250000 solutions with 8 x 8: nothing for a device."""
    a, b = normal(24, 24) / 5, normal(24, 24, seed=9) / 5
    total = 0.0
    for _ in range(size(400000)):
        total += (a @ b)[3, 5]
    require_near(total, size(400000) * (a[3] @ b[:, 5]), 1e-9, "the sum of an element")
    systems, right = normal(size(250000), 8, 8), normal(size(250000), 8, 1, seed=9)
    solutions = numpy.linalg.solve(systems, right)
    require(numpy.abs(systems[7] @ solutions[7] - right[7]).max() < 1e-8, "a small solution")


def signals(size):
    """Sorting, transforms and sums: no linear algebra."""
    rng = numpy.random.default_rng(52)
    samples = rng.random(size(12_000_000))
    ordered = numpy.sort(samples)
    spectrum = numpy.fft.rfft(samples)
    back = numpy.fft.irfft(spectrum, len(samples))
    require(numpy.abs(back - samples).max() < 1e-9, "a transform and back")
    require_near(numpy.cumsum(ordered)[-1], samples.sum(), 1e-9, "the sum of what was sorted")


def twelve_products(seed, n):
    a, b = normal(n, n, seed=seed), normal(n, n, seed=seed + 1000)
    for _ in range(12):
        c = a @ b
        require_near(c[0, 0], a[0] @ b[:, 0], 1e-6, "an element")
        b = c / numpy.sqrt(n)
    return float(c[0, 0])


def threads(size):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(twelve_products, range(48), [size(1200)] * 48))
    require(numpy.isfinite(found).all() and len(set(found)) == 48, "forty-eight results")


def forks(size):
    with multiprocessing.get_context("fork").Pool(8) as pool:
        found = pool.starmap(twelve_products, [(seed, size(1200)) for seed in range(16)], chunksize=1)
    require(numpy.isfinite(found).all() and len(set(found)) == 16, "sixteen results")
