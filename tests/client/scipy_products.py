"""Products through scipy.linalg: SciPy's own names of GEMM, and routines above them. Held against sums
without BLAS.

usage: scipy_products.py float32|float64
"""

import sys

from checks import SKIPPED, np, product_without_blas, summation_error, unit

try:
    from scipy import linalg
except ImportError:
    print("skipped: this Python has no SciPy")
    sys.exit(SKIPPED)

ELEMENT = np.dtype(sys.argv[1])
UNIT = unit(ELEMENT)
random = np.random.default_rng(11)


def normal(*shape):
    return random.standard_normal(shape, dtype=ELEMENT)


def close(name, result, wanted, bound):
    if result.dtype != ELEMENT or result.shape != wanted.shape or not np.all(np.abs(result - wanted) <= bound):
        sys.exit(f"{name}: wrong by up to {np.max(np.abs(result - wanted))}")


def gemm():
    """alpha op(A) op(B) + beta C, for each op, into a new C and into the caller's."""
    multiply = linalg.blas.get_blas_funcs("gemm", dtype=ELEMENT)
    m, n, k, alpha, beta = 120, 90, 150, -1.5, 0.5
    for trans_a in (0, 1, 2):
        for trans_b in (0, 1, 2):
            for overwrite in (0, 1):
                a, b, c = normal(m, k), normal(k, n), np.asfortranarray(normal(m, n))
                wanted = alpha * product_without_blas(a, b) + beta * c
                size = abs(alpha) * product_without_blas(abs(a), abs(b)) + beta * abs(c)
                bound = (summation_error(k + 3, ELEMENT) + summation_error(k + 3, np.float64)) * size
                result = multiply(alpha, np.asfortranarray(a.T if trans_a else a),
                                  np.asfortranarray(b.T if trans_b else b), beta=beta, c=c,
                                  trans_a=trans_a, trans_b=trans_b, overwrite_c=overwrite)
                close(f"gemm {trans_a} {trans_b} {overwrite}", result, wanted, bound)
                if overwrite and not np.shares_memory(result, c):
                    sys.exit("gemm: C was not overwritten")


def syrk():
    """alpha A A^T + beta C, and alpha A^T A + beta C: one triangle of C, and the other as it was."""
    rank_k = linalg.blas.get_blas_funcs("syrk", dtype=ELEMENT)
    n, k, alpha, beta = 90, 150, -1.5, 0.5
    for trans in (0, 1):
        for lower in (0, 1):
            a, c = normal(n, k), np.asfortranarray(normal(n, n))
            inside = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
            wanted = np.where(inside, alpha * product_without_blas(a, a.T) + beta * c, c)
            size = abs(alpha) * product_without_blas(abs(a), abs(a.T)) + beta * abs(c)
            bound = np.where(inside, (summation_error(k + 3, ELEMENT) + summation_error(k + 3, np.float64)) * size, 0)
            result = rank_k(alpha, np.asfortranarray(a.T if trans else a), beta=beta, c=c, trans=trans, lower=lower)
            close(f"syrk {trans} {lower}", result, wanted, bound)


def solvers():
    """What LAPACK does with its own products. Backward stable: the residual is small beside |A||X|."""
    n = 200
    a = normal(n, n)
    positive = a @ a.T + n * np.eye(n, dtype=ELEMENT)
    for name, matrix, assume in (("general", a, "gen"), ("positive definite", positive, "pos")):
        b = normal(n, 7)
        x = linalg.solve(matrix, b, assume_a=assume)
        close(f"solve, {name}", product_without_blas(matrix, x).astype(ELEMENT), b,
              64 * n * UNIT * product_without_blas(abs(matrix), abs(x)))


def polar():
    """A = U P, and U is orthogonal. Backward stable, as the solvers are."""
    n = 100
    a = normal(n, n)
    u, p = linalg.polar(a)
    size = np.sqrt(np.sum(np.square(a)))
    close("polar, product", product_without_blas(u, p).astype(ELEMENT), a, 64 * n * UNIT * size)
    close("polar, orthogonal", product_without_blas(u.T, u).astype(ELEMENT), np.eye(n), 64 * n * UNIT)


gemm()
syrk()
solvers()
polar()
print("products are right")
