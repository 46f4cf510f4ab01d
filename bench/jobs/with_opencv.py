"""A job of OpenCV."""

import cv2
import numpy
from checks import require, require_product
from with_numpy import normal


def opencv_matrices(size):
    """Products, a solution and principal axes of small pictures."""
    n = size(2000)
    a, b = normal(n, n, seed=1), normal(n, n, seed=2)
    for _ in range(6):
        c = cv2.gemm(a, b, 1, None, 0)
        require_product(c, a, b, 1e-10)
        b = c / numpy.sqrt(n)
    right = normal(n, 1, seed=9)
    solved, x = cv2.solve(a, right, flags=cv2.DECOMP_LU)
    require(solved and numpy.linalg.norm(a @ x - right) < 1e-7 * numpy.linalg.norm(x), "a solution")
    pictures = normal(size(300), size(1600), seed=10)
    mean, axes = cv2.PCACompute(pictures, None, maxComponents=20)
    require(numpy.abs(axes[:4] @ axes[:4].T - numpy.eye(4)).max() < 1e-6, "the axes")
