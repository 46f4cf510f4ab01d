"""What the tests of the command share: the programs under test, and a main that runs every check of a module."""

import json
import os
import signal
import subprocess
import sys
import traceback

SIZE = 128  # of client.c's products

PATHS = {name: os.environ[name] for name in (
    "TOOL", "TOOL_SIM", "PRELOAD", "PRELOAD_SIM", "LIBRARY_SIM", "BLAS", "CLIENT", "CLIENT_DOUBLE",
    "CLIENT_NONE", "CLIENT_INSIDE", "CLIENT_STATIC", "CLIENT_LINKED", "EXTENSION", "REFERENCES", "SET_LOCALE",
    "CUBLAS", "PAGES", "NM")}
SANITIZED = os.environ["SANITIZED"]


def call(*command, environment=None, text=None, timeout=60):
    """The finished process, standard output and error as text. A GPU of this machine is left alone."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("TILEBLAS_")}
    # The simulated device is slow to measure.
    variables.update({"TILEBLAS_START": "never", "TILEBLAS_CALIBRATE": "0", **(environment or {})})
    return subprocess.run([PATHS.get(word, word) for word in command], env=variables, input=text, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def run_json(*command, **settings):
    """The summary of `tileblas run --json`, which is the last line on standard error, and the process."""
    done = call("TOOL", "run", "--json", *command, **settings)
    lines = done.stderr.strip().splitlines()
    assert lines, f"no summary; status {done.returncode}"
    return json.loads(lines[-1]), done


def equal(found, expected, what=""):
    assert found == expected, f"{what} {found!r}, not {expected!r}"


def contains(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"


def end_by(number):
    """How subprocess tells of a process that the signal ended."""
    return -int(signal.Signals(number))


def main(checks):
    """Runs the functions of a module, in their order; those whose names begin with an underscore only help."""
    failures = 0
    functions = [f for name, f in checks.items()
                 if callable(f) and getattr(f, "__module__", "") == "__main__" and not name.startswith("_")]
    for function in functions:
        try:
            function()
        except Exception:  # whatever went wrong, the other checks are still of interest
            failures += 1
            print(f"FAILED: {function.__name__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{len(functions)} checks, {failures} failed")
    sys.exit(1 if failures or not functions else 0)
