"""What a job looks at before it ends: a wrong result ends it with a message and status 1."""

import sys


def require(holds, what):
    if not holds:
        sys.exit(f"wrong result: {what}")


def require_near(found, expected, tolerance, what):
    """Relative to the expected value. NaN is not near to anything."""
    require(abs(found - expected) <= tolerance * abs(expected), f"{what}: {found!r} instead of {expected!r}")


def require_product(c, a, b, tolerance):
    """C = A B, seen by one vector: C x beside A (B x), in products of a matrix and a vector."""
    import numpy

    x = numpy.cos(numpy.arange(c.shape[1])).astype(c.real.dtype)
    expected = a @ (b @ x)
    error = numpy.linalg.norm(c @ x - expected) / numpy.linalg.norm(expected)
    require(error <= tolerance, f"a product's error is {error:g}")
