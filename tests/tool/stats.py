"""TILEBLAS_STATS and TILEBLAS_STATS_FILE, without the command."""

import json
import os
import re
import tempfile

from tool import PATHS, SIZE, call, contains, equal, main


def _preloaded(*arguments, library="PRELOAD", **options):
    environment = {f"TILEBLAS_{name}": value for name, value in options.items()}
    return call("CLIENT", *arguments, environment={"LD_PRELOAD": PATHS[library], **environment})


def nothing_is_printed_unasked():
    done = _preloaded("calls", "2")
    equal((done.stdout, done.stderr), ("", ""))


def words_are_by_route_and_shape():
    done = _preloaded("calls", "2", STATS="1")
    equal(done.stdout, "")
    lines = done.stderr.splitlines()
    for line, name in zip(lines, ("host", "  medium")):
        assert re.fullmatch(f"tileblas: {name} 2 calls, 0.008 GFLOP, [0-9]+[.][0-9]{{3}} s", line), line
    contains(lines[-1], "tileblas: stayed on the host: ", " 2")
    assert all(line.startswith("tileblas: ") for line in lines)


def no_calls_are_said():
    equal(_preloaded("calls", "0", STATS="1").stderr,
          "tileblas: nothing was intercepted: no matrix product arrived here\n")


def json_is_one_line():
    done = _preloaded("threads", "20", STATS="json")
    equal((done.stdout, done.stderr.count("\n")), ("", 1))
    summary = json.loads(done.stderr)
    equal((summary["event"], summary["calls"]), ("exit", 80))
    equal(summary["routes"]["host"]["flop"], 80 * 2.0 * SIZE**3)
    equal(summary["routes"]["host"]["shapes"]["medium"]["calls"], 80)
    equal(list(summary["routes"]["host"]["shapes"]), ["medium"])
    equal({name: list(routes) for name, routes in summary["routines"].items() if routes}, {"sgemm": ["host"]})
    equal(sum(summary["host_reasons"].values()), 80)
    equal(os.path.realpath(PATHS["CLIENT"]), summary["program"])


def a_forced_route_has_no_forecast_to_win_against():
    done = _preloaded("calls", "2", library="PRELOAD_SIM", STATS="json", START="wait", ROUTE="streamed")
    streamed = json.loads(done.stderr)["routes"]["streamed"]
    equal((streamed["calls"], streamed["won_seconds"]), (2, 0))
    assert streamed["seconds"] > 0


def a_file_takes_the_lines_of_all_processes():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        for _ in range(2):
            done = _preloaded("calls", "1", "children", "2", STATS="json", STATS_FILE=path)
            equal(done.stderr, "")
        with open(path, encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        equal([event["event"] for event in events].count("load"), 2)
        ends = [event for event in events if event["event"] == "exit"]
        equal(sorted(event["calls"] for event in ends), [1, 1, 2, 2, 2, 2, 2, 2])
        bound = {row["name"]: row["bound"] for row in ends[0]["gemm"] if row["object"] == ends[0]["program"]}
        equal(bound, {"cblas_sgemm": ends[0]["library"]})
        assert PATHS["BLAS"] in ends[0]["objects"], ends[0]["objects"]
        words = os.path.join(folder, "words")
        equal(_preloaded("calls", "1", STATS="1", STATS_FILE=words).stderr, "")
        with open(words, encoding="utf-8") as file:
            contains(file.read(), "tileblas: host 1 calls")


def a_file_that_cannot_be_written_is_said():
    contains(_preloaded("calls", "1", STATS="json", STATS_FILE="/nonexistent/report").stderr,
             "TILEBLAS_STATS_FILE: /nonexistent/report cannot be written")
    for form in ("1", "json"):
        contains(_preloaded("calls", "1", STATS=form, STATS_FILE="/dev/full").stderr,
                 "TILEBLAS_STATS_FILE: /dev/full cannot be written")


if __name__ == "__main__":
    main(globals())
