#!/usr/bin/env python3
"""runner.py PRELOAD WRONG_BLAS COUNTER PROGRAMS: bench/jobs/run.py from the start of a job to the tables."""

import json
import os
import subprocess
import sys
import tempfile

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/jobs/run.py")
preload, wrong, counter, programs = sys.argv[1:]
folder = tempfile.TemporaryDirectory()
parts = [os.path.join(folder.name, name) for name in ("first.json", "second.json")]


def run(*arguments, status=0):
    done = subprocess.run(
        [sys.executable, RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def results(path):
    with open(path) as file:
        return [result for call in json.load(file)["calls"] for result in call["results"]]


def contains(text, *wanted):
    for each in wanted:
        assert each in text, f"no {each!r} in\n{text}"


common = ["--programs", programs, "--scale", "0.02"]
library = ["--preload", preload, "--label", "as tested"]

# Two parts of a measurement, which --report puts together; every way has as many runs; linear algebra is counted.
for part in parts:
    ways = ["--ways", "plain,preloaded,wait", "--pairs", "3", "--routes"]
    text = run(*common, *library, "--count", counter, "--jobs", "tiles", *ways, "--json", part)
    contains(text, "not judged, fewer than five rounds: tiles", "these figures mean nothing")
first = results(parts[0])[0]
assert [sorted(times) for times in first["rounds"]] == 3 * [["plain", "preloaded", "wait"]], first
assert first["counts"]["routines"]["dpotrf"]["calls"] == 20, first
text = run("--report", *parts)
contains(text, "library: as tested", "geometric mean of plain / preloaded", "geometric mean of plain / wait", "gone: ")
assert "not judged" not in text, text
assert {way: routes["calls"] > 0 for way, routes in first["routes"].items()} == {"preloaded": True, "wait": True}, first
# The same file again: the next call is added.
run(*common, "--jobs", "tiles", "--pairs", "1", "--json", parts[0])
assert len(results(parts[0])) == 2

# Every other round goes backwards, behind the run that counts.
order = os.path.join(folder.name, "order")
os.mkdir(order)
with open(os.path.join(order, "tiles"), "w") as program:
    program.write('#!/bin/sh\necho "${WAY:-plain}" >> "${0%/*}/ways"\n')
os.chmod(program.name, 0o755)
ways = ["--way", "other", "LD_PRELOAD=", "WAY=other"]
run("--programs", order, "--jobs", "tiles", "--pairs", "3", *ways)
with open(os.path.join(order, "ways")) as file:
    found = file.read().split()
assert found == ["plain", "plain", "other", "other", "plain", "plain", "other"], found

# What is not measured is said by name: a wrong answer, a missing program, no time left, a library that is none.
text = run(*common, "--jobs", "tiles", "--pairs", "1", "--way", "broken", f"LD_PRELOAD={wrong}", status=1)
contains(text, "tiles: FAILED: broken: status 1: wrong result: the factor")
text = run(*common, "--jobs", "tiles", "--pairs", "1", "--preload", RUN, status=1)
contains(text, "tiles: FAILED: preloaded: status 127", "cannot be preloaded")
text = run("--programs", folder.name, "--jobs", "tiles", "--pairs", "1")
contains(text, "tiles: SKIPPED: its package is missing")
contains(run(*common, "--jobs", "tiles", "--seconds", "0"), "tiles: LEFT OUT: no time was left")
contains(run(*common, "--jobs", "nothing", status=2), "there is no job nothing")
contains(run(*common, "--ways", "plain,preloaded", status=2), "preloaded needs --preload")

# Parts: every job is in exactly one.
names = [line.split()[0] for line in run("--list").splitlines()]
said = []
for index in (1, 2, 3):
    text = run("--part", f"{index}/3", "--seconds", "0", "--programs", programs)
    said += [line.split(":")[0] for line in text.splitlines() if "LEFT OUT" in line][: len(names)]
assert sorted(set(said)) == sorted(names)

# A job in Python, with the library in it; without NumPy it is skipped, which is said. How often dgemm is called is known, how
# long such small products take is not: the table leaves out what takes next to no time.
products = os.path.join(folder.name, "products.json")
text = run(*common, *library, "--count", counter, "--jobs", "products", "--pairs", "1", "--json", products)
if "SKIPPED" in text:
    print(f"skipped: {text.splitlines()[0]}")
    sys.exit(77)
counts = results(products)[0]["counts"]
assert counts and counts["routines"]["dgemm"]["calls"] == 10, f"{counts}\n{text}"
