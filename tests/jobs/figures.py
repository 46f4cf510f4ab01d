#!/usr/bin/env python3
"""The figures of bench/jobs on numbers whose answer is known."""

import ast
import math
import os
import sys

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/jobs")
sys.path[0] = BENCH  # whose figures.py is not this one
import checks
import figures
import jobs
import report
import start


def near(found, expected):
    assert math.isclose(found, expected, rel_tol=1e-12), (found, expected)


def check_intervals():
    # Tables of Wilcoxon's signed ranks, 5% on either side.
    for n, critical in {4: -1, 5: 0, 6: 2, 7: 3, 8: 5, 9: 8, 10: 10, 12: 17, 20: 60}.items():
        assert figures.outer_averages(n) == critical, n
    assert sum(figures.signed_rank_counts(7)) == 2**7
    assert figures.estimate([1.25, 0.8]) == (1.0, None)
    middle, (low, high) = figures.estimate([0.9] * 7)
    near(middle, 0.9), near(low, 0.9), near(high, 0.9)
    # The interval has the middle in it and turns round with the ratios; one disturbed run does not move it far.
    ratios = [1.01, 0.99, 1.02, 0.98, 1.0, 1.03, 0.97]
    middle, (low, high) = figures.estimate(ratios)
    assert 0.97 < low < middle < high < 1.03
    turned, (turned_low, turned_high) = figures.estimate([1 / ratio for ratio in ratios])
    near(turned, 1 / middle), near(turned_low, 1 / high), near(turned_high, 1 / low)
    disturbed, interval = figures.estimate(ratios[:-1] + [0.3])
    assert disturbed > 0.97 and not figures.is_lost(interval)


def check_verdicts():
    assert figures.is_lost((0.9, 0.969)) and not figures.is_lost((0.9, 0.971)) and not figures.is_lost(None)
    assert figures.is_gained((1.04, 1.1)) and not figures.is_gained((1.02, 1.1)) and not figures.is_gained(None)


def check_sums():
    near(figures.geometric_mean([2, 0.5, 4]), 4 ** (1 / 3))
    near(figures.share_gone([3, 2], [2, 2.5], [1, 1]), 0.25)
    assert math.isnan(figures.share_gone([1], [1], [0]))


def result(job, **fields):
    return {"job": job, "package": "numpy", **fields}


def measured(job, *rounds, counts=None):
    return result(job, counts=counts, first_seconds=1.0, ways=list(rounds[0]), rounds=list(rounds), cpu=list(rounds))


def call(*results, label="", gpus=()):
    machine = {"gpus": list(gpus), "cores": 2, "cpu": "", "kernel": "", "python": "", "packages": {}}
    return {"machine": machine, "label": label, "scale": 1, "results": list(results)}


def check_merging():
    solve = measured("solve", {"plain": 1.0, "preloaded": 2.0})
    more = measured("solve", {"plain": 6.0, "wait": 2.0}, {"plain": 9.0, "wait": 3.0}, counts={"either": 1.0})
    calls = [
        call(result("qr", left_out="no time was left"), solve),
        call(result("products", skipped="missing"), more),
        call(measured("qr", {"plain": 3.0, "preloaded": 1.0})),
    ]
    merged = {each["job"]: each for each in report.merge_results(calls)}
    assert list(merged) == ["products", "solve", "qr"], "the order of the list"
    assert report.why_not(merged["products"]) == "SKIPPED: missing"
    assert not report.why_not(merged["qr"])
    # A round's ways are compared with each other, and with none of another call.
    assert merged["solve"]["rounds"] == solve["rounds"] + more["rounds"] and len(solve["rounds"]) == 1
    assert merged["solve"]["counts"] == {"either": 1.0}
    found = report.estimates(merged["solve"])
    near(found["preloaded"][0], 0.5), near(found["wait"][0], 3)
    near(report.seconds_of(merged["solve"], "plain"), 6), near(report.seconds_of(merged["solve"], "wait"), 2.5)
    groups = report.group_calls([call(), call(label="other"), call(gpus=["H100"]), call() | {"scale": 0.5}, call()])
    assert [len(group) for group in groups.values()] == [2, 1, 1, 1]


def check_rows():
    """What a job's row says of its counts: seconds, and the calls of the three routines that take the longest."""
    seconds = {"dgemm": 1.0, "dsyrk": 0.25, "dpotrf": 2.0, "dtrsm": 0.5, "dsymm": 0.0001}
    routines = {name: {"kind": 0, "calls": 7, "seconds": each} for name, each in seconds.items()}
    counts = {"level3": 1.25, "lapack": 2.0, "either": 3.0, "routines": routines}
    row = report.row_of(measured("solve", {"plain": 6.0, "wait": 2.0}, counts=counts), ["plain", "wait"])
    assert row[2:8] == ["1", "1.00", "6.00", "2.00", "3.00", "?"], row
    assert row[-4:] == ["1.25", "2.00", "3.75", "dpotrf 7, dgemm 7, dtrsm 7"], row
    del routines["dgemm"], routines["dtrsm"]
    row = report.row_of(measured("solve", {"plain": 6.0}, counts=counts), ["plain"])
    assert row[-1] == "dpotrf 7, dsyrk 7", "what takes next to no time is left out"


def refuses(look, *arguments):
    try:
        look(*arguments)
    except SystemExit as end:
        return str(end).startswith("wrong result: ")
    return False


def check_checks():
    """A wrong result ends the job."""
    assert refuses(checks.require, False, "it") and not refuses(checks.require, True, "it")
    assert refuses(checks.require_near, 1.1, 1.0, 0.09, "it") and not refuses(checks.require_near, 1.1, 1.0, 0.11, "it")
    assert refuses(checks.require_near, math.nan, 1.0, 1.0, "it")


def check_ways():
    """Options of the runner's environment hold for all ways but plain."""
    os.environ |= {"TILEBLAS_ROUTE": "host", "LD_PRELOAD": ""}
    plain, never = (start.environment_of(way, "library") for way in ("plain", "never"))
    assert "TILEBLAS_ROUTE" not in plain and "LD_PRELOAD" not in plain, plain
    found = [never[name] for name in ("TILEBLAS_ROUTE", "TILEBLAS_START", "LD_PRELOAD")]
    assert found == ["host", "never", "library"], found


def check_list():
    """Every job has its function, with its own name, and none is left over that takes a size."""
    names = [job.name for job in jobs.JOBS]
    assert len(names) == len(set(names)) >= 24
    assert len({job.package for job in jobs.JOBS}) >= 8
    for package in {job.package for job in jobs.JOBS} - {"C"}:
        with open(os.path.join(BENCH, f"with_{package}.py")) as file:
            functions = [node for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)]
        takes_size = {node.name for node in functions if [each.arg for each in node.args.args] == ["size"]}
        assert takes_size == {job.name for job in jobs.JOBS if job.package == package}, package


check_intervals()
check_verdicts()
check_sums()
check_merging()
check_rows()
check_checks()
check_ways()
check_list()
