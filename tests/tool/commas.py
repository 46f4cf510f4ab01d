"""Programs that write numbers with a comma: files, JSON and lines of TileBLAS are as in all others.

The locales are compiled here, in a temporary folder: German, and Pashto, whose decimal separator takes two bytes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tool import PATHS, call, contains, equal, main

LOCALES = {"de_DE.UTF-8": ",", "ps_AF.UTF-8": "\u066b"}
SIM = {"TILEBLAS_START": "wait"}
FOLDER = tempfile.mkdtemp()


def _compile_locales():
    for name in LOCALES:
        language, charset = name.split(".")
        command = ["localedef", "-i", language, "-f", charset, os.path.join(FOLDER, name)]
        if not shutil.which("localedef") or subprocess.run(command, stderr=subprocess.DEVNULL).returncode > 1:
            print(f"skipped: {name} cannot be compiled (Debian: locales)")
            sys.exit(77)


def _call(locale, *command, preload=(), environment=None):
    """As call, in a program that has called setlocale."""
    preloads = ":".join([PATHS[name] for name in preload] + [PATHS["SET_LOCALE"]])
    done = call(*command, environment={"LOCPATH": FOLDER, "LC_ALL": locale, "LD_PRELOAD": preloads, **SIM,
                                       **(environment or {})})
    equal(done.returncode, 0, done.stderr)
    return done


def _explain(locale, folder):
    done = _call(locale, "TOOL_SIM", "explain", "500", "500", "500", "--json", environment={"XDG_CACHE_HOME": folder})
    return {row["route"]: row for row in json.loads(done.stdout)["routes"]}["host"]["seconds"], done.stderr


def _tune(locale, folder):
    _call(locale, "TOOL_SIM", "tune", "--seconds", "0", "--largest", "256", environment={"XDG_CACHE_HOME": folder})
    return os.path.join(folder, "tileblas", "profile")


def the_locales_have_no_decimal_point():
    code = "import locale; locale.setlocale(locale.LC_ALL, ''); print(ascii(locale.localeconv()['decimal_point']))"
    for name, separator in LOCALES.items():
        equal(_call(name, sys.executable, "-c", code).stdout.strip(), ascii(separator))


def a_profile_is_written_with_points():
    for name in LOCALES:
        with tempfile.TemporaryDirectory() as folder:
            with open(_tune(name, folder), encoding="utf-8") as file:
                lines = file.read().splitlines()[2:-1]
            assert lines and all(re.fullmatch(r"[A-Z] [a-z]+ [0-9]+ [0-9.e+-]+", line) for line in lines), lines


def a_profile_with_points_is_believed():
    for name in LOCALES:
        with tempfile.TemporaryDirectory() as folder:
            plain, _ = _explain(name, folder)
            profile = _tune("C", folder)
            with open(profile, encoding="utf-8") as file:
                head = file.read().splitlines()[:2]
            with open(profile, "w", encoding="utf-8") as file:
                file.write("\n".join(head + [f"S host {c} 0.5" for c in range(48)] + ["end", ""]))
            seconds, said = _explain(name, folder)
            equal((round(seconds / plain, 3), said), (0.5, ""))


def what_is_printed_has_points():
    for name in LOCALES:
        lines = _call(name, "CLIENT", "calls", "2", preload=("PRELOAD_SIM",),
                      environment={"TILEBLAS_VERBOSE": "1", "TILEBLAS_STATS": "1"}).stderr
        contains(lines, "tileblas: host 2 calls, 0.008 GFLOP, ")
        assert re.search(r"forecast: host [0-9.e-]+ ms, device [0-9.e-]+ ms\), [0-9]+[.][0-9]{3} ms\n", lines), lines
        streamed = _call(name, "CLIENT", "calls", "2", preload=("PRELOAD_SIM",),
                         environment={"TILEBLAS_ROUTE": "streamed", "TILEBLAS_STATS": "1"}).stderr
        assert re.search(r", [0-9]+[.][0-9] MB over the link", streamed), streamed


LAST_PLAN = """
import ctypes
n, program = 512, ctypes.CDLL(None)
a, b, c = ((ctypes.c_float * (n * n))() for _ in range(3))
program.cblas_sgemm(102, 111, 111, n, n, n, ctypes.c_float(1), a, n, b, n, ctypes.c_float(0), c, n)
plan = ctypes.create_string_buffer(256)
program.tileblas_last_plan(plan, ctypes.c_size_t(256))
print(plan.value.decode())
"""


def the_last_plan_has_points():
    for name in LOCALES:
        plan = _call(name, sys.executable, "-c", LAST_PLAN, preload=("PRELOAD_SIM",)).stdout
        assert re.search(r"forecast: host [0-9.e+-]+ ms, device [0-9.e+-]+ ms\)$", plan.strip()), plan


def json_has_points():
    for name in LOCALES:
        done = _call(name, "CLIENT", "calls", "2", preload=("PRELOAD",), environment={"TILEBLAS_STATS": "json"})
        summary = json.loads(done.stderr)
        assert 0 < summary["routes"]["host"]["seconds"] < 60, done.stderr


if __name__ == "__main__":
    _compile_locales()
    try:
        main(globals())
    finally:
        shutil.rmtree(FOLDER)
