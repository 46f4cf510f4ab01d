"""NumPy's and SciPy's own tests of linear algebra, under pytest. The plain run is the package as it is."""

import os
import subprocess
import xml.etree.ElementTree as ElementTree

from suite import CannotRun, Outcome

USAGE_ERROR = 4  # pytest's, for names that it does not find


class Package:
    """Test modules of an installed package: the tests that have one of the words of `select` in their names, or all, without
    those that have one of `deselect`. Of what is left every `stride`th is run: neighbours are one test on other types, or shapes."""

    def __init__(self, modules, calls, deselect=(), select=(), part=None, stride=1):
        self.modules, self.calls, self.deselect, self.select, self.part = modules, calls, deselect, select, part
        self.stride = stride

    def run(self, route, work, environment):
        python = [os.environ["SUITE_PYTHON"], "-B", "-s"]
        package = self.modules[0].split(".")[0]
        modules = f"{package}, pytest, hypothesis"
        # Asked without TileBLAS, whose count of calls is for the tests.
        if subprocess.run(python + ["-c", f"import {modules}"], stderr=subprocess.DEVNULL, check=False).returncode:
            raise CannotRun(f"{python[0]} has not all of {modules}")
        report = os.path.join(work, "report.xml")
        command = python + ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb=short",
                            f"--junitxml={report}", "-p", "sampled", "--pyargs", *self.modules]
        environment = environment | {"SUITE_STRIDE": str(self.stride), "PYTHONPATH": os.pathsep.join(
            [os.path.dirname(__file__), environment.get("PYTHONPATH", "")])}
        words = ["(" + " or ".join(self.select) + ")"] if self.select else []
        words += ["not (" + " or ".join(self.deselect) + ")"] if self.deselect else []
        if words:
            command += ["-k", " and ".join(words)]
        done = subprocess.run(command, cwd=work, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode == USAGE_ERROR:
            raise CannotRun(f"this {package} has its tests elsewhere: {done.stdout[-300:].strip()}")
        if done.returncode != 0:
            print(done.stdout[-4000:])
        if not os.path.exists(report):
            return [{}]
        return [parse(report)]


def parse(report):
    """Outcomes by test. A name can come twice, where pytest does not tell parameters apart."""
    outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            name = f"{case.get('classname')}.{case.get('name')}"
            failed = case.find("failure") is not None or case.find("error") is not None
            before = outcomes.get(name, Outcome(0, 0))
            outcomes[name] = Outcome(before.run + 1, before.failed + failed)
    return outcomes


# Left out are tests that need gigabytes, and classes that take seconds and call LAPACK alone, inside OpenBLAS. A part has the
# classes some of whose tests call SGEMM; all of these call DGEMM as well.
SCIPY = [f"scipy.linalg.tests.test_{name}" for name in ("basic", "batch", "blas", "decomp_polar")]
SCIPY_DOUBLE = [f"scipy.linalg.tests.test_{name}"
                for name in ("cython_blas", "decomp_update", "interpolative", "matfuncs", "procrustes", "solvers")]
SCIPY_PART = Package(SCIPY, {"sgemm": 150, "dgemm": 1000},
                     select=["TestBatch", "TestLstsq", "TestInv", "TestPinv", "TestFBLAS", "TestOverwrite", "polar"], stride=15)
NUMPY = ["numpy.linalg.tests.test_linalg"] + [f"numpy._core.tests.test_multiarray::Test{name}"
                                              for name in ("Dot", "Matmul", "MatmulOperator", "MatmulInplace", "Inner")]
NUMPY_LEFT_OUT = ["huge", "TestCond", "TestDet", "TestEigvals"]
NUMPY_PART = Package(NUMPY, {"sgemm": 1500, "dgemm": 5000},
                     deselect=NUMPY_LEFT_OUT + ["TestSVD", "TestEigh", "TestPinvHermitian", "TestNorm", "MatmulInplace"], stride=15)
SUITES = {
    "numpy": Package(NUMPY, {"sgemm": 25000, "dgemm": 80000}, deselect=NUMPY_LEFT_OUT, part=NUMPY_PART),
    "scipy": Package(SCIPY + SCIPY_DOUBLE, {"sgemm": 10000, "dgemm": 80000}, part=SCIPY_PART),
}
