"""`tileblas bench` measures, checks results, and tells who takes part."""

import json
import os

from tool import PATHS, SANITIZED, call, contains, equal, main

QUICK = ("--rounds", "2", "--seconds", "1")
BLAS = {"TILEBLAS_HOST_BLAS": PATHS["BLAS"]}


def host_and_tileblas_side_by_side():
    done = call("TOOL", "bench", "--json", *QUICK, "96", "64x32x128", environment=BLAS)
    equal(done.returncode, 0, done.stderr)
    contains(done.stderr, "1 of 2, 96x96x96", "2 of 2, 64x32x128")
    result = json.loads(done.stdout)
    equal([(row["m"], row["n"], row["k"]) for row in result["shapes"]], [(96, 96, 96), (64, 32, 128)])
    equal(result["contestants"]["host"], {"takes_part": True, "library": PATHS["BLAS"]})
    for row in result["shapes"]:
        for name in ("host", "tileblas"):
            timing = row["results"][name]
            equal((timing["right"], timing["rounds"]), (True, 2))
            assert 0 < timing["least_seconds"] <= timing["median_seconds"]
            flop = 2 * row["m"] * row["n"] * row["k"]
            assert abs(timing["gflops"] * 1e9 * timing["median_seconds"] / flop - 1) < 1e-6
    assert result["shapes"][0]["results"]["tileblas"]["plan"]
    equal(result["shapes"][1]["results"]["tileblas"]["plan"], None)
    words = call("TOOL", "bench", *QUICK, "96", environment=BLAS)
    contains(words.stdout, "host       " + PATHS["BLAS"], "tileblas   ", "cublas     ", "\n96x96x96 ")


def a_device_is_measured_when_it_is_there():
    done = call("TOOL_SIM", "bench", "--json", *QUICK, "--library", "LIBRARY_SIM", "96",
                environment={"TILEBLAS_ROUTE": "streamed", **BLAS})
    plan = json.loads(done.stdout)["shapes"][0]["results"]["tileblas"]["plan"]
    contains(plan, "streamed with")


def cublas_takes_part_when_it_is_installed():
    if SANITIZED != "no":
        return  # its stand-in is found by a search path that the sanitizers' libraries lie on as well
    environment = {"LD_LIBRARY_PATH": PATHS["CUBLAS"], **BLAS}
    done = call("TOOL", "bench", "--json", *QUICK, "96", "32x48x64", environment=environment)
    equal(done.returncode, 0, done.stderr)
    result = json.loads(done.stdout)
    equal(result["contestants"]["cublas"]["takes_part"], True)
    equal([row["results"]["cublas"]["right"] for row in result["shapes"]], [True, True])


def a_wrong_result_is_a_failure():
    if SANITIZED != "no":
        return
    environment = {"LD_LIBRARY_PATH": PATHS["CUBLAS"], "FIXTURE_CUBLAS_WRONG": "1", **BLAS}
    done = call("TOOL", "bench", *QUICK, "96", environment=environment)
    equal(done.returncode, 1)
    contains(done.stderr, "cublas: the result is wrong")
    contains(done.stdout, "WRONG")


def without_a_host_blas():
    done = call("TOOL", "bench", "--json", *QUICK, "64", environment={"TILEBLAS_HOST_BLAS": "/nonexistent"})
    equal(done.returncode, 0, done.stderr)
    result = json.loads(done.stdout)
    equal((result["contestants"]["host"]["takes_part"], "host" in result["shapes"][0]["results"]), (False, False))


def wrong_usage_is_2_and_no_library_1():
    for arguments in (("0",), ("10x10",), ("10x10x10x10",), ("x",), ("10y",), ("--rounds", "0"), ("--seconds", "-1")):
        equal(call("TOOL", "bench", *arguments).returncode, 2, str(arguments))
    equal(call("TOOL", "bench", "--library", "/nonexistent", "64").returncode, 1)
    equal(call("TOOL", "bench", "--library", PATHS["BLAS"], "64").returncode, 1)
    assert os.path.exists(PATHS["BLAS"])


if __name__ == "__main__":
    main(globals())
