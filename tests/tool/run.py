"""`tileblas run` is as good as not there for the program, and counts its calls."""

import os
import shutil
import signal
import subprocess
import tempfile

from tool import PATHS, SANITIZED, SIZE, call, contains, end_by, equal, main, run_json


def calls_are_counted():
    summary, done = run_json("CLIENT", "calls", "5")
    equal(done.returncode, 0)
    equal(done.stdout, "")
    equal(summary["calls"], 5)
    equal(summary["routes"]["host"]["flop"], 5 * 2.0 * SIZE**3)
    equal(summary["routes"]["host"]["shapes"]["medium"]["calls"], 5)
    equal(sum(summary["host_reasons"].values()), 5)
    equal((summary["status"], summary["loaded"], summary["complete"], summary["remarks"]), (0, True, True, []))
    contains(call("TOOL", "run", "--", "CLIENT", "calls", "5").stderr, "tileblas: host 5 calls, 0.021 GFLOP",
             "tileblas:   medium 5 calls", "tileblas: stayed on the host: ")


def threads_and_children_are_added_up():
    summary, _ = run_json("CLIENT", "threads", "10")
    equal(summary["calls"], 4 * 10)
    # Children start from zero: what the parent did before the fork is counted once.
    summary, _ = run_json("CLIENT", "calls", "7", "children", "5", "calls", "2")
    equal(summary["calls"], 7 + 3 * 5 + 2)
    equal(summary["processes"], 4)


def calls_on_a_device_are_told():
    summary, _ = run_json("--preload", "PRELOAD_SIM", "CLIENT", "calls", "3",
                          environment={"TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"})
    streamed = summary["routes"]["streamed"]
    equal(streamed["calls"], 3)
    # The matrices, and the little that columns are padded by on the device.
    assert 1 <= streamed["link_bytes"] / (3 * 3 * 4.0 * SIZE**2) < 1.1, streamed
    assert streamed["seconds"] > 0
    words = call("TOOL", "run", "--preload", "PRELOAD_SIM", "CLIENT", "calls", "3",
                 environment={"TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}).stderr
    contains(words, "streamed 3 calls", "MB over the link")


def the_exit_status_and_the_streams_pass_through():
    done = call("TOOL", "run", "CLIENT", "copy", "exit", "3", text="a line\n")
    equal((done.returncode, done.stdout), (3, "a line\n"))


def a_signal_that_ends_the_program_ends_run():
    for number in (signal.SIGKILL, signal.SIGTERM):
        summary, done = run_json("CLIENT", "calls", "1", "raise", str(int(number)))
        equal(done.returncode, end_by(number))
        equal((summary["signal"], summary["complete"]), (int(number), False))
        contains(summary["remarks"][0], f"ended by signal {int(number)}", "could not report")
    contains(call("TOOL", "run", "CLIENT", "raise", "9").stderr, "ended by signal 9 (Killed) and could not report")


def a_signal_sent_to_run_reaches_the_program():
    process = subprocess.Popen([PATHS["TOOL"], "run", PATHS["CLIENT"], "term", "exit", "7"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, universal_newlines=True)
    equal(process.stdout.readline(), "ready\n")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    equal((process.returncode, out), (7, "terminated\n"))


def leaving_by_the_back_door_is_said():
    summary, done = run_json("CLIENT", "calls", "1", "_exit", "4")
    equal((done.returncode, summary["status"], summary["complete"]), (4, 4, False))
    contains(summary["remarks"][0], "without reporting")


def failures_have_the_statuses_of_env():
    equal(call("TOOL", "run", "/nonexistent/program").returncode, 127)
    equal(call("TOOL", "run", "no-such-program-anywhere").returncode, 127)
    equal(call("TOOL", "run", "/etc/passwd").returncode, 126)
    equal(call("TOOL", "run", "--preload", "/nonexistent", "CLIENT").returncode, 125)
    equal(call("TOOL", "run", "CLIENT", "exit", "127").returncode, 127)
    equal(call("TOOL", "run").returncode, 2)
    equal(call("TOOL", "run", "--nonsense", "CLIENT").returncode, 2)


def what_was_preloaded_stays():
    if SANITIZED != "no":
        return  # the sanitizers' own libraries are particular about what comes before them
    done = call("TOOL", "run", "CLIENT_NONE", "environment", "LD_PRELOAD", environment={"LD_PRELOAD": PATHS["BLAS"]})
    equal(done.stdout, f"{PATHS['BLAS']}:{os.path.realpath(PATHS['PRELOAD'])}\n")


def a_program_that_is_linked_with_tileblas():
    summary, _ = run_json("CLIENT_LINKED", "calls", "4")
    equal((summary["calls"], summary["processes"], summary["remarks"]), (4, 1, []))
    summary, _ = run_json("CLIENT_LINKED", "calls", "0")
    equal((summary["calls"], summary["remarks"]), (0, ["a product that TileBLAS takes over is referred to, but was not called"]))


def the_program_is_looked_for():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PATHS["CLIENT"], os.path.join(folder, "a-program"))
        summary, done = run_json("a-program", "calls", "2", "exit", "5",
                                 environment={"PATH": f"/nonexistent:{folder}"})
        equal((done.returncode, summary["calls"]), (5, 2))


def odd_names_survive():
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, 'a "quoted" \\ folder\nof \u00e4 kind')
        os.mkdir(odd)
        program = shutil.copy(PATHS["CLIENT"], odd)
        summary, _ = run_json(program, "calls", "3", "exit", "0", "tab\tand \x01")
        equal(summary["command"], [program, "calls", "3", "exit", "0", "tab\tand \x01"])
        equal(summary["calls"], 3)


def the_summary_goes_to_a_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "summary")
        done = call("TOOL", "run", "--output", path, "CLIENT", "calls", "2", environment={"TMPDIR": folder})
        equal(done.stderr, "")
        with open(path, encoding="utf-8") as file:
            contains(file.read(), "tileblas: host 2 calls")
        equal(os.listdir(folder), ["summary"], "left behind:")


def a_summary_that_cannot_be_written_is_said():
    for path, why in (("/nonexistent/summary", "No such file"), ("/dev/full", "No space left")):
        for form in ((), ("--json",)):
            done = call("TOOL", "run", "--output", path, *form, "CLIENT", "calls", "1", "exit", "4")
            equal(done.returncode, 4)
            contains(done.stderr, f"tileblas run: {path}: {why}")


if __name__ == "__main__":
    main(globals())
