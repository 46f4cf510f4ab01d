"""Octave's own tests of linear algebra, of those functions whose tests multiply matrices.

They are comments in its functions' files, which the distribution installs; those of the built-in ones lie in a folder of
Octave's. The libraries under it are arranged as they are for Netlib's testers, so that LAPACK's products come by too.
"""

import os
import re
import subprocess

import netlib
from suite import CannotRun, Outcome

NO_TESTS = 3  # the script's exit status
RESULT = re.compile(r"tests of (\S+): (\d+) of (\d+)$", re.MULTILINE)


class Functions:
    """Files of tests; see octave_tests.m."""

    part = None

    def __init__(self, names, calls):
        self.names, self.calls = names, calls

    def run(self, route, work, environment):
        octave = os.environ["SUITE_OCTAVE"]
        if not os.path.exists(octave):
            raise CannotRun("there is no octave-cli")
        return [self._run_once(octave, folder, environment | {"LD_LIBRARY_PATH": folder})
                for folder, _ in netlib.make_libraries(route, work)]

    def _run_once(self, octave, folder, environment):
        script = os.path.join(os.path.dirname(__file__), "octave_tests.m")
        log = os.path.join(folder, "log")
        done = subprocess.run([octave, "--no-gui", "--norc", "--no-history", "--quiet", script, log, *self.names],
                              cwd=folder, env=environment, text=True, errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode == NO_TESTS:
            raise CannotRun("this Octave comes without its tests")
        if done.returncode != 0:
            print(f"{octave} ended with {done.returncode}:\n{done.stdout[-2000:]}")
        outcomes = {name: Outcome(int(run), int(run) - int(passed))
                    for name, passed, run in RESULT.findall(done.stdout)}
        if any(outcome.failed for outcome in outcomes.values()):
            with open(log, encoding="utf-8", errors="replace") as file:
                print("".join(line for line in file if not line.startswith("***** ")))
        return outcomes


BUILT_IN = ("chol", "det", "dot", "hess", "inv", "lu", "ordschur", "pinv", "qr", "schur", "svd", "sylvester")
SUITES = {
    "octave": Functions([f"libinterp/corefcn/{name}.cc-tst" for name in BUILT_IN] +
                        ["liboctave/array/fMatrix.cc-tst", "fixed/leftdiv.tst", "null"],
                        {"sgemm": 60, "dgemm": 150, "dtrmm": 25, "strsm": 20, "dtrsm": 90, "ztrsm": 60}),
}
