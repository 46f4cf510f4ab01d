"""A product that is asked about, in the words of the command: from arrays as NumPy would multiply them, or from a routine's
name and the type of its numbers."""

import operator
import re

LETTERS = {"float32": "s", "single": "s", "float64": "d", "double": "d", "float": "d",
           "complex64": "c", "complex128": "z", "complex": "z"}
# A name without the type of its numbers begins with the kind of the matrix: general, symmetric, Hermitian or triangular.
BARE = re.compile("ge|sy|he|tr", re.IGNORECASE)


def letter_of(dtype):
    """s, d, c or z: of a name, of NumPy's types and their classes, of Python's float and complex."""
    name = getattr(dtype, "__name__", None) or str(dtype)
    letter = LETTERS.get(name.rpartition(".")[2])
    if not letter:
        raise ValueError(f"no matrix product of {name} is taken over; of float32, float64, complex64 and complex128 they are")
    return letter


def words_for_extents(extents, routine, dtype):
    """Says M, N and K as the routine has them. Numbers are float64 unless the routine's name or dtype says otherwise."""
    try:
        sizes = [str(operator.index(extent)) for extent in extents if extent is not None]
    except TypeError:
        raise TypeError("explain takes whole numbers m, n and k, or two arrays a and b as in a @ b") from None
    if any(size.startswith("-") for size in sizes):
        raise ValueError(f"sizes are whole numbers from 0, and not {' x '.join(sizes)}")
    if not routine or BARE.match(routine):
        routine = ("d" if dtype is None else letter_of(dtype)) + (routine or "gemm")
    elif dtype is not None and routine[0].lower() != letter_of(dtype):
        raise ValueError(f"{routine} is no routine of {dtype}")
    return [*sizes, f"--routine={routine}"]


def words_for_arrays(a, b):
    """a @ b as NumPy calls BLAS. It has rows one behind the other where Fortran has columns, so that b is the call's first operand,
    and m is its n; what is transposed or lies column by column is transposed for BLAS, and not copied."""
    m, k, n = _extents_of(a, b)
    letter = _letter_of_both(a, b)
    a_flipped, a_leading = _layout(a, letter)
    b_flipped, b_leading = _layout(b, letter)
    if _is_transpose(a, b) and a_flipped != b_flipped:
        return [str(m), str(k), f"--routine={letter}syrk", f"--transa={'N' if a_flipped else 'T'}", f"--lda={a_leading}"]
    return [str(n), str(m), str(k), f"--routine={letter}gemm", f"--transa={'T' if b_flipped else 'N'}",
            f"--transb={'T' if a_flipped else 'N'}", f"--lda={b_leading}", f"--ldb={a_leading}"]


def describe(a, b):
    """"(200, 300) @ (300, 100)"."""
    return f"{tuple(a.shape)} @ {tuple(b.shape)}"


def _extents_of(a, b):
    for array in (a, b):
        dimensions = len(array.shape)
        if dimensions == 1:
            raise ValueError(f"{describe(a, b)}: a product with a vector is no matrix product, and stays with the program's BLAS")
        if dimensions != 2:
            raise ValueError(f"{describe(a, b)}: both have two dimensions; NumPy multiplies a stack one matrix after the other")
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"{describe(a, b)}: {a.shape[1]} columns do not go with {b.shape[0]} rows")
    m, k, n = (int(extent) for extent in (*a.shape, b.shape[1]))
    if m == 0 or n == 0:
        raise ValueError(f"{describe(a, b)} has no elements: nothing is computed")
    return m, k, n


def _letter_of_both(a, b):
    """NumPy converts to what holds both."""
    letters = {letter_of(a.dtype), letter_of(b.dtype)}
    is_double, is_complex = bool(letters & {"d", "z"}), bool(letters & {"c", "z"})
    return {(False, False): "s", (True, False): "d", (False, True): "c", (True, True): "z"}[is_double, is_complex]


def _layout(array, letter):
    """Whether the matrix lies column by column, and the leading dimension. One that lies neither way, or has numbers of another type
    than the product's, is copied row by row."""
    rows, columns = (int(extent) for extent in array.shape)
    strides, size = getattr(array, "strides", None), getattr(array, "itemsize", 0)
    if isinstance(strides, tuple) and size and letter_of(array.dtype) == letter:
        down, along = strides
        if along == size and down % size == 0 and down >= columns * size:
            return False, down // size
        if down == size and along % size == 0 and along >= rows * size:
            return True, along // size
    return False, max(columns, 1)


def _is_transpose(a, b):
    """Whether b is a.T, of which NumPy computes one triangle."""
    places = [getattr(array, "__array_interface__", {}).get("data") for array in (a, b)]
    return (places[0] is not None and places[0] == places[1] and a.shape == b.shape[::-1] and a.dtype == b.dtype and
            a.strides == b.strides[::-1])
