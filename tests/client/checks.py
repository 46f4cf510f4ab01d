"""What the NumPy test programs share: which NumPy they run on, and when a float32 product is right."""

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


def check(name, c, a, b):
    """c = a @ b up to float32 rounding: |error| <= gamma_k |a||b|, in whatever order the sums were taken.

    That is Higham's bound for an inner product (Accuracy and Stability of Numerical Algorithms, 3.1), and one
    rounding more for the multiplication by alpha. NaN and infinity must stand where float64 has them.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact = a @ b
    steps = (a.shape[-1] + 1) * 2.0**-24
    finite = np.isfinite(exact)
    if not np.array_equal(c[~finite], exact[~finite].astype(np.float32), equal_nan=True):
        sys.exit(f"{name}: NaN or infinity is lost or misplaced")
    with np.errstate(invalid="ignore"):
        excess = np.abs(c - exact) - steps / (1 - steps) * (np.abs(a) @ np.abs(b))
    if c.shape != exact.shape or np.any(excess[finite] > 0):
        first = tuple(np.argwhere(finite & (excess > 0))[0])
        sys.exit(f"{name}: entry {first} is {c[first]}, not {exact[first]}")
