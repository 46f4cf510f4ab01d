"""`tileblas tune`, and what programs make of the profile that it keeps."""

import json
import os
import re
import tempfile

from tool import call, contains, equal, main

SIM = {"TILEBLAS_START": "wait"}


def _explain(folder):
    done = call("TOOL_SIM", "explain", "500", "500", "500", "--json", environment={**SIM, "XDG_CACHE_HOME": folder})
    equal(done.returncode, 0, done.stderr)
    routes = {row["route"]: row for row in json.loads(done.stdout)["routes"]}
    return routes["host"]["seconds"], done.stderr


def _profile(folder):
    return os.path.join(folder, "tileblas", "profile")


def _tune(folder):
    done = call("TOOL_SIM", "tune", "--seconds", "0", "--largest", "256",
                environment={**SIM, "XDG_CACHE_HOME": folder})
    equal((done.returncode, done.stdout), (0, f"wrote {_profile(folder)}\n"), done.stderr)
    with open(_profile(folder)) as file:
        return file.read()


def it_writes_what_was_learned():
    with tempfile.TemporaryDirectory() as folder:
        lines = _tune(folder).splitlines()
        equal(lines[0], "tileblas profile 3")
        contains(lines[1], "machine ", " cores, simulated")
        equal(lines[-1], "end")
        kinds = {tuple(line.split()[:2]) for line in lines[2:-1]}
        equal(kinds, {("S", "host"), ("S", "pageable"), ("S", "pinned")})
        assert all(re.fullmatch(r"[A-Z] [a-z]+ [0-9]+ [0-9.e+-]+", line) for line in lines[2:-1]), lines
        equal(os.listdir(os.path.join(folder, "tileblas")), ["profile"])


def programs_begin_with_it():
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = _explain(folder)
        head = _tune(folder).splitlines()[:2]
        for ratio in (0.5, 4):
            for element, expected in (("S", ratio), ("D", 1)):
                with open(_profile(folder), "w") as file:
                    file.write("\n".join(head + [f"{element} host {c} {ratio}" for c in range(48)] + ["end", ""]))
                seconds, said = _explain(folder)
                equal((round(seconds / plain, 3), said), (expected, ""))


def what_is_not_its_own_is_ignored_with_a_word():
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = _explain(folder)
        good = _tune(folder)
        head = "\n".join(good.splitlines()[:2])
        for text, word in ((good.replace("simulated", "another"), "another machine's"), ("", "damaged"),
                           (good[:-4], "damaged"), (good + "more\n", "damaged"), ("\0\0\0", "damaged"),
                           (head + "\nS host 48 1\nend\n", "damaged"), (head + "\nS host 3 -1\nend\n", "damaged"),
                           (head + "\nS host 3 nan\nend\n", "damaged"), (head + "\nS guest 3 1\nend\n", "damaged"),
                           (head + "\nS host 3 1 1\nend\n", "damaged"), (head + "\nX host 3 1\nend\n", "damaged"),
                           (head + "\nhost 3 1\nend\n", "damaged"), ("x" * 5000, "damaged"),
                           (good.replace("profile 3", "profile 1"), "another version")):
            with open(_profile(folder), "w") as file:
                file.write(text)
            seconds, said = _explain(folder)
            equal(seconds, plain, text)
            equal(said.count("\n"), 1, said)
            contains(said, _profile(folder), word)


def it_goes_where_it_is_told_and_away_again():
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, "there")
        done = call("TOOL_SIM", "tune", "--seconds", "0", "--largest", "128", "--output", other,
                    environment={**SIM, "XDG_CACHE_HOME": folder})
        equal((done.returncode, os.listdir(folder)), (0, ["there"]))
        _tune(folder)
        for _ in range(2):
            equal(call("TOOL_SIM", "tune", "--remove", environment={"XDG_CACHE_HOME": folder}).returncode, 0)
            assert not os.path.exists(_profile(folder))


def it_fails_in_words():
    with tempfile.TemporaryDirectory() as folder:
        none = call("TOOL_SIM", "tune", environment={**SIM, "TILEBLAS_SIM_DEVICES": "0", "XDG_CACHE_HOME": folder})
        equal(none.returncode, 1)
        contains(none.stderr, "no GPU")
        unwritable = call("TOOL_SIM", "tune", "--seconds", "0", "--largest", "1", "--output", "/proc/profile",
                          environment=SIM)
        equal(unwritable.returncode, 1)
        contains(unwritable.stderr, "/proc/profile")
        for wrong in (("--seconds", "x"), ("--largest", "0"), ("more",), ("--no",)):
            equal(call("TOOL_SIM", "tune", *wrong).returncode, 2, wrong)


main(dict(globals()))
