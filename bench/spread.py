#!/usr/bin/env python3
"""Errors of double-precision products against how different the operands' magnitudes are: of FP64 units, of fixed numbers
of moduli, and of dgemm_crt, whose survey chooses the number (docs/precision.md, "Double precision from integers").

    bench/spread.py --library build/libtileblas.so --json build/gpu-results/spread.json
    bench/spread.py --without-gpu --size 256 --json FILE
    bench/pictures.py spread build/gpu-results/spread.json docs/spread.png

Numbers are (u - 1/2) exp(spread N), u uniform in 0..1, N normal, the same u and N for every spread. Errors are the
largest and the rms of a sample of C, in u d, u = 2^-53, d = |A||B|.

With a GPU, native is cuBLAS (PyTorch's), and dgemm_crt is the library. Without one native is NumPy, and dgemm_crt is
simulated. Fixed numbers of moduli always are, as the library has no such rows. A simulation rounds numbers to multiples
of their line's quantum and sums products exactly, which is what residues do. `as_simulated` counts the sampled elements
in which the library and the simulation of its survey have the same bits.

A line is a row of A or a column of B; operands are arrays of lines. The size has to be one where the forecast of
dgemm_crt lets it have all the moduli that it asks for: with n = 1024 and k = 4096 FP64 units are faster than 14.
"""
import argparse
import ctypes
import json
import math
import os

import numpy

K = 4096
SPREADS = (0, 0.25, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 6, 8)
FIXED = (14, 16, 18)
SAMPLE = 48
ROUNDOFF = 2.0**-53

# kernels/crt: moduli.cuh, survey.cuh and decide.cuh.
MODULI = (256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191)
MORE_MODULI = (181,)  # of fixed numbers
SHARE_OF_PRODUCT, BITS_MOST = 0.47, 63
LOGARITHM_UNITS, LOGARITHM_ERROR = 128, 0.0861
SHARES_OF_ERROR, SPARE_BITS, ROUNDING = (1 / 64, 0.17), 0.25, 1e-3

# Values of cblas.h.
COLUMN_MAJOR, AS_IT_IS, TRANSPOSED = 102, 111, 112


class Operand:
    """What numbers of any spread are made of. Every other third has its very last bit, of 53. NumPy's uniform numbers
    have at most 52, and would be taken as numbers of few bits."""

    def __init__(self, generator, size):
        self.uniform = generator.uniform(-1, 1, (size, K)) / 3
        self.normal = generator.standard_normal((size, K))

    def lines(self, spread):
        return self.uniform * numpy.exp(spread * self.normal)


def sampled(lines):
    return lines[numpy.linspace(0, len(lines) - 1, SAMPLE).astype(int)]


# ---- sums ---------------------------------------------------------------------------------------------------------


def halves(x):
    """Two summands of 26 bits (Veltkamp)."""
    upper = x * 134217729.0
    upper = upper - (upper - x)
    return upper, x - upper


def multiply_exactly(a, b):
    """All products of lines, each as two doubles that add up to it but for k^2 2^-106 d (Dekker; Ogita, Rump, Oishi)."""
    lines = [numpy.ascontiguousarray(half.T) for x in (a, b) for half in (x, *halves(x))]
    total, rest = numpy.zeros((len(a), len(b))), numpy.zeros((len(a), len(b)))
    for x, x_upper, x_lower, y, y_upper, y_lower in zip(*lines):
        x, x_upper, x_lower = x[:, None], x_upper[:, None], x_lower[:, None]
        product = x * y
        rest += ((x_upper * y_upper - product) + x_upper * y_lower + x_lower * y_upper) + x_lower * y_lower
        before = total
        total = before + product
        added = total - before
        rest += (before - (total - added)) + (product - added)
    upper = total + rest
    return upper, rest - (upper - total)


# ---- integers -----------------------------------------------------------------------------------------------------


def bits_of_moduli(count):
    """What sums of products of integers may have."""
    return math.log2(SHARE_OF_PRODUCT) + sum(math.log2(modulus) for modulus in (MODULI + MORE_MODULI)[:count])


def norms(lines):
    return numpy.log2(numpy.sqrt((lines * lines).sum(axis=1)))


def round_to(lines, quanta):
    return numpy.ldexp(numpy.rint(numpy.ldexp(lines, -quanta[:, None])), quanta[:, None])


def multiply_integers(a, b, quanta_a, quanta_b):
    return multiply_exactly(round_to(a, quanta_a), round_to(b, quanta_b))[0]


def fixed_quanta(lines, moduli):
    """The finest with which no sum can leave what so many moduli carry, as |a||b| bounds it (Cauchy and Schwarz)."""
    return numpy.ceil(norms(lines) - bits_of_moduli(moduli) / 2).astype(int)


class Survey:
    """What dgemm_crt finds out about lines of numbers that are not zero, and some of which have more than 52 bits."""

    def __init__(self, lines):
        uppers = (lines.view(numpy.int64) >> 32 & 0x7FFFFFFF) / 2.0**13  # logarithms in units of 1/128
        units = numpy.floor(uppers.max(axis=1))
        self.norm = norms(lines)
        self.largest = units / LOGARITHM_UNITS - 1023
        self.deficit = (units - uppers.mean(axis=1)) / LOGARITHM_UNITS + LOGARITHM_ERROR  # of each number
        self.spread = (self.deficit + self.norm - self.largest).max()

    def quanta(self, share, other_spread):
        """Of the lines; and the bits of the longest, taken as multiples of them."""
        finest = math.log2(share * K * ROUNDOFF) - other_spread
        quanta = numpy.rint(finest + self.largest - self.deficit).astype(int)
        return quanta, (self.norm - quanta).max()


def count_moduli(bits_a, bits_b):
    """0 where there is no room for integers of so many bits."""
    enough = [n for n in range(1, len(MODULI) + 1) if bits_a + bits_b + 2 * ROUNDING <= bits_of_moduli(n)]
    return enough[0] if enough and max(bits_a, bits_b) + ROUNDING < BITS_MOST else 0


def decide(a, b):
    """The number of moduli, 0 where FP64 units multiply, the share of error, and both operands' quanta."""
    survey_a, survey_b = Survey(a), Survey(b)
    for share in SHARES_OF_ERROR:
        quanta_a, bits_a = survey_a.quanta(share, survey_b.spread + SPARE_BITS)
        quanta_b, bits_b = survey_b.quanta(share, survey_a.spread)
        moduli = count_moduli(bits_a, bits_b)
        if moduli:
            break
    return moduli, share if moduli else None, quanta_a, quanta_b


# ---- who multiplies -----------------------------------------------------------------------------------------------


class Host:
    name, native, chosen = "", "NumPy", None

    def multiply(self, a, b):
        """Samples of C, by name."""
        return {self.native: sampled(sampled(a @ b.T).T).T}


class Device:
    native = "cuBLAS DGEMM"

    def __init__(self, library, kernel):
        os.environ |= {"TILEBLAS_KERNEL": kernel, "TILEBLAS_ROUTE": "resident", "TILEBLAS_START": "wait"}
        import torch

        self.torch = torch
        self.name = torch.cuda.get_device_name()
        self.chosen = kernel
        self.library = ctypes.CDLL(library)

    def multiply(self, a, b):
        a, b = (self.torch.from_numpy(lines).cuda() for lines in (a, b))
        columns = self.torch.full((len(b), len(a)), math.nan, dtype=a.dtype, device=a.device)  # of C
        native = self.torch.matmul(a, b.T)
        self.torch.cuda.synchronize()
        self.call(a, b, columns)
        return {name: sampled(sampled(c.cpu().numpy()).T).T
                for name, c in ((self.native, native), (self.chosen, columns.T))}

    def call(self, a, b, columns):
        one, zero = ctypes.c_double(1), ctypes.c_double(0)
        m, n, k = (ctypes.c_int(extent) for extent in (len(a), len(b), K))
        at = lambda x: ctypes.c_void_p(x.data_ptr())
        self.library.cblas_dgemm(COLUMN_MAJOR, TRANSPOSED, AS_IT_IS, m, n, k, one, at(a), k, at(b), k, zero, at(columns),
                                 m)
        plan = ctypes.create_string_buffer(256)
        self.library.tileblas_last_plan(plan, ctypes.c_size_t(len(plan)))
        if self.chosen not in plan.value.decode():
            raise SystemExit(f"spread: the product was not by {self.chosen}: {plan.value.decode()}")


def measure(machine, operands, spread):
    """An entry of the results."""
    a, b = (operand.lines(spread) for operand in operands)
    moduli, share, quanta_a, quanta_b = decide(a, b)
    products = machine.multiply(a, b)
    a, b = sampled(a), sampled(b)
    for count in FIXED:
        products[f"{count} moduli"] = multiply_integers(a, b, fixed_quanta(a, count), fixed_quanta(b, count))
    entry = {"spread": spread, "moduli": moduli, "share": share}
    simulated = products[machine.native]
    if moduli:
        simulated = multiply_integers(a, b, sampled(quanta_a), sampled(quanta_b))
    if machine.chosen is None:
        products["dgemm_crt, simulated"] = simulated
    elif moduli:
        entry["as_simulated"] = int((products[machine.chosen] == simulated).sum())
    upper, lower = multiply_exactly(a, b)
    unit = ROUNDOFF * (numpy.abs(a) @ numpy.abs(b).T)
    entry["errors"] = {}
    for name, c in products.items():
        errors = numpy.abs((c - upper) - lower) / unit
        entry["errors"][name] = {"maximum": float(errors.max()), "rms": float(math.sqrt((errors * errors).mean()))}
    return entry


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", default="build/libtileblas.so")
    parser.add_argument("--kernel", default="dgemm_crt_sm90")
    parser.add_argument("--without-gpu", action="store_true")
    parser.add_argument("--size", type=int, default=2048, help="m and n (default 2048)")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    machine = Host() if arguments.without_gpu else Device(arguments.library, arguments.kernel)
    generator = numpy.random.default_rng(1)
    operands = [Operand(generator, arguments.size) for _ in "ab"]
    products = []
    for spread in SPREADS:
        entry = measure(machine, operands, spread)
        products.append(entry)
        errors = ", ".join(f"{name} {of['rms']:.3g} {of['maximum']:.3g}" for name, of in entry["errors"].items())
        choice = f"{entry['moduli']}, {entry['share']:.3f}" if entry["moduli"] else "native"
        print(f"{spread:5g}  {choice:>9} {entry.get('as_simulated', ''):>5}  {errors}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"gpu": machine.name, "m": arguments.size, "n": arguments.size, "k": K, "sample": SAMPLE**2,
                       "products": products}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
