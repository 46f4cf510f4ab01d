"""Runs a suite of tests that others wrote for their own library, and holds TileBLAS to it.

usage: suite.py SUITE plain|host|streamed|gpu|system FOLDER

With SUITE_WHOLE=1 in the environment all of a suite is run, otherwise the part that its row names (scripts/suites.sh).

plain       without TileBLAS: the yardstick, kept in FOLDER
host        preloaded, every product handed to the program's own BLAS
streamed    preloaded, every product of whatever size on the simulated device
gpu         the same on this machine's GPU
system      with TileBLAS in the place of libblas.so.3, every product handed on to the BLAS that it finds

A test that fails on the yardstick too, and no more often there, is named and does not count. Whoever runs the suite
on TileBLAS must have got there: its own count of calls is the proof. Suites are rows of the tables in netlib.py, octave.py
and python_packages.py; the environment says where their parts are (see CMakeLists.txt).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict, namedtuple

SKIPPED = 77  # what CTest is told to take for "cannot run here"
# Routines of LAPACK's that are taken over, which some libraries leave to others.
LAPACK = ("potrf", "potrs", "posv", "potri", "getrf", "getrs", "gesv", "getri", "trtrs", "trtri",
          "geqrf", "orgqr", "ungqr", "ormqr", "unmqr", "gelqf", "orglq", "unglq", "gels")

# What came of one named group of tests: how many were run, and how many of them failed.
Outcome = namedtuple("Outcome", "run failed")


class CannotRun(Exception):
    """What the suite needs is not on this machine."""


def tileblas_environment(route, statistics):
    """What preloads TileBLAS, or nothing but its options, for a route."""
    if route == "plain":
        return {}
    common = {"TILEBLAS_STATS": "json", "TILEBLAS_STATS_FILE": statistics, "TILEBLAS_CALIBRATE": "0"}
    if route == "host":
        return common | {"LD_PRELOAD": os.environ["SUITE_PRELOAD"], "TILEBLAS_ROUTE": "host"}
    if route in ("streamed", "gpu"):
        library = os.environ["SUITE_PRELOAD_SIM" if route == "streamed" else "SUITE_PRELOAD"]
        return common | {"LD_PRELOAD": library, "TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}
    return common | {"TILEBLAS_ROUTE": "host"}


def count_gpus(environment):
    """Asks the command, which opens the GPU as a program would."""
    told = subprocess.run([os.environ["SUITE_TOOL"], "info", "--json"], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE)
    machine = json.loads(told.stdout)
    if not machine["devices"]:
        raise CannotRun(f"there is no GPU: {machine['no_device']}")
    return len(machine["devices"])


def counted_calls(statistics):
    """Calls by route and routine, over all processes of the suite."""
    calls = defaultdict(Counter)
    if os.path.exists(statistics):
        with open(statistics, encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                for routine, routes in event.get("routines", {}).items():
                    for route, tally in routes.items():
                        calls[route][routine] += tally["calls"]
    return calls


def compare(outcomes, yardstick):
    """What is wrong with the outcomes, in words; prints what fails on the yardstick as well."""
    complaints = []
    for name, plain in yardstick.items():
        if name not in outcomes:
            complaints.append(f"{name}: did not run, or did not come to an end")
            continue
        outcome = outcomes[name]
        if outcome.run != plain.run:
            complaints.append(f"{name}: {outcome.run} tests were run, and {plain.run} without TileBLAS")
        elif outcome.failed > plain.failed:
            complaints.append(f"{name}: {outcome.failed} of {outcome.run} failed, and {plain.failed} without TileBLAS")
        elif outcome.failed:
            print(f"fails without TileBLAS too, and is not counted: {name}, {outcome.failed} of {outcome.run}")
    return complaints


def merged(yardsticks):
    """Of several runs without TileBLAS, the one in which most failed, for each name that all of them have."""
    names = set.intersection(*map(set, yardsticks))
    return {name: max((y[name] for y in yardsticks), key=lambda o: o.failed) for name in sorted(names)}


def totals(outcomes):
    failed = sum(outcome.failed for outcome in outcomes.values())
    return f"{sum(outcome.run for outcome in outcomes.values()) - failed} passed, {failed} failed"


def main():
    # Here and not above, because they take Outcome and CannotRun from this file.
    import netlib
    import octave
    import python_packages
    import scalapack

    name, route, folder = sys.argv[1:]
    suite = (netlib.SUITES | octave.SUITES | python_packages.SUITES | scalapack.SUITES)[name]
    whole = os.environ.get("SUITE_WHOLE") == "1"
    suite = suite if whole or not suite.part else suite.part
    yardstick_path = os.path.join(folder, name + (".whole.json" if whole else ".json"))
    with tempfile.TemporaryDirectory() as work:
        statistics = os.path.join(work, "statistics")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TILEBLAS_", "LD_PRELOAD"))}
        environment |= {"OPENBLAS_NUM_THREADS": "1"}
        try:
            if route == "gpu":
                count_gpus(environment)
            environment |= tileblas_environment(route, statistics)
            runs = suite.run(route, work, environment)
        except CannotRun as reason:
            print(f"skipped: {reason}")
            return SKIPPED
        calls = counted_calls(statistics)

    outcomes = merged(runs)
    if not outcomes:
        print("no test came to an end")
        return 1
    if route == "plain":
        with open(yardstick_path, "w", encoding="utf-8") as file:
            json.dump(outcomes, file)
        for test, outcome in outcomes.items():
            if outcome.failed:
                print(f"fails without TileBLAS: {test}, {outcome.failed} of {outcome.run}")
        print(f"{name}, without TileBLAS: {totals(outcomes)}")
        return 0

    with open(yardstick_path, encoding="utf-8") as file:
        yardstick = {test: Outcome(*outcome) for test, outcome in json.load(file).items()}
    complaints = compare(outcomes, yardstick)
    expected = "streamed" if route in ("streamed", "gpu") else "host"
    for routine, least in suite.calls.items():
        # What stands in for libblas.so.3 has none of these.
        least = 0 if route == "system" and routine.endswith(LAPACK) else least
        if calls[expected][routine] < least:
            complaints.append(f"only {calls[expected][routine]} calls of {routine} took the {expected} route, not the {least} "
                              "expected")
    declined = set(getattr(suite, "declined", ()))
    for stranger in calls.keys() - {expected}:
        strangers = {name: count for name, count in calls[stranger].items() if stranger != "host" or name not in declined}
        if strangers:
            complaints.append(f"{sum(strangers.values())} calls took the {stranger} route")
    print("\n".join(complaints))
    counted = ", ".join(f"{count} calls of {routine}" for routine, count in sorted(calls[expected].items()))
    print(f"{name}, {route}: {totals(outcomes)}; {counted} on the {expected} route")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.modules["suite"] = sys.modules["__main__"]
    sys.exit(main())
