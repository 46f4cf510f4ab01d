"""Products in every layout that NumPy hands to its BLAS, each held against sums without BLAS.

usage: numpy_products.py pip|debian float32|float64|complex64|complex128 [--save FILE | --same FILE]

--save keeps the results; --same demands the very bits that another run kept.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from checks import check, compare, expected, normal_numbers, np, require_numpy_from

ELEMENT = np.dtype(sys.argv[2])
random = np.random.default_rng(7)
results = []


def normal(*shape):
    return normal_numbers(random, shape, ELEMENT)


def moved(matrix):
    """The same matrix, at an address that is one element off NumPy's alignment."""
    buffer = np.empty(matrix.size + 1, dtype=ELEMENT)
    return within(buffer[1:].reshape(matrix.shape), matrix)


def within(part, matrix):
    """The part of a larger array, with the matrix in it."""
    part[...] = matrix
    return part


def sliced(matrix):
    m, n = matrix.shape
    return within(normal(m + 3, n + 5)[2 : 2 + m, 3 : 3 + n], matrix)


# Ways for a matrix to lie in memory. BLAS takes them as they are, but for those that NumPy copies first.
COPIED = ("every second", "reversed")
LAYOUTS = {
    "C order": np.copy,
    "F order": np.asfortranarray,
    "slice": sliced,
    "transposed slice": lambda x: sliced(x.T).T,
    "off by an element": moved,
    "every second": lambda x: within(normal(2 * len(x), 3 * len(x.T))[::2, ::3], x),
    "reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
}
SHAPES = [(1, 1, 1), (3, 5, 7), (64, 64, 64), (1, 300, 200), (257, 1, 129), (255, 129, 66), (130, 257, 700)]


def product(name, a, b, multiply=np.matmul, expectation=None):
    c = multiply(a, b)
    compare(name, c, expectation or expected(a, b))
    results.append(np.array(c))


def layouts():
    for m, n, k in SHAPES:
        a, b = normal(m, k), normal(k, n)
        expectation = expected(a, b)
        for a_layout, lay_a in LAYOUTS.items():
            for b_layout, lay_b in LAYOUTS.items():
                name = f"{m} x {n} x {k}, A {a_layout}, B {b_layout}"
                product(name, lay_a(a), lay_b(b), expectation=expectation)


def larger():
    a, b = normal(900, 700), normal(700, 500)
    expectation = expected(a, b)
    product("larger", a, b, expectation=expectation)
    product("larger, np.dot", a, b, np.dot, expectation)
    element, wanted, bound = expectation
    product("larger, both transposed", b.T, a.T, expectation=(element, wanted.T, bound.T))
    product("much longer than wide", normal(4000, 30), normal(30, 20))
    product("inner dimension only", normal(4, 20000), normal(20000, 3))


def symmetric():
    """NumPy has SYRK compute one half of a product with the own transpose, and fills in the other."""
    for m, k in [(5, 3), (70, 1), (1, 70), (64, 64), (40, 900), (300, 200)]:
        values = normal(m, k)
        expectation = expected(values, values.T)
        for layout, lay in LAYOUTS.items():
            a = lay(values)
            for multiply in (np.matmul, np.dot):
                name = f"A times its transpose, {m} x {k}, A {layout}, {multiply.__name__}"
                product(name, a, a.T, multiply, expectation)
                # GEMM computes both halves of a copy; and np.dot copies what is no whole array.
                if multiply is np.matmul and layout not in COPIED and not np.array_equal(results[-1], results[-1].T):
                    sys.exit(f"{name}: the halves differ")
    a = normal(80, 90)
    a[3, 5], a[7, 9] = np.nan, np.inf
    product("NaN and infinity times the transpose", a, a.T)
    around = np.full((90, 100), ELEMENT.type(-7))
    np.matmul(a, a.T, out=around[5:85, 9:89])
    check("A times its transpose, into a slice", around[5:85, 9:89], a, a.T)
    around[5:85, 9:89] = -7
    if not np.all(around == -7):
        sys.exit("A times its transpose, into a slice: entries outside the slice were written")


def conjugated():
    a, b = normal(130, 90), normal(70, 90)
    product("times the conjugate transpose", a, b.conj().T)
    product("conjugate transpose times", a.conj().T, normal(130, 40))
    product("times the own conjugate transpose", a, a.conj().T)


def contracted():
    """What tensordot and einsum make products of."""
    a, b = normal(20, 30, 40), normal(30, 40, 25)
    expectation = expected(a.reshape(20, 1200), b.reshape(1200, 25))
    product("tensordot", a, b, lambda x, y: np.tensordot(x, y, ([1, 2], [0, 1])), expectation)
    product("einsum", a, b, lambda x, y: np.einsum("ijk,jkl->il", x, y, optimize=True), expectation)


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
    around = np.full((210, 200), ELEMENT.type(-7))
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
    for part in (layouts, larger, symmetric, conjugated, contracted, vectors, batches, empty, not_finite, into_a_slice, threads):
        part()
    if sys.argv[3:4] == ["--save"]:
        np.savez(sys.argv[4], *results)
    if sys.argv[3:4] == ["--same"]:
        kept = list(np.load(sys.argv[4]).values())
        equal = [np.array_equal(c, d, equal_nan=True) for c, d in zip(results, kept)]
        if len(results) != len(kept) or not all(equal):
            sys.exit(f"{equal.count(False)} of {len(kept)} results differ from the run without the library")
    print(f"{len(results)} products are right")


if __name__ == "__main__":
    main()
