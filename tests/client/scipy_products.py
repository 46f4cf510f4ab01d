"""Float32 through scipy.linalg: SciPy's own names of SGEMM, and routines above them. Held against sums in float64
that use no BLAS.

usage: scipy_products.py
"""

import sys

from checks import SKIPPED, np

try:
    from scipy import linalg
except ImportError:
    print("skipped: this Python has no SciPy")
    sys.exit(SKIPPED)

random = np.random.default_rng(11)
UNIT = 2.0**-24  # half the distance of 1 to the next float32


def normal(*shape):
    return random.standard_normal(shape, dtype=np.float32)


def product(a, b):
    """In float64, summed up by NumPy itself."""
    return np.einsum("ij,jk->ik", a.astype(np.float64), b.astype(np.float64), optimize=False)


def close(name, result, exact, bound):
    if result.dtype != np.float32 or result.shape != exact.shape or not np.all(np.abs(result - exact) <= bound):
        sys.exit(f"{name}: wrong by up to {np.max(np.abs(result - exact))}")


def gemm():
    """alpha op(A) op(B) + beta C, for each op, into a new C and into the caller's."""
    m, n, k, alpha, beta = 120, 90, 150, -1.5, 0.5
    for trans_a in (0, 1, 2):
        for trans_b in (0, 1, 2):
            for overwrite in (0, 1):
                a, b, c = normal(m, k), normal(k, n), np.asfortranarray(normal(m, n))
                exact = alpha * product(a, b) + beta * c
                bound = (k + 3) * UNIT * (abs(alpha) * product(abs(a), abs(b)) + beta * abs(c)) * 1.01
                result = linalg.blas.sgemm(alpha, np.asfortranarray(a.T if trans_a else a),
                                           np.asfortranarray(b.T if trans_b else b), beta=beta, c=c,
                                           trans_a=trans_a, trans_b=trans_b, overwrite_c=overwrite)
                close(f"sgemm {trans_a} {trans_b} {overwrite}", result, exact, bound)
                if overwrite and not np.shares_memory(result, c):
                    sys.exit("sgemm: C was not overwritten")


def solvers():
    """What LAPACK does with its own products. Backward stable: the residual is small beside |A||X|."""
    n = 200
    a = normal(n, n)
    positive = a @ a.T + n * np.eye(n, dtype="f")
    for name, matrix, assume in (("general", a, "gen"), ("positive definite", positive, "pos")):
        b = normal(n, 7)
        x = linalg.solve(matrix, b, assume_a=assume)
        close(f"solve, {name}", product(matrix, x).astype(np.float32), b,
              64 * n * UNIT * product(abs(matrix), abs(x)))


def polar():
    """A = U P, and U is orthogonal. Backward stable, as the solvers are."""
    n = 100
    a = normal(n, n)
    u, p = linalg.polar(a)
    size = np.linalg.norm(a)
    close("polar, product", product(u, p).astype(np.float32), a, 64 * n * UNIT * size)
    close("polar, orthogonal", product(u.T, u).astype(np.float32), np.eye(n), 64 * n * UNIT)


gemm()
solvers()
polar()
print("products are right")
