"""Files and names that somebody else has made: the command neither crashes nor hangs on them, nor passes on what a terminal obeys."""

import json
import os
import struct
import tempfile
import unicodedata

from tool import PATHS, call, contains, equal, main

# A title, a colour, a line that was never written, C1 in UTF-8 and as bare bytes, a turned direction, half a character.
ODD = "\x1b]0;title\x07\x1b[31m\nred \x7f\x9b31m\u202e\udc9b\udcc3 \u00e9"
SHOWN = "?]0;title??[31m?red ??31m??? \u00e9"
HUGE = (1e300, -1e300, 1e18, 2.0**63, -1, 0, 0.5, 1 << 40, 1 << 62, 10**400)


def _obeyed(text):
    """What of the text a terminal would obey."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") or c in "\u202e\u2066"]


def _call(*words, **settings):
    """The process, its output decoded strictly: it is UTF-8 throughout."""
    done = call(*words, **settings)
    assert done.returncode >= 0, f"{words} ended by signal {-done.returncode}"
    equal(_obeyed(done.stdout) + _obeyed(done.stderr), [], words)
    return done


def _with_file(lines, *words):
    """The command on a file of such lines, each a text or what JSON is to be made of."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as file:
            for line in lines:
                text = line if isinstance(line, str) else json.dumps(line)
                file.write(text.encode("utf-8", "surrogateescape") + b"\n")
        return _call(*(path if word == "FILE" else word for word in words))


def _whose(program="program"):
    return {"tileblas": "0.1.0", "program": program, "cores": 2, "left_out": 0}


def _kind(**changes):
    return {"routine": "dgemm", "spelling": "dgemm_", "letters": "NN", "places": "hhh", "beta_is_zero": True, "m": 300, "n": 300,
            "k": 300, "host_calls": 1, "device_calls": 0, "host_seconds": 0.001, "device_seconds": 0, "host_forecast": 0,
            **changes}


def _forecast(lines, *options):
    return _with_file(lines, "TOOL", "forecast", "FILE", *options)


def extents_that_no_memory_holds_are_passed_over():
    kinds = [_kind(routine=routine, letters=letters, places=places, **{extent: huge})
             for routine, letters in (("sgemm", "NN"), ("zgemm", "CT"), ("dtrsm", "RUCU"), ("ssyrk", "LNT"), ("dsymm", "LU"))
             for places in ("hhh", "hhd", "ddd") for extent in "mnk" for huge in (1 << 62, 1 << 50, 2.0**63)]
    both = [_kind(m=1 << 40, n=1 << 40, places="hhd"), _kind(m=1 << 30, n=1 << 30, k=1 << 30)]
    forecast = json.loads(_forecast([_whose(), *kinds, *both, _kind(host_calls=7)], "--json").stdout)
    equal(forecast["routines"]["dgemm"]["calls"], 7)
    for words in (("1099511627776", "1099511627776", "300"), ("--routine", "dtrsm", "300", "4611686018427387904", "--side", "R"),
                  ("--routine", "sgemm_batch", "1000", "1000", "1000", "--products", "4611686018427387904"),
                  ("300", "300", "300", "--lda", "9223372036854775807")):
        for pointers in ("host", "device"):
            done = _call("TOOL", "explain", *words, "--assume", "h200", "--pointers", pointers)
            equal(done.returncode, 2, words)
            contains(done.stderr, "no process has room")


def every_number_of_a_record_may_be_any():
    numbers = [key for key, value in _kind().items() if isinstance(value, (int, float))]
    lines = [f'{{"tileblas": "", "cores": {cores}, "left_out": {cores}}}' for cores in ("1e300", "-5", "1e18")]
    for key in numbers:
        lines += [_kind(**{key: number}) for number in HUGE]
    lines += [json.dumps(_kind()).replace("0.001", odd) for odd in ("inf", "nan", "0x10", "1e999", "-", "1e", "++1")]
    for options in ((), ("--json",)):
        equal(_forecast([_whose(), *lines, _kind()], *options).returncode, 0)
    equal(json.loads(_forecast([_whose(), *lines[-7:], _kind()], "--json").stdout)["calls"], 1)


def text_is_json_or_none():
    for text, is_taken in (("\\ud83d\\ude00", True), ("\\ud83d", True), ("\\u0000", True), ("\\u00zz", False), ("\\u +1", False),
                           ("\\u-001", False), ("\\x", False), ("\\", False), ("\\u12", False)):
        done = _forecast([json.dumps(_whose()).replace('"program"}', "").replace(': "program"', f': "{text}"'), _kind()])
        equal(done.returncode, 0 if is_taken else 1, text)
    contains(_forecast([_whose("\U0001f600 \u00e9"), _kind()]).stdout, "\U0001f600 \u00e9")
    equal(_forecast(["[" * 100000, "{" * 100000, '{"a":' * 100000, _whose(), _kind()]).returncode, 0)


def names_do_not_reach_the_terminal():
    contains(_forecast([json.dumps(_whose(ODD), ensure_ascii=False), _kind()]).stdout, f"{SHOWN}: 1 products")
    equal(_forecast([_whose(ODD), _kind()], "--json").returncode, 0)
    event = {"event": "now", "pid": 1, "program": ODD, "routes": {"host": {"shapes": {"medium": {"calls": 1}}}}}
    contains(_with_file([event], "TOOL", "show", "FILE").stdout, "<h1> ]0;title  [31m\nred   31m ")
    for words in (("show", ODD), ("forecast", ODD), ("run", "--report", f"/nonexistent/{ODD}", "CLIENT_NONE", "exit", "0"),
                  ("run", "--preload", ODD, "CLIENT"), ("explain", "1", "1", "1", "--assume", ODD), ("bench", "--library", ODD)):
        assert _call("TOOL", *words).stderr, words
    contains(_call("TOOL", "info", environment={"TILEBLAS_HOST_BLAS": ODD}).stdout, "?]0;title??[31m")


def a_report_does_not_reach_the_terminal():
    # What a program's process writes beside the library's own lines.
    script = 'cat "$1" >> "$TILEBLAS_STATS_FILE"'
    event = {"tileblas": "0.1.0", "event": "exit", "pid": 1, "program": ODD, "calls": 0,
             "gemm": [{"object": ODD, "name": ODD, "bound": ODD}], "objects": [ODD]}
    for options in ((), ("--json",)):
        done = _with_file([event], "TOOL", "run", *options, "--report", "/dev/null", "sh", "-c", script, "sh", "FILE")
        contains(done.stderr, "is bound to")


def a_pipe_in_a_report_is_not_waited_for():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        event = {"event": "exit", "pid": 1, "objects": [pipe], "gemm": [{"object": pipe, "name": "sgemm_", "bound": pipe}]}
        done = _with_file([event], "TOOL", "run", "sh", "-c", 'cat "$1" >> "$TILEBLAS_STATS_FILE"', "sh", "FILE")
        contains(done.stderr, "is bound to")


def many_processes_are_shown():
    lines = [{"event": event, "pid": pid, "calls": 0} for pid in range(1, 60001) for event in ("load", "now")]
    contains(_with_file(lines, "TOOL", "show", "FILE").stdout, "60000 processes")


def a_program_of_many_tables_is_looked_at():
    # 65000 sections that all name the same 100000 symbols.
    sections, symbols, names = 65000, 100000, b"\0sgemm\0"
    start = 64
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, _machine(), 1, 0, 0, start, 0, 64, 56, 0, 64, sections, 0)
    at_symbols = start + 64 * sections
    at_names = at_symbols + 24 * symbols
    table = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at_names, len(names), 0, 0, 1, 0)
    table += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at_symbols, 24 * symbols, 0, 0, 8, 24) * (sections - 1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        with open(path, "wb") as file:
            file.write(header + table + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 0) * symbols + names)
        event = {"event": "exit", "pid": 1, "objects": [path]}
        done = _with_file([event], "TOOL", "run", "sh", "-c", 'cat "$1" >> "$TILEBLAS_STATS_FILE"', "sh", "FILE")
        contains(done.stderr, "holds its own GEMM")


def _machine():
    with open(PATHS["TOOL"], "rb") as file:
        return struct.unpack_from("<H", file.read(20), 18)[0]


def commands_bind_before_they_begin():
    with open(PATHS["TOOL"], "rb") as file:
        image = file.read()
    offset, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", image, offset + i * size) for i in range(count)]
    assert any(segment[0] == 0x6474e552 for segment in segments), "no part becomes read-only (relro)"
    at, length = next((segment[2], segment[5]) for segment in segments if segment[0] == 2)
    dynamic = dict(struct.unpack_from("<QQ", image, at + i) for i in range(0, length, 16))
    assert dynamic.get(0x6ffffffb, 0) & 1, "references are bound when they are first used (no -z now)"


main(globals())
