#!/usr/bin/env python3
"""Counts what the register file has to deliver to the FMAs of a kernel, as the assembler made it.

    bench/banks.py FILE.cubin [--names REGULAR_EXPRESSION]

A line for each kernel: its FMAs; how many of them read two registers or more from one of the two banks (even and odd registers);
and the cycles that reading takes at one register a bank and cycle. An operand marked .reuse is kept for the same place of
the next instruction, if that is an FMA, and need not be read again there. Cycles over FMAs tell versions of a kernel apart; they
are no forecast, since warps hide part of it.

The file is what `nvcc -cubin -gencode arch=compute_90a,code=sm_90a` makes of one of kernels/simt/*.cu; nvdisasm is of the CUDA toolkit.
"""
import argparse
import re
import subprocess
import sys

SECTION = re.compile(r"\s*\.section\s+\.text\.([A-Za-z0-9_]+)\s*,")
FMA = re.compile(r"FFMA R\d+, (R\d+)(\.reuse)?, (R\d+)(\.reuse)?, (R\d+)")
INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s")


def cycles_of(operands, kept):
    """Cycles of reading an FMA's three operands but for those that were kept for their places."""
    banks = [int(name[1:]) % 2 for place, name in enumerate(operands) if kept.get(place) != name]
    return max(banks.count(0), banks.count(1), 1)


def count(lines):
    """{kernel: (FMAs, FMAs of more than one cycle, cycles)}"""
    kernels, name, kept = {}, None, {}
    for line in lines:
        section = SECTION.match(line)
        if section:
            name, kept = section.group(1), {}
            kernels[name] = [0, 0, 0]
        if name is None or not INSTRUCTION.match(line):
            continue
        fma = FMA.search(line)
        if not fma:
            kept = {}
            continue
        operands = (fma.group(1), fma.group(3), fma.group(5))
        cycles = cycles_of(operands, kept)
        kernels[name] = [sum(pair) for pair in zip(kernels[name], (1, cycles > 1, cycles))]
        kept = {place: operands[place] for place in (0, 1) if fma.group(2 + 2 * place)}
    return kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cubin")
    parser.add_argument("--names", default="", help="only kernels whose name this finds")
    parser.add_argument("--nvdisasm", default="nvdisasm", help="where it is, unless on the PATH")
    arguments = parser.parse_args()
    try:
        text = subprocess.run([arguments.nvdisasm, "-c", arguments.cubin], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"banks.py: {error}")
    for name, (fmas, slow, cycles) in count(text.stdout.splitlines()).items():
        if fmas and re.search(arguments.names, name):
            print(f"{name:40} {fmas:5} FMAs, {slow:4} with two operands of a bank, {cycles:5} cycles, {cycles / fmas:.2f} each")


if __name__ == "__main__":
    main()
