"""`tileblas info`, and what all subcommands have in common."""

import json
import re
from pathlib import Path

from tool import PATHS, call, contains, equal, main

SUBCOMMANDS = ("run", "show", "info", "explain", "forecast", "bench", "tune", "serve")


def it_tells_what_is_here():
    done = call("TOOL", "info", "--json", environment={"TILEBLAS_HOST_BLAS": PATHS["BLAS"], "TILEBLAS_ROUTE": "host"})
    equal(done.returncode, 0)
    info = json.loads(done.stdout)
    equal(info["host_blas"]["path"], PATHS["BLAS"])
    equal(info["options"]["ROUTE"], "host")
    assert info["host_cores"] >= 1
    with open(Path(__file__).parents[2] / "lib/user/options.def", encoding="utf-8") as file:
        equal(sorted(info["options"]), sorted(re.findall(r"^TB_OPTION\((\w+)", file.read(), re.M)))
    assert "sgemm_simt_128x256" in [kernel["name"] for kernel in info["kernels"]]
    equal(info["preload"], PATHS["PRELOAD"])
    words = call("TOOL", "info", environment={"TILEBLAS_HOST_BLAS": PATHS["BLAS"]}).stdout
    contains(words, "TileBLAS ", "host BLAS    " + PATHS["BLAS"], "TILEBLAS_ROUTE            auto (default)",
             "sgemm_simt_128x256")


def what_is_chosen_only_when_forced_is_shown_on_request():
    plain, whole = call("TOOL", "info").stdout, call("TOOL", "info", "--all").stdout
    contains(plain, "  sgemm_simt_128x256 ", " more, chosen only when forced: --all shows them")
    names = [kernel["name"] for kernel in json.loads(call("TOOL", "info", "--json").stdout)["kernels"]]
    forced = [name for name in names if f"  {name} " not in plain]
    assert forced
    contains(whole, *(f"  {name} " for name in names))
    assert "--all" not in whole
    contains(call("TOOL", "info", environment={"TILEBLAS_KERNEL": forced[0]}).stdout, f"  {forced[0]} ")


def it_tells_of_gpus():
    started = {"TILEBLAS_START": "background"}
    info = json.loads(call("TOOL_SIM", "info", "--json", environment=started).stdout)
    assert len(info["devices"]) >= 1 and info["no_device"] is None
    assert info["devices"][0]["multiprocessors"] > 0 and info["devices"][0]["memory_bytes"] > 0
    contains(call("TOOL_SIM", "info", environment=started).stdout, "GPU 0 ", "driver ", "multiprocessors")
    unasked = json.loads(call("TOOL_SIM", "info", "--json").stdout)
    equal(unasked["devices"], [])
    contains(unasked["no_device"], "START")


def no_blas_is_said():
    environment = {"TILEBLAS_HOST_BLAS": "/nonexistent"}
    info = json.loads(call("TOOL", "info", "--json", environment=environment).stdout)
    equal(info["host_blas"]["path"], None)
    contains(call("TOOL", "info", environment=environment).stdout, "host BLAS    none")


def every_subcommand_has_help():
    overview = call("TOOL", "--help")
    equal(overview.returncode, 0)
    for subcommand in SUBCOMMANDS:
        contains(overview.stdout, f"\n  {subcommand} ")
        done = call("TOOL", subcommand, "--help")
        equal((done.returncode, done.stderr), (0, ""))
        contains(done.stdout, f"usage: tileblas {subcommand}")


def the_pages_know_every_option():
    with open(f"{PATHS['PAGES']}/tileblas.1", encoding="utf-8") as file:
        manual = file.read()
    completions = []
    for shell in ("tileblas.bash", "_tileblas"):
        with open(f"{PATHS['PAGES']}/{shell}", encoding="utf-8") as file:
            completions.append(file.read())
    for subcommand in SUBCOMMANDS:
        help_text = call("TOOL", subcommand, "--help").stdout
        for option in set(re.findall(r"--([a-z]+)", help_text)):
            contains(manual, f"Fl -{option}")
            for completion in completions:
                contains(completion, f"--{option}")


def wrong_usage_is_2():
    for command in ((), ("nonsense",), ("info", "--nonsense"), ("info", "word"), ("bench", "--nonsense"),
                    ("explain", "--nonsense")):
        done = call("TOOL", *command)
        equal((done.returncode, done.stdout), (2, ""), str(command))
        assert done.stderr, command


def the_version_is_told():
    contains(call("TOOL", "--version").stdout, "tileblas 0.")


def statistics_of_the_command_itself_are_not_printed():
    equal(call("TOOL", "info", environment={"TILEBLAS_STATS": "1"}).stderr, "")


if __name__ == "__main__":
    main(globals())
