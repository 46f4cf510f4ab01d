"""Float32 products in every layout that NumPy hands to its BLAS, each held against float64.

usage: numpy_products.py pip|debian [--save FILE | --same FILE]

--save keeps the results; --same demands the very bits that another run kept.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from checks import check, np, require_numpy_from

random = np.random.default_rng(7)
results = []


def normal(*shape):
    return random.standard_normal(shape, dtype=np.float32)


def moved(matrix, bytes_):
    """The same matrix, at an address that is bytes_ off NumPy's alignment."""
    buffer = np.empty(matrix.nbytes + bytes_, dtype=np.uint8)
    copy = buffer[bytes_:].view(np.float32).reshape(matrix.shape)
    copy[...] = matrix
    return copy


# Ways for a matrix to lie in memory: BLAS takes the first five as they are, NumPy copies the others first.
LAYOUTS = {
    "C order": lambda m, n: normal(m, n),
    "F order": lambda m, n: np.asfortranarray(normal(m, n)),
    "slice": lambda m, n: normal(m + 3, n + 5)[2 : 2 + m, 3 : 3 + n],
    "transposed slice": lambda m, n: normal(n + 3, m + 5)[2 : 2 + n, 3 : 3 + m].T,
    "aligned to 4": lambda m, n: moved(normal(m, n), 4),
    "every second": lambda m, n: normal(2 * m, 3 * n)[::2, ::3],
    "reversed": lambda m, n: normal(m, n)[::-1, ::-1],
}
SHAPES = [(1, 1, 1), (3, 5, 7), (64, 64, 64), (1, 300, 200), (257, 1, 129), (255, 129, 66), (130, 257, 700)]


def product(name, a, b, multiply=np.matmul):
    c = multiply(a, b)
    check(name, c, a, b)
    results.append(np.array(c))


def layouts():
    for m, n, k in SHAPES:
        for a_layout, make_a in LAYOUTS.items():
            for b_layout, make_b in LAYOUTS.items():
                product(f"{m} x {n} x {k}, A {a_layout}, B {b_layout}", make_a(m, k), make_b(k, n))


def larger():
    a, b = normal(900, 700), normal(700, 500)
    product("larger", a, b)
    product("larger, np.dot", a, b, np.dot)
    product("larger, both transposed", b.T, a.T)
    product("much longer than wide", normal(4000, 30), normal(30, 20))
    product("inner dimension only", normal(4, 20000), normal(20000, 3))


def symmetric():
    a = normal(300, 200)
    product("A times its transpose", a, a.T)
    product("the transpose times A", a.T, a)


def vectors():
    a = normal(300, 200)
    product("matrix times vector", a, normal(200))
    product("vector times matrix", normal(300), a)
    product("matrix times strided vector", a, normal(200, 2)[:, 1])
    product("inner product", normal(5000), normal(5000))


def batches():
    product("batch", normal(6, 80, 90), normal(6, 90, 70))
    product("batch times one matrix", normal(6, 80, 90), normal(90, 70))
    product("one matrix times batch", normal(80, 90), normal(2, 3, 90, 70))
    product("batch of transposes", normal(6, 90, 80).transpose(0, 2, 1), normal(6, 90, 70))


def empty():
    for m, n, k in [(0, 5, 4), (5, 0, 4), (5, 4, 0), (0, 0, 0)]:
        product(f"{m} x {n} x {k}", normal(m, k), normal(k, n))


def not_finite():
    a, b = normal(140, 150), normal(150, 160)
    a[3, 5], a[7, 9], b[11, 13] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        product("NaN and infinity", a, b)
        a[:, 11] = 0
        product("infinity times zero", a, b)


def into_a_slice():
    """A result written into a part of a larger array leaves the rest of it alone."""
    a, b = normal(200, 150), normal(150, 180)
    around = np.full((210, 200), np.float32(-7))
    np.matmul(a, b, out=around[5:205, 9:189])
    check("into a slice", around[5:205, 9:189], a, b)
    around[5:205, 9:189] = -7
    if not np.all(around == -7):
        sys.exit("into a slice: entries outside the slice were written")


def threads():
    pairs = [(normal(150 + i, 200), normal(200, 140 + i)) for i in range(32)]
    with ThreadPoolExecutor(8) as pool:
        for i, (pair, c) in enumerate(zip(pairs, pool.map(lambda pair: pair[0] @ pair[1], pairs))):
            check(f"product {i} of 8 threads", c, *pair)


def main():
    require_numpy_from(sys.argv[1])
    for part in (layouts, larger, symmetric, vectors, batches, empty, not_finite, into_a_slice, threads):
        part()
    if sys.argv[2:3] == ["--save"]:
        np.savez(sys.argv[3], *results)
    if sys.argv[2:3] == ["--same"]:
        kept = list(np.load(sys.argv[3]).values())
        equal = [np.array_equal(c, d, equal_nan=True) for c, d in zip(results, kept)]
        if len(results) != len(kept) or not all(equal):
            sys.exit(f"{equal.count(False)} of {len(kept)} results differ from the run without the library")
    print(f"{len(results)} products are right")


if __name__ == "__main__":
    main()
