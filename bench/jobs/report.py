"""The tables of measured jobs: what run.py prints, of one call or of the files of many."""

import json
import os
import statistics
import subprocess
import sys

import figures
import jobs

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import processes  # noqa: E402  bench/processes.py

VERSIONS = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print(name, "-")
"""


def describe_machine(python):
    names = sorted({jobs.DISTRIBUTIONS.get(job.package, job.package) for job in jobs.JOBS if not job.is_program})
    found = subprocess.run([python, "-c", VERSIONS, *names], stdout=subprocess.PIPE, text=True).stdout
    packages = dict(line.split() for line in found.splitlines())
    python_version = subprocess.run([python, "-V"], stdout=subprocess.PIPE, text=True).stdout.strip()
    kernel = os.uname().release
    return processes.describe_machine() | {"kernel": kernel, "python": python_version, "packages": packages}


def read_calls(path):
    with open(path) as file:
        return json.load(file)["calls"]


# ---- One job -------------------------------------------------------------------------------------------------------


def times_of(result, way):
    return [times[way] for times in result["rounds"] if way in times]


def seconds_of(result, way):
    """The median; None where there was no round."""
    times = times_of(result, way)
    return statistics.median(times) if times else None


def estimates(result):
    """Of each way but plain: the ratio plain / way, and its interval. A round is a pair."""
    pairs = {
        way: [times["plain"] / times[way] for times in result["rounds"] if way in times] for way in result["ways"][1:]
    }
    return {way: figures.estimate(ratios) for way, ratios in pairs.items() if ratios}


def say_ratio(ratio, interval):
    if interval is None:
        return f"{ratio:.2f}"
    return f"{ratio:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"


def why_not(result):
    for word in ("failed", "left_out", "skipped"):
        if word in result:
            return f"{word.replace('_', ' ').upper()}: {result[word]}"
    return None


def say_result(result):
    """A line of progress."""
    reason = why_not(result)
    if reason:
        return f"{result['job']}: {reason}"
    counts = result["counts"]
    parts = [", ".join(f"{way} {seconds_of(result, way):.2f} s" for way in result["ways"] if result["rounds"])]
    parts += [", ".join(f"plain / {way} {say_ratio(*each)}" for way, each in estimates(result).items())]
    if counts:
        parts += [
            f"counted {result['first_seconds']:.2f} s, level 3 {counts['level3']:.2f}, LAPACK {counts['lapack']:.2f}"
        ]
    return f"{result['job']}: " + "; ".join(filter(None, parts + [result.get("cut")]))


def verdict(interval):
    if interval is None:
        return "?"
    return f"under {figures.LOST}" if figures.is_lost(interval) else "gains" if figures.is_gained(interval) else ""


# ---- All jobs ------------------------------------------------------------------------------------------------------


def group_calls(calls):
    """By what may not be put into one table: another GPU, library or scale."""
    groups = {}
    for call in calls:
        gpus = ", ".join(call["machine"]["gpus"]) or "no GPU"
        groups.setdefault((gpus, call["machine"]["cores"], call["label"], call["scale"]), []).append(call)
    return groups


def merge_results(calls):
    """All runs of each job, in the order of the list. A job that was measured in one call and left out in another was
    measured."""
    merged = {}
    for result in (result for call in calls for result in call["results"]):
        known = merged.get(result["job"])
        if known is None or "rounds" not in known:
            merged[result["job"]] = dict(result)
        elif "rounds" in result:
            known |= {kind: known[kind] + result[kind] for kind in ("rounds", "cpu")}
            known["ways"] = list(dict.fromkeys(known["ways"] + result["ways"]))
            known["counts"] = known["counts"] or result["counts"]
            known |= {word: result[word] for word in ("failed", "routes") if word in result}
    order = {job.name: index for index, job in enumerate(jobs.JOBS)}
    return sorted(merged.values(), key=lambda result: order.get(result["job"], len(order)))


def row_of(result, ways):
    counts = result.get("counts")
    row = [result["job"], result["package"], str(len(result["rounds"])), f"{result['first_seconds']:.2f}"]
    seconds = [seconds_of(result, way) for way in ways]
    row += ["" if each is None else f"{each:.2f}" for each in seconds]
    found = estimates(result)
    for way in ways[1:]:
        row += [say_ratio(*found[way]), verdict(found[way][1])] if way in found else ["", ""]
    row += [say_routes(result.get("routes"))]
    if not counts:
        return row + ["", "", "", ""]
    threads = sum(routine["seconds"] for routine in counts["routines"].values())
    most = sorted(counts["routines"].items(), key=lambda each: -each[1]["seconds"])[:3]
    named = ", ".join(f"{name} {routine['calls']}" for name, routine in most if routine["seconds"] > 0.001)
    return row + [f"{counts['level3']:.2f}", f"{counts['lapack']:.2f}", f"{threads:.2f}", named]


def say_routes(routes):
    """Products on a device, of how many, for each way."""
    return ", ".join("%d/%d" % (each["device"], each["calls"]) if each else "-" for each in (routes or {}).values())


def print_machine(calls):
    machine, label = calls[0]["machine"], calls[0]["label"]
    gpus = "; ".join(machine["gpus"]) or "no GPU"
    print(f"{gpus}; {machine['cores']} cores, {machine['cpu']}; Linux {machine['kernel']}; {machine['python']}")
    print("; ".join(f"{name} {version}" for name, version in machine["packages"].items() if version != "-"))
    if label:
        print(f"library: {label}")
    if calls[0]["scale"] != 1:
        print(f"ALL SIZES TIMES {calls[0]['scale']:g}: these figures mean nothing")


def print_summary(way, results):
    """Of one way beside plain, over all jobs that have both."""
    measured = [result for result in results if times_of(result, way)]
    if not measured:
        return
    found = [(result, *estimates(result)[way]) for result in measured]
    plain = [seconds_of(result, "plain") for result in measured]
    ours = [seconds_of(result, way) for result in measured]
    print(f"\n{way}: {len(measured)} jobs of {len({result['package'] for result in measured})} packages")
    print(f"  geometric mean of plain / {way}: {figures.geometric_mean([ratio for _, ratio, _ in found]):.3f}")
    print(f"  seconds in all: plain {sum(plain):.1f}, {way} {sum(ours):.1f}")
    print_share(measured, plain, ours)
    print_judged(f"under {figures.LOST}", [each for each in found if figures.is_lost(each[2])])
    print_judged("gain", [each for each in found if figures.is_gained(each[2])])
    unsure = [result["job"] for result, _, interval in found if interval is None]
    if unsure:
        print(f"  not judged, fewer than five rounds: {', '.join(unsure)}")


def print_judged(word, found):
    names = "; ".join(f"{result['job']} {say_ratio(ratio, interval)}" for result, ratio, interval in found)
    print(f"  {word}: {len(found)}{': ' if found else ''}{names}")


def print_share(measured, plain, ours):
    counted = [i for i, result in enumerate(measured) if result.get("counts")]
    if not counted:
        return
    level3, lapack, either = ([measured[i]["counts"][key] for i in counted] for key in ("level3", "lapack", "either"))
    share = figures.share_gone([plain[i] for i in counted], [ours[i] for i in counted], either)
    kinds = f"level 3 {sum(level3):.1f}, LAPACK {sum(lapack):.1f}"
    print(f"  linear algebra, plain: {sum(either):.1f} s ({kinds}); gone: {100 * share:.0f}%")


def print_report(calls):
    """The tables. 1: a job failed, or a result was wrong."""
    failed = False
    for group in group_calls(calls).values():
        results = merge_results(group)
        print()
        print_machine(group)
        complete = [result for result in results if not why_not(result)]
        ways = list(dict.fromkeys(way for result in complete for way in result["ways"]))
        heads = ["job", "package", "rounds", "first", *ways]
        for way in ways[1:]:
            heads += [f"plain / {way}", "verdict"]
        if complete:
            print()
            rows = [row_of(result, ways) for result in complete]
            processes.print_table(heads + ["on device", "level 3", "LAPACK", "threads", "calls"], rows)
        for way in ways[1:]:
            print_summary(way, complete)
        for result in results:
            if why_not(result):
                print(f"{result['job']}: {why_not(result)}")
            failed = failed or "failed" in result
    return 1 if failed else 0
