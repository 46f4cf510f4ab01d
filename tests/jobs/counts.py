#!/usr/bin/env python3
"""counts.py COUNTER CALLER FRONT: what the counting preload of bench/jobs makes of calls whose number is known.

Results are those of the calls themselves, through the registers and the stack; calls within calls are not
counted again; calls from objects without a BLAS of their own, other threads and forked children are counted.
"""

import ctypes
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/jobs"))
import start

PRODUCT = 0.5 * 2 * 3 * (1 + 2 + 3 + 4 + 5 + 6) + 0.25  # of fixture.c
ALL = 3 * PRODUCT + 2 * 2 + 1
OVERLAP = 200000  # microseconds, which a call takes; a short one comes and goes meanwhile


def make_calls(caller, front):
    front, caller = ctypes.CDLL(front), ctypes.CDLL(caller)
    front.front_calls.restype = caller.call.restype = ctypes.c_double
    assert front.front_calls() == ALL
    assert caller.call(front.front_dgemm) == PRODUCT
    assert front.front_calls_elsewhere(ctypes.c_double(ALL)) == 0
    front.front_overlap(OVERLAP)


def main():
    if sys.argv[1] == "--calls":
        make_calls(*sys.argv[2:])
        return
    counter, *objects = sys.argv[1:]
    command = [sys.executable, __file__, "--calls", *objects]
    subprocess.run(command, check=True)
    # 16: three in each of five places, of which three are threads and one is a forked child, and one by a jump.
    run, counts = start.count(command, counter)
    assert run.status == 0, run
    found = {name: (routine["kind"], routine["calls"]) for name, routine in counts["routines"].items()}
    assert found == {"dgemm": (start.LEVEL3, 16), "dgesv": (start.LAPACK, 5), "dpotrf": (start.LAPACK, 2)}, found
    threads = sum(routine["seconds"] for routine in counts["routines"].values())
    assert 0 < counts["level3"] <= counts["either"] and 0 < counts["lapack"] <= counts["either"] <= threads, counts
    assert min(counts["lapack"], counts["either"]) >= 1e-6 * OVERLAP, counts
    # Without a file to count in, calls go where they went.
    with_counter = {**os.environ, "LD_PRELOAD": counter}
    subprocess.run(command, check=True, env=with_counter)
    bare = {
        "scipy_cblas_dgemm64_": "dgemm",
        "cblas_sgemm_64": "sgemm",
        "dgemm_batch_strided_": "dgemm_batch_strided",
        "LAPACKE_dgesv64_": "dgesv",
        "scipy_zherk_64_": "zherk",
        "dsyr2k_": "dsyr2k",
    }
    for symbol, name in bare.items():
        assert start.bare_name(symbol) == name, symbol
    kinds = [start.kind_of(symbol) for symbol in ("cblas_dgemm_batch_strided", "dtrsm_", "dtrtrs_", "scipy_dsytrf_")]
    assert kinds == [start.LEVEL3, start.LEVEL3, start.LAPACK, start.LAPACK], kinds


main()
