"""TILEBLAS_STATS and TILEBLAS_STATS_FILE, without the command."""

import json
import os
import re
import resource
import subprocess
import tempfile
import threading

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


def a_pipe_that_nobody_reads_is_not_waited_for():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        for options in ({"STATS": "json", "STATS_FILE": pipe}, {"STATS": "1", "STATS_FILE": pipe}, {"RECORD": pipe}):
            done = _preloaded("calls", "1", "exit", "3", **options)
            equal(done.returncode, 3, options)
            contains(done.stderr, f"{pipe} cannot be written")


def a_pipe_that_somebody_reads_takes_what_it_can():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        equal(_preloaded("calls", "1", "exit", "3", STATS="json", STATS_FILE=pipe).returncode, 3)
        lines = os.read(reader, 1 << 16).decode().splitlines()
        os.close(reader)
        equal([json.loads(line)["event"] for line in lines], ["load", "exit"])
        # Full, and nobody empties it.
        reader, writer = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        try:
            while os.write(writer, bytes(4096)):
                pass
        except BlockingIOError:
            pass
        done = _preloaded("calls", "1", "exit", "3", STATS="json", STATS_FILE=pipe)
        equal(done.returncode, 3)
        contains(done.stderr, f"{pipe} cannot be written")
        os.close(reader), os.close(writer)


def _ended(options, **settings):
    """How a client ends that would end with 3, each of the options being a variable of the library's."""
    environment = {**os.environ, "TILEBLAS_START": "never", "LD_PRELOAD": PATHS["PRELOAD"],
                   **{f"TILEBLAS_{name}": value for name, value in options.items()}}
    return subprocess.run([PATHS["CLIENT"], "calls", "1", "exit", "3"], env=environment, timeout=60, check=False,
                          stdout=subprocess.DEVNULL, **settings).returncode


def writing_ends_no_program():
    # Standard error is a pipe whose reader has gone; then files have a limit that is met.
    for options in ({"STATS": "1"}, {"STATS": "json"}, {"VERBOSE": "1"}):
        reader, writer = os.pipe()
        os.close(reader)
        equal(_ended(options, stderr=writer), 3, options)
        os.close(writer)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        for options in ({"STATS": "json", "STATS_FILE": path}, {"RECORD": path}):
            equal(_ended(options, stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))), 3, options)
            equal(os.path.getsize(path), 64)
            os.remove(path)


def lines_of_processes_that_end_at_once_stay_whole():
    processes = 16
    with tempfile.TemporaryDirectory() as folder:
        path, record = os.path.join(folder, "report"), os.path.join(folder, "record")
        options = {"STATS": "json", "STATS_FILE": path, "RECORD": record}
        threads = [threading.Thread(target=_ended, args=(options,)) for _ in range(processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with open(path, encoding="utf-8") as file:
            events = [json.loads(line)["event"] for line in file]
        with open(record, encoding="utf-8") as file:
            kinds = [json.loads(line).get("routine") for line in file]
    equal((events.count("load"), events.count("exit")), (processes, processes))
    equal((kinds.count(None), kinds.count("sgemm")), (processes, processes))


def a_file_may_be_cut_or_replaced_meanwhile():
    with tempfile.TemporaryDirectory() as folder:
        path, other = os.path.join(folder, "report"), os.path.join(folder, "other")
        script = 'ln -sf "$2" "$1.new" && mv -f "$1.new" "$1" && : > "$2" && exec "$3" calls 1'
        done = call("sh", "-c", script, "sh", path, other, PATHS["CLIENT"],
                    environment={"LD_PRELOAD": PATHS["PRELOAD"], "TILEBLAS_STATS": "json", "TILEBLAS_STATS_FILE": path})
        equal(done.returncode, 0)
        with open(other, encoding="utf-8") as file:
            events = [json.loads(line)["event"] for line in file]
        equal((os.path.islink(path), set(events)), (True, {"load", "exit"}))


if __name__ == "__main__":
    main(globals())
