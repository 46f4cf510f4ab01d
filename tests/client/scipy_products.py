"""Products through scipy.linalg: SciPy's own names of GEMM, and routines above them. Held against sums
without BLAS.

usage: scipy_products.py float32|float64|complex64|complex128
"""

import itertools
import sys

from checks import SKIPPED, is_near, normal_numbers, np, product_without_blas, size, summation_error, unit

try:
    from scipy import linalg
except ImportError:
    print("skipped: this Python has no SciPy")
    sys.exit(SKIPPED)

ELEMENT = np.dtype(sys.argv[1])
IS_COMPLEX = ELEMENT.kind == "c"
ALPHA = -1.5 + 0.5j if IS_COMPLEX else -1.5
BETAS = (0.5, 0.5 - 2j) if IS_COMPLEX else (0.5,)
UNIT = unit(ELEMENT)
random = np.random.default_rng(11)


def normal(*shape):
    return normal_numbers(random, shape, ELEMENT)


def close(name, result, wanted, bound):
    if result.dtype != ELEMENT or result.shape != wanted.shape or not np.all(is_near(result, wanted, bound)):
        sys.exit(f"{name}: wrong by up to {np.max(np.abs(result - wanted))}")


def sum_expected(a, b, beta, c):
    """ALPHA a @ b + beta c, and how far from it the result may be."""
    k = a.shape[1]
    wanted = ALPHA * product_without_blas(a, b) + beta * c.astype(np.promote_types(ELEMENT, np.float64))
    sizes = size(np.asarray(ALPHA)) * product_without_blas(size(a), size(b)) + size(np.asarray(beta)) * size(c)
    return wanted, (summation_error(k + 3, ELEMENT) + summation_error(k + 3, wanted.dtype)) * sizes


def check_into(name, c, overwrite, result, wanted, bound):
    close(name, result, wanted, bound)
    if overwrite and not np.shares_memory(result, c):
        sys.exit(f"{name}: C was not overwritten")


def gemm():
    """alpha op(A) op(B) + beta C, for each op, into a new C and into the caller's."""
    multiply = linalg.blas.get_blas_funcs("gemm", dtype=ELEMENT)
    m, n, k = 120, 90, 150
    for trans_a, trans_b, overwrite, beta in itertools.product((0, 1, 2), (0, 1, 2), (0, 1), BETAS):
        a, b, c = normal(m, k), normal(k, n), np.asfortranarray(normal(m, n))
        wanted, bound = sum_expected(a, b, beta, c)
        stored = {0: lambda x: x, 1: lambda x: x.T, 2: lambda x: x.conj().T}
        result = multiply(ALPHA, np.asfortranarray(stored[trans_a](a)), np.asfortranarray(stored[trans_b](b)), beta=beta,
                          c=c, trans_a=trans_a, trans_b=trans_b, overwrite_c=overwrite)
        check_into(f"gemm {trans_a} {trans_b} {overwrite} {beta}", c, overwrite, result, wanted, bound)


def symm():
    """alpha A B + beta C and alpha B A + beta C, of whose symmetric or Hermitian A one triangle is read."""
    m, n = 130, 90
    names = ("symm", "hemm") if IS_COMPLEX else ("symm",)
    for name, side, lower, overwrite, beta in itertools.product(names, (0, 1), (0, 1), (0, 1), BETAS):
        multiply = linalg.blas.get_blas_funcs(name, dtype=ELEMENT)
        k = n if side else m
        values, b, c = normal(k, k), normal(m, n), np.asfortranarray(normal(m, n))
        read = np.tri(k, dtype=bool) if lower else np.tri(k, dtype=bool).T
        strict = np.where(read & ~np.eye(k, dtype=bool), values, 0)
        diagonal = np.diag(np.diag(values.real if name == "hemm" else values))
        whole = strict + diagonal + (strict.conj().T if name == "hemm" else strict.T)
        wanted, bound = sum_expected(b, whole, beta, c) if side else sum_expected(whole, b, beta, c)
        stored = np.asfortranarray(np.where(read, values, np.nan).astype(ELEMENT))
        result = multiply(ALPHA, stored, b, beta=beta, c=c, side=side, lower=lower, overwrite_c=overwrite)
        check_into(f"{name} {side} {lower} {overwrite} {beta}", c, overwrite, result, wanted, bound)


def draw_triangle(order, lower, unit, trans):
    """A triangle whose solutions do not grow, as it is stored, with NaN where nothing is to be read; and op of it."""
    values = normal(order, order) / ELEMENT.type(np.sqrt(order)) + 2 * np.eye(order, dtype=ELEMENT)
    read = np.tri(order, k=-1 if unit else 0, dtype=bool)
    read = read if lower else read.T
    whole = np.where(read, values, 0) + (np.eye(order, dtype=ELEMENT) if unit else 0)
    stored = np.where(read, values, np.nan).astype(ELEMENT)
    return np.asfortranarray(stored), {0: whole, 1: whole.T, 2: whole.conj().T}[trans].astype(ELEMENT)


def near_solution(name, a, x, b):
    """a @ x is b: substitution, in any order, leaves no more than this (Higham, Accuracy and Stability, 8.1)."""
    error = summation_error(a.shape[0] + 5, ELEMENT)
    wide = product_without_blas(a, x)
    if x.dtype != ELEMENT or not np.all(is_near(wide, b, error * product_without_blas(size(a), size(x)))):
        sys.exit(f"{name}: off by up to {np.max(np.abs(wide - b))}")


def triangular():
    """alpha op(A) B and alpha B op(A) in B's place, and what these are solved by, from either side."""
    m, n = 130, 90
    multiply, solve = linalg.blas.get_blas_funcs(("trmm", "trsm"), dtype=ELEMENT)
    for side, lower, trans, unit, overwrite in itertools.product((0, 1), (0, 1), (0, 1, 2), (0, 1), (0, 1)):
        name = f"{side} {lower} {trans} {unit} {overwrite}"
        stored, a = draw_triangle(n if side else m, lower, unit, trans)
        b = np.asfortranarray(normal(m, n))
        how = {"side": side, "lower": lower, "trans_a": trans, "diag": unit, "overwrite_b": overwrite}
        wanted, bound = sum_expected(b, a, 0, b) if side else sum_expected(a, b, 0, b)
        c = b.copy(order="F")
        check_into(f"trmm {name}", c, overwrite, multiply(ALPHA, stored, c, **how), wanted, bound)
        c = b.copy(order="F")
        x = solve(ALPHA, stored, c, **how)
        scaled = ALPHA * b.astype(wanted.dtype)
        near_solution(f"trsm {name}", *((a.T, x.T, scaled.T) if side else (a, x, scaled)))
        if overwrite and not np.shares_memory(x, c):
            sys.exit(f"trsm {name}: B was not overwritten")
    for lower, trans, unit in itertools.product((0, 1), (0, 1, 2), (0, 1)):
        stored, a = draw_triangle(m, lower, unit, trans)
        b = normal(m, 7)
        x = linalg.solve_triangular(stored, b, trans=trans, lower=lower, unit_diagonal=unit, check_finite=False)
        near_solution(f"solve_triangular {lower} {trans} {unit}", a, x, b)


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
symm()
triangular()
if not IS_COMPLEX:
    syrk()
    solvers()
    polar()
print("products are right")
