"""Jobs of SciPy: dense factorizations, functions of matrices, sparse solvers, filters."""

import numpy
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg
from checks import require, require_near
from with_numpy import normal


def positive_definite(n, seed=52):
    a = numpy.random.default_rng(seed).random((n, n))
    a += a.T
    a[numpy.diag_indices(n)] += 2 * n
    return a


def laplacian(n):
    """Of a grid of n x n, with five points."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    one = scipy.sparse.eye_array(n)
    return (scipy.sparse.kron(line, one) + scipy.sparse.kron(one, line)).tocsc()


def cho_solve(size):
    n = size(5000)
    a, b = positive_definite(n), normal(n, size(2500), seed=9)
    x = scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)
    require(numpy.linalg.norm(a @ x[:, 0] - b[:, 0]) < 1e-10 * numpy.linalg.norm(b[:, 0]), "a solution")


def expm(size):
    n = size(2000)
    a = normal(n, n) / numpy.sqrt(n)
    x = normal(n, seed=9)
    found = scipy.linalg.expm(a) @ x
    expected, term = x.copy(), x
    for i in range(1, 60):
        term = a @ term / i
        expected += term
    require(numpy.linalg.norm(found - expected) < 1e-9 * numpy.linalg.norm(expected), "the exponential")


def lu(size):
    n = size(6000)
    a, b = normal(n, n), normal(n, size(2000), seed=9)
    factors, pivots = scipy.linalg.lu_factor(a)
    permuted = b.copy()
    for i, pivot in enumerate(pivots):
        permuted[[i, pivot]] = permuted[[pivot, i]]
    y = scipy.linalg.solve_triangular(factors, permuted, lower=True, unit_diagonal=True)
    x = scipy.linalg.solve_triangular(factors, y)
    scale = numpy.linalg.norm(x[:, 0]) * n
    require(numpy.linalg.norm(a @ x[:, 0] - b[:, 0]) < 1e-11 * scale, "a solution")


def eigh_generalized(size):
    n = size(2000)
    a, b = normal(n, n), positive_definite(n, seed=9)
    a += a.T
    values, vectors = scipy.linalg.eigh(a, b)
    v = vectors[:, -1]
    require(numpy.linalg.norm(a @ v - values[-1] * (b @ v)) < 1e-9 * numpy.linalg.norm(a @ v), "an eigenvector")


def schur_complement(size):
    """A sparse system with a dense border: 400 columns are solved for at a time."""
    n, border = size(160), size(800)
    k = laplacian(n) + scipy.sparse.eye_array(n * n)
    b = normal(n * n, border, seed=9) / n
    solver = scipy.sparse.linalg.splu(k.tocsc())
    solved = numpy.hstack([solver.solve(b[:, first : first + 400]) for first in range(0, border, 400)])
    schur = numpy.eye(border) * 4 + b.T @ solved
    factor = scipy.linalg.cho_factor(schur)
    x = scipy.linalg.cho_solve(factor, numpy.ones(border))
    require(numpy.linalg.norm(schur @ x - 1) < 1e-10 * numpy.sqrt(border), "the border's solution")


def kalman(size):
    """A filter of 12 states and 6 observations, 12000 steps: many tiny calls."""
    states, seen = 12, 6
    f = numpy.eye(states) * 0.95 + 0.01 * normal(states, states)
    h = normal(seen, states, seed=9)
    q, r = 0.1 * numpy.eye(states), numpy.eye(seen)
    x, p = numpy.zeros(states), numpy.eye(states)
    for observed in normal(size(12000), seen, seed=10):
        x, p = f @ x, f @ p @ f.T + q
        s = h @ p @ h.T + r
        factor = scipy.linalg.cho_factor(s)
        gain = scipy.linalg.cho_solve(factor, h @ p).T
        x = x + gain @ (observed - h @ x)
        p = p - gain @ h @ p
        p = (p + p.T) / 2
    require(numpy.isfinite(x).all() and numpy.linalg.eigvalsh(p)[0] > 0, "the last covariance")


def sparse_modes(size):
    """The lowest modes of a membrane by inverse iteration: sparse, with blocks of the sparse solver alone."""
    n = size(200)
    values = scipy.sparse.linalg.eigsh(laplacian(n), k=24, sigma=0, v0=numpy.ones(n * n), return_eigenvectors=False)
    exact = 8 * numpy.sin(numpy.pi / (2 * (n + 1))) ** 2
    require_near(values.min(), exact, 1e-8, "the lowest mode")


def logistic(size):
    """A regression by L-BFGS: products of a matrix and a vector alone."""
    m, n = size(12000), size(1500)
    x = normal(m, n)
    y = numpy.where(x[:, 0] + 0.1 * normal(m, seed=9) > 0, 1.0, -1.0)

    def loss(w):
        margin = y * (x @ w)
        slope = -y / (1 + numpy.exp(margin))
        return numpy.logaddexp(0, -margin).sum() + 0.5 * w @ w, x.T @ slope + w

    found = scipy.optimize.minimize(loss, numpy.zeros(n), jac=True, method="L-BFGS-B", options={"maxiter": 40})
    require(found.fun < 0.5 * m * numpy.log(2), "the loss")
