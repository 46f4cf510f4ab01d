"""A program that brings its own CUDA: cudart and cuBLAS, opened by name, multiply on the device in one thread while
NumPy multiplies in another. Neither may disturb the other: context, streams, memory and results are each one's own.

usage: numpy_own_cuda.py pip|debian
"""

import ctypes
import glob
import sys
import threading

from checks import SKIPPED, check, np, require_numpy_from

ROUNDS = 20
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind
NOT_TRANSPOSED = 0  # cublasOperation_t


def _open(name):
    """The newest of that name, where the loader or the toolkit has it; the test is skipped where there is none."""
    places = sorted(glob.glob(f"/usr/local/cuda*/lib64/lib{name}.so.[0-9]*"), reverse=True)
    for place in [f"lib{name}.so", f"lib{name}.so.13", f"lib{name}.so.12", *places]:
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    print(f"skipped: there is no lib{name}")
    sys.exit(SKIPPED)


def _require(status, what):
    if status != 0:
        raise RuntimeError(f"{what} answered {status}")


class Device:
    """The program's own use of the device: matrices in column-major order, as cuBLAS takes them."""

    def __init__(self):
        self.cudart, self.cublas = _open("cudart"), _open("cublas")
        count = ctypes.c_int()
        if self.cudart.cudaGetDeviceCount(ctypes.byref(count)) != 0 or count.value == 0:
            print("skipped: there is no GPU")
            sys.exit(SKIPPED)
        self.handle = ctypes.c_void_p()
        _require(self.cublas.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")

    def put(self, matrix):
        address = ctypes.c_void_p()
        _require(self.cudart.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(matrix.nbytes)), "cudaMalloc")
        source = matrix.ctypes.data_as(ctypes.c_void_p)
        _require(self.cudart.cudaMemcpy(address, source, ctypes.c_size_t(matrix.nbytes), TO_DEVICE), "cudaMemcpy")
        return address

    def multiply(self, a, b):
        m, k, n = a.shape[0], a.shape[1], b.shape[1]
        c = np.full((m, n), np.nan, dtype=np.float32, order="F")
        matrices = [self.put(matrix) for matrix in (a, b, c)]
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        _require(self.cublas.cublasSgemm_v2(
            self.handle, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, ctypes.byref(one), matrices[0], m, matrices[1], k,
            ctypes.byref(zero), matrices[2], m), "cublasSgemm")
        target = c.ctypes.data_as(ctypes.c_void_p)
        _require(self.cudart.cudaMemcpy(target, matrices[2], ctypes.c_size_t(c.nbytes), TO_HOST), "cudaMemcpy")
        for matrix in matrices:
            _require(self.cudart.cudaFree(matrix), "cudaFree")
        return c

    def close(self):
        _require(self.cublas.cublasDestroy_v2(self.handle), "cublasDestroy")


def _operands(seed, order):
    random = np.random.default_rng(seed)
    shapes = ((300, 500), (500, 400))
    return [np.asarray(random.standard_normal(shape, dtype=np.float32), order=order) for shape in shapes]


def _use_device(device, failures):
    try:
        for seed in range(ROUNDS):
            a, b = _operands(seed, "F")
            check(f"cuBLAS product {seed}", device.multiply(a, b), a, b)
    except (Exception, SystemExit) as failure:  # whatever it is, the test must not pass
        failures.append(f"{type(failure).__name__}: {failure}")


def main():
    require_numpy_from(sys.argv[1])
    device = Device()
    failures = []
    other = threading.Thread(target=_use_device, args=(device, failures))
    other.start()
    for seed in range(100, 100 + ROUNDS):
        a, b = _operands(seed, "C")
        check(f"NumPy product {seed}", a @ b, a, b)
    other.join()
    if failures:
        sys.exit(failures[0])
    device.close()
    a, b = _operands(200, "C")
    check("NumPy product after cuBLAS was closed", a @ b, a, b)
    print("the program's own CUDA and NumPy's products are right beside each other")


if __name__ == "__main__":
    main()
