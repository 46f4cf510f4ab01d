#!/usr/bin/env python3
"""Whole jobs of real programs (jobs.py), plain and with the library in turn: what preloading it gains or loses.

    bench/jobs/run.py --preload build/libtileblas-preload.so --count build/bench/jobs/libjobs_count.so
                      --programs build/bench/jobs --json jobs.json [--part 1/3] [--pairs 7] [--seconds 570]
    bench/jobs/run.py --report jobs.json [FILE...]

Each job is run once to count its seconds in linear algebra, plain, which also warms the caches of files and shows
whether its package is there; then so many rounds, each of which runs every way once, in turn forwards and backwards.
What does not fit into --seconds is left out by name. --json adds what was measured to the file, after each job;
--report makes the tables of all files together. docs/programs.md says how to read them.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import jobs
import processes
import report
import start


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", metavar="LIB", help="the library; without it nothing but plain is run")
    parser.add_argument("--count", metavar="LIB", help="libjobs_count.so; without it linear algebra is not counted")
    parser.add_argument("--server", metavar="COMMAND", help="the command tileblas: its server runs while a way is served")
    parser.add_argument("--programs", metavar="FOLDER", help="where the jobs are that are C programs")
    parser.add_argument("--python", default=sys.executable, help="that has the packages (default: this one)")
    parser.add_argument("--ways", help="default: plain,preloaded; known: " + ",".join(start.WAYS))
    parser.add_argument(
        "--way",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "VARIABLE=VALUE"),
        help="one more way: preloaded, with these variables (LD_PRELOAD: another library)",
    )
    parser.add_argument(
        "--routes",
        action="store_true",
        help="one run more of each way but plain: how many of the " "products go to a device",
    )
    parser.add_argument("--jobs", nargs="+", metavar="NAME", help="these alone")
    parser.add_argument("--packages", nargs="+", metavar="NAME", help="the jobs of these alone")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th job, from the I-th on")
    parser.add_argument(
        "--pairs",
        type=int,
        default=7,
        metavar="N",
        help="rounds of each job (default 7; 5 are the least " "that give an interval; 0: only count)",
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for all; what does not fit is left out")
    parser.add_argument("--scale", type=float, default=1, help="of all sizes: for tests of the runner alone")
    parser.add_argument("--label", default="", help="of the library, as its commit")
    parser.add_argument("--json", metavar="FILE", help="what was measured is added to it")
    parser.add_argument("--report", nargs="+", metavar="FILE", help="run nothing; print the tables of these files")
    parser.add_argument("--list", action="store_true", help="print the jobs")
    arguments = parser.parse_args()
    check(parser, arguments)
    return arguments


def check(parser, arguments):
    for name, *settings in arguments.way:
        if not all("=" in setting for setting in settings):
            parser.error(f"--way {name}: VARIABLE=VALUE is wanted")
        start.WAYS[name] = dict(setting.split("=", 1) for setting in settings)
    ways = arguments.ways.split(",") if arguments.ways else ["plain"] + ["preloaded"] * bool(arguments.preload)
    ways += [name for name, *_ in arguments.way if name not in ways]
    for way in ways:
        if way not in start.WAYS:
            parser.error(f"there is no way {way}")
        if way != "plain" and not arguments.preload and "LD_PRELOAD" not in start.WAYS[way]:
            parser.error(f"{way} needs --preload")
    if ways[0] != "plain":
        parser.error("the first way is plain: the others are compared with it")
    if "served" in ways and not arguments.server:
        parser.error("served needs --server")
    arguments.ways = ways
    for attribute in ("preload", "count", "programs", "server"):
        path = getattr(arguments, attribute)
        if path and not os.path.exists(path):
            parser.error(f"there is no {path}")
        if path:
            setattr(arguments, attribute, os.path.abspath(path))
    known = {job.name for job in jobs.JOBS}
    for name in arguments.jobs or []:
        if name not in known:
            parser.error(f"there is no job {name}")
    index, count = (int(number) for number in arguments.part.split("/"))
    if not 1 <= index <= count:
        parser.error("--part I/N: I from 1 to N")
    arguments.part = index, count


def chosen_jobs(arguments):
    """In the order of --jobs, or of the list."""
    named = [jobs.find_job(name) for name in arguments.jobs] if arguments.jobs else jobs.JOBS
    chosen = [job for job in named if not arguments.packages or job.package in arguments.packages]
    index, count = arguments.part
    return chosen[index - 1 :: count]


class Clock:
    def __init__(self, seconds):
        self.deadline = time.monotonic() + seconds

    def left(self):
        return self.deadline - time.monotonic()


def measure(job, arguments, clock):
    """What is known of a job afterwards: its runs of each way, or why there are none."""
    result = {"job": job.name, "package": job.package}
    command = start.command_of(job, arguments)
    if clock.left() <= 0:
        return result | {"left_out": "no time was left"}
    first, counts = start.count(command, arguments.count)
    if first.status:
        word = "its package is missing" if first.status == start.MISSING else f"it fails plain, status {first.status}"
        return result | {"skipped": f"{word}: {first.message}"}
    rounds = arguments.pairs + bool(arguments.routes)
    needed = 1.1 * rounds * len(arguments.ways) * first.seconds
    if needed > clock.left():
        return result | {"left_out": f"about {needed:.0f} s are needed"}
    result |= {"counts": counts, "first_seconds": first.seconds, "ways": arguments.ways, "rounds": [], "cpu": []}
    if arguments.routes:
        counted = arguments.ways[1:]
        result["routes"] = {way: start.count_routes(command, way, arguments.preload) for way in counted}
    for number in range(arguments.pairs):
        failed = run_round(number, command, arguments, result)
        if failed:
            return result | {"failed": failed}
        round_seconds = statistics.median(sum(times.values()) for times in result["rounds"])
        if round_seconds > clock.left() and number + 1 < arguments.pairs:
            return result | {"cut": f"{number + 1} of {arguments.pairs} rounds"}
    return result


def run_round(number, command, arguments, result):
    """Every way once, every other round backwards. It is kept if all went well; else it is said what failed."""
    runs = {}
    for way in arguments.ways[:: -1 if number % 2 else 1]:
        runs[way] = start.start(command, start.environment_of(way, arguments.preload))
        if runs[way].status:
            return f"{way}: status {runs[way].status}: {runs[way].message}"
    result["rounds"].append({way: runs[way].seconds for way in arguments.ways})
    result["cpu"].append({way: runs[way].cpu for way in arguments.ways})
    return None


def write(path, call, index):
    """Adds the call to the file's, or replaces it: it grows from job to job."""
    if not path:
        return
    calls = report.read_calls(path) if os.path.exists(path) else []
    calls[index:] = [call]
    with open(path + ".new", "w") as file:
        json.dump({"calls": calls}, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def main():
    arguments = parse()
    if arguments.list:
        for job in jobs.JOBS:
            print(f"{job.name:22}{job.package:14}{job.what}")
        return 0
    if arguments.report:
        return report.print_report([call for path in arguments.report for call in report.read_calls(path)])
    clock = Clock(arguments.seconds)
    call = {
        "machine": report.describe_machine(arguments.python),
        "label": arguments.label,
        "scale": arguments.scale,
        "results": [],
    }
    index = len(report.read_calls(arguments.json)) if arguments.json and os.path.exists(arguments.json) else 0
    with processes.server_of(arguments.server) if "served" in arguments.ways else contextlib.nullcontext():
        for job in chosen_jobs(arguments):
            result = measure(job, arguments, clock)
            call["results"].append(result)
            print(report.say_result(result), flush=True)
            write(arguments.json, call, index)
    return report.print_report([call])


if __name__ == "__main__":
    sys.exit(main())
