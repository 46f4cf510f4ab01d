"""`tileblas run --record` keeps what a program called, and `tileblas forecast` says what another machine would take for it."""

import json
import os
import tempfile

from tool import PATHS, SIZE, call, contains, equal, main

ON_DEVICE = {"TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}


def _record_of(*command, **settings):
    """The lines of a program's record: whose it is, and the kinds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record")
        done = call("TOOL", "run", "--record", path, *command, **settings)
        with open(path, encoding="utf-8") as file:
            whose, *kinds = [json.loads(line) for line in file]
        return whose, kinds, done


def _forecast_of(kinds, *options, whose=None):
    """The forecast for a record of these kinds, or the process where it failed."""
    with tempfile.NamedTemporaryFile("w", suffix=".record", encoding="utf-8") as file:
        lines = [whose or {"tileblas": "0.1.0", "program": "program", "cores": 16, "left_out": 0}, *kinds]
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        done = call("TOOL", "forecast", file.name, "--json", *options)
    return json.loads(done.stdout) if done.returncode == 0 else done


def _kind(routine="dgemm", letters="NN", extents=(4096, 4096, 4096), places="hhh", host=(0, 0), device=(0, 0, 0)):
    m, n, k = extents
    return {"routine": routine, "spelling": f"{routine}_", "letters": letters, "places": places, "beta_is_zero": True,
            "m": m, "n": n, "k": k, "host_calls": host[0], "host_seconds": host[1], "device_calls": device[0],
            "device_seconds": device[1], "host_forecast": device[2]}


def what_was_called_is_kept():
    whose, kinds, done = _record_of("CLIENT", "calls", "5", "exit", "3")
    equal(done.returncode, 3)
    contains(done.stderr, "host 5 calls")
    equal((os.path.basename(whose["program"]), whose["left_out"]), ("tool_client", 0))
    assert whose["cores"] >= 1
    equal(len(kinds), 1)
    kind = kinds[0]
    equal((kind["routine"], kind["spelling"], kind["letters"], kind["places"]), ("sgemm", "cblas_sgemm", "NN", "hhh"))
    equal((kind["m"], kind["n"], kind["k"], kind["beta_is_zero"]), (SIZE, SIZE, SIZE, True))
    equal((kind["host_calls"], kind["device_calls"]), (5, 0))
    assert kind["host_seconds"] > 0 and kind["device_seconds"] == 0


def the_device_is_told_apart():
    _, kinds, _ = _record_of("--preload", "PRELOAD_SIM", "CLIENT", "calls", "3", environment=ON_DEVICE)
    equal((kinds[0]["host_calls"], kinds[0]["device_calls"]), (0, 3))
    assert kinds[0]["device_seconds"] > 0


def children_and_threads_are_added_up():
    _, kinds, _ = _record_of("CLIENT", "calls", "7", "children", "5", "calls", "2")
    equal(sum(kind["host_calls"] for kind in kinds), 7 + 3 * 5 + 2)
    _, kinds, _ = _record_of("CLIENT", "threads", "10")
    equal(sum(kind["host_calls"] for kind in kinds), 4 * 10)


def nothing_is_a_record_too():
    _, kinds, _ = _record_of("CLIENT_NONE", "exit", "0")
    equal(kinds, [])


def a_record_that_cannot_be_written_is_said():
    done = call("TOOL", "run", "--record", "/nonexistent/record", "CLIENT", "calls", "1", "exit", "4")
    equal(done.returncode, 4)
    contains(done.stderr, "host 1 calls", "tileblas run: /nonexistent/record: ")
    done = call("TOOL", "run", "--record", "/dev/full", "CLIENT", "calls", "1", "exit", "4")
    equal(done.returncode, 4)
    contains(done.stderr, "host 1 calls", "tileblas run: /dev/full: No space left")
    for path in ("/nonexistent/record", "/dev/full"):
        done = call("CLIENT", "calls", "1", environment={"LD_PRELOAD": PATHS["PRELOAD"], "TILEBLAS_RECORD": path})
        contains(done.stderr, f"tileblas: TILEBLAS_RECORD: {path} cannot be written")


def a_forecast_is_that_of_explain():
    for routine, letters, extents, words in (
            ("dgemm", "NN", (4096, 4096, 4096), ("4096", "4096", "4096")),
            ("sgemm", "TN", (3000, 2000, 5000), ("3000", "2000", "5000", "--transa", "T")),
            ("zherk", "LNC", (2000, 2000, 3000), ("2000", "3000")),
            ("dsymm", "RU", (4000, 3000, 3000), ("4000", "3000", "--side", "R", "--uplo", "U")),
            ("strsm", "LUTN", (5000, 4000, 5000), ("5000", "4000", "--uplo", "U", "--transa", "T"))):
        answer = call("TOOL", "explain", "--routine", routine, *words, "--assume", "h200", "--cores", "16", "--json")
        explained = {route["route"]: route.get("seconds") for route in json.loads(answer.stdout)["routes"]}
        forecast = _forecast_of([_kind(routine, letters, extents, host=(10, 1e3))], "--assume", "h200")
        equal((forecast["calls"], forecast["device_calls"]), (10, 10), routine)
        assert abs(forecast["seconds"] / (10 * explained["streamed"]) - 1) < 1e-6, (routine, forecast, explained)
        equal((forecast["host_seconds"], forecast["recorded_seconds"]), (1e3, 1e3))


def what_lies_on_the_device_is_forecast_as_by_explain():
    for routine, letters, extents, words in (("zgemm", "NN", (300, 300, 300), ("300", "300", "300")),
                                             ("zgemm", "NN", (4000, 4000, 4000), ("4000", "4000", "4000")),
                                             ("zher2k", "LNC", (1000, 1000, 1000), ("1000", "1000")),
                                             ("dsyr2k", "LNT", (1000, 1000, 1000), ("1000", "1000")),
                                             ("dtrmm", "LLNN", (1000, 500, 1000), ("1000", "500"))):
        answer = call("TOOL", "explain", "--routine", routine, *words, "--pointers", "device", "--assume", "h200", "--json")
        explained = {route["route"]: route.get("seconds") for route in json.loads(answer.stdout)["routes"]}
        forecast = _forecast_of([_kind(routine, letters, extents, places="ddd", device=(10, 1, 0))], "--assume", "h200")
        assert abs(forecast["seconds"] / (10 * explained["resident"]) - 1) < 1e-6, (routine, forecast, explained)


def the_host_is_as_it_was_measured():
    # So fast a host keeps what another one would give away.
    slow, fast = (_forecast_of([_kind(host=(10, seconds))]) for seconds in (10, 1e-3))
    equal((slow["device_calls"], fast["device_calls"]), (10, 0))
    equal(fast["seconds"], fast["host_seconds"])
    # What the device took is no measure of the host; its forecast then is.
    served = _forecast_of([_kind(device=(4, 0.1, 8.0))])
    equal((served["host_seconds"], served["recorded_seconds"]), (8, 0.1))


def places_count():
    there = _forecast_of([_kind(places="ddd", device=(2, 1, 0))])
    here = _forecast_of([_kind(host=(2, 10))])
    assert there["seconds"] < here["seconds"], (there, here)


def routines_add_up():
    forecast = _forecast_of([_kind(host=(3, 6)), _kind("ssyrk", "LNT", (60, 60, 60), host=(1000, 0.02)),
                             _kind("sgemm", host=(2, 1))], whose={"tileblas": "0.1.0", "program": "p", "cores": 8, "left_out": 5})
    routines = forecast["routines"]
    equal(sorted(routines), ["dgemm", "sgemm", "ssyrk"])
    for member in ("calls", "device_calls", "host_seconds", "seconds"):
        total = sum(routine[member] for routine in routines.values())
        assert abs(total - forecast[member]) < 1e-6, (member, forecast)
    equal((forecast["left_out"], forecast["cores"], routines["ssyrk"]["device_calls"]), (5, 8, 0))


def gpus_differ():
    seconds = {gpu: _forecast_of([_kind(host=(10, 100))], "--assume", gpu)["seconds"]
               for gpu in ("h200", "h100", "l40s", "rtx4090")}
    # The last two have a 64th of their arithmetic in double precision.
    assert seconds["h100"] < seconds["l40s"] and seconds["h200"] < seconds["rtx4090"], seconds


def what_is_supposed_of_magnitudes_is_said():
    kinds = [_kind(extents=(8192, 8192, 8192), host=(10, 10)), _kind("sgemm", extents=(8192, 8192, 8192), host=(3, 3))]
    equal([_forecast_of(kinds, "--assume", gpu)["device_calls_if_alike"] for gpu in ("rtx4090", "h200")], [10, 0])


def a_run_can_be_forecast():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record")
        call("TOOL", "run", "--record", path, "CLIENT", "calls", "5")
        words = call("TOOL", "forecast", path, "--assume", "l40s").stdout
        contains(words, "5 products", "NVIDIA L40S, by its data sheet", "sgemm               5", "all                 5")


def what_is_no_record_is_refused():
    equal(call("TOOL", "forecast").returncode, 2)
    equal(call("TOOL", "forecast", "a", "b").returncode, 2)
    missing = call("TOOL", "forecast", "/nonexistent/record")
    equal(missing.returncode, 1)
    contains(missing.stderr, "/nonexistent/record: No such file")
    other = call("TOOL", "forecast", os.path.realpath(__file__))
    equal(other.returncode, 1)
    contains(other.stderr, "no record")
    contains(_forecast_of([], "--assume", "abacus").stderr, "abacus")
    # Lines that are none are passed over.
    odd = [_kind("dgemv"), _kind(letters="XY"), _kind(places="hh"), _kind(extents=(0, 1, 1)), {"m": 1}, _kind(host=(1, 1))]
    equal(_forecast_of(odd)["calls"], 1)


main(globals())
