"""What the NumPy test programs share: which NumPy they run on, and when a product is right."""

import os
import sys

SKIPPED = 77  # what CTest is told to take for "cannot run here"

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no NumPy")
    sys.exit(SKIPPED)


def require_numpy_from(origin):
    """Ends the program as skipped unless its NumPy is a wheel ("pip") or the distribution's ("debian")."""
    folder = np.__path__[0]
    is_wheel = os.path.isdir(folder + ".libs")  # where wheels keep the BLAS that they bring
    if (origin == "pip") != is_wheel:
        print(f"skipped: the NumPy in {folder} is not {origin}'s")
        sys.exit(SKIPPED)
    print(f"NumPy {np.__version__} in {folder}")


def unit(dtype):
    """Half the distance of 1 to the next number: the relative error of one rounding."""
    return float(np.finfo(dtype).eps) / 2


def normal_numbers(random, shape, dtype):
    """Of each part of complex ones."""
    if dtype.kind != "c":
        return random.standard_normal(shape, dtype=dtype)
    return random.standard_normal((*shape, 2), dtype=dtype.type(0).real.dtype).view(dtype)[..., 0]


def product_without_blas(a, b):
    """a @ b in float64, or complex128, summed up by loops of NumPy's own."""
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    rows = np.ascontiguousarray(a if a.ndim > 1 else a[np.newaxis, :], dtype=wide)
    columns = np.ascontiguousarray(b if b.ndim > 1 else b[:, np.newaxis], dtype=wide)
    c = np.einsum("...ij,...jk->...ik", rows, columns, optimize=False)
    c = c if b.ndim > 1 else c[..., 0]
    return c if a.ndim > 1 else c[..., 0, :] if b.ndim > 1 else c[0]


def summation_error(k, dtype):
    """Of an inner product of k terms, relative to the sum of their sizes: gamma_k in Higham's Accuracy and
    Stability of Numerical Algorithms, 3.1, which holds in whatever order the sums are taken. Either part of a complex
    product is a sum of twice as many."""
    terms = 2 * k if np.dtype(dtype).kind == "c" else k
    return terms * unit(dtype) / (1 - terms * unit(dtype))


def size(x):
    """Of numbers: of complex ones both parts', as products of them have a term for each pair of parts."""
    return abs(x.real) + abs(x.imag) if x.dtype.kind == "c" else abs(x)


def is_near(c, wanted, bound):
    """Where c is, in either part, as near as that."""
    difference = c - wanted
    return np.maximum(abs(difference.real), abs(difference.imag)) <= bound


def expected(a, b):
    """a @ b, and how far from it a product in the element of a and b may be: its sums have one rounding more
    for the multiplication by alpha, and those that it is held against are rounded too."""
    k = a.shape[-1]
    with np.errstate(invalid="ignore"):
        wanted = product_without_blas(a, b)
        relative = summation_error(k + 1, a.dtype) + summation_error(k, wanted.dtype)
        bound = relative * product_without_blas(size(a), size(b))
    return a.dtype, wanted, bound


def compare(name, c, expectation):
    """Ends the program unless c is as expected. NaN and infinity must stand where float64 has them; of complex numbers
    some part must be one of them."""
    element, wanted, bound = expectation
    if c.dtype != element or c.shape != wanted.shape:
        sys.exit(f"{name}: the result is {c.dtype} {c.shape}, not {element} {wanted.shape}")
    finite = np.isfinite(wanted)
    lost = c[~finite], wanted[~finite].astype(element)
    if np.any(np.isfinite(lost[0])) or (element.kind != "c" and not np.array_equal(*lost, equal_nan=True)):
        sys.exit(f"{name}: NaN or infinity is lost or misplaced")
    with np.errstate(invalid="ignore"):
        right = is_near(c, wanted, bound)
    if not np.all(right[finite]):
        first = tuple(np.argwhere(finite & ~right)[0])
        sys.exit(f"{name}: entry {first} is {c[first]}, not {wanted[first]}")


def check(name, c, a, b):
    """c = a @ b up to rounding, in the element that all three have."""
    compare(name, c, expected(a, b))
