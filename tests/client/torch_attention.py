"""PyTorch's attention on the host, which calls cblas_sgemm_batch where its BLAS has batches: several sizes, real and complex batches of
matrices, contiguous or not, against NumPy's sums in double precision."""

import sys

try:
    import torch
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

from checks import np


def _check(name, result, expected, terms):
    """terms: the sums of absolute values; so many roundings as there are products in a sum."""
    roundoff = float(torch.finfo(result.dtype).eps)
    worst = np.max(np.abs(result.numpy() - expected) / terms)
    if not worst <= 64 * roundoff:
        sys.exit(f"{name}: {worst / roundoff:.1f} roundings")


def _attention(dtype, batch, heads, length, width):
    torch.manual_seed(batch + heads + length)
    query, key, value = (torch.randn(batch, length, heads, width, dtype=dtype).transpose(1, 2) for _ in range(3))
    result = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    q, k, v = (x.numpy().astype(np.float64) for x in (query, key, value))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(width)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    # Scores enter by their exponential: their own errors count as often as they are large.
    size = (1 + np.abs(scores).max()) * (weights @ np.abs(v)) * np.sqrt(width)
    _check(f"attention {dtype} {batch} x {heads} x {length} x {width}", result, weights @ v, size)


def _products(dtype, count, m, n, k, strided):
    torch.manual_seed(count + m)
    a, b = torch.randn(count, m, k, dtype=dtype), torch.randn(count, n, k, dtype=dtype).transpose(1, 2)
    if strided:
        a, b = a[::2], b[::2]
    result = torch.bmm(a, b)
    x, y = (matrix.numpy().astype(np.complex128 if dtype.is_complex else np.float64) for matrix in (a, b))
    _check(f"bmm {dtype} {count} of {m} x {n} x {k}", result, x @ y, np.sqrt(k) * (np.abs(x) @ np.abs(y)))


def main():
    torch.set_num_threads(2)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        for dtype in (torch.float32, torch.float64):
            for shape in ((1, 2, 50, 16), (2, 8, 200, 64), (4, 4, 65, 33)):
                _attention(dtype, *shape)
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        for strided in (False, True):
            _products(dtype, 40, 64, 48, 100, strided)
            _products(dtype, 6, 200, 180, 170, strided)
    print("PyTorch's batches are right")


if __name__ == "__main__":
    main()
