#!/usr/bin/env python3
"""Reads hardware counters of a benchmark's kernels with ncu and keeps them as JSON.

    bench/counters.py build/bench/ladder build/gpu-results/ladder-ncu.json [--size 2048] [--names ^ladder_]
                      [--options="--routine dgemm"]

One profiled run, `PROGRAM --once --size N OPTIONS`, launches each kernel once or a few times. The file holds the size and, for
each kernel by its name in the profiler, the raw value of each metric below. It is for bench/plot.py and the documents.
"""
import argparse
import csv
import io
import json
import subprocess
import sys

METRICS = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sector_hit_rate.pct",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
]


def profile(program, size, names, options):
    command = [
        "ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
        "--kernel-name", "regex:" + names, "--metrics", ",".join(METRICS),
        program, "--once", "--size", str(size), *options,
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"counters: ncu ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def read(report):
    """The raw page: a line of column names, one of units, one for each launch."""
    lines = [line for line in report.splitlines() if line.startswith('"')]
    if not lines:
        sys.exit(f"counters: no table in the report\n{report}")
    kernels = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        if row["ID"]:
            # The last launch of a name: calibration, before, launches one of them too.
            kernels[row["Kernel Name"].split("(")[0]] = {m: number(row.get(m, "")) for m in METRICS}
    return kernels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("json")
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--names", default="^ladder_", help="a regular expression that the kernels' names match")
    parser.add_argument("--options", type=str.split, default=[], help="further ones of the program")
    arguments = parser.parse_args()
    kernels = read(profile(arguments.program, arguments.size, arguments.names, arguments.options))
    with open(arguments.json, "w") as file:
        json.dump({"size": arguments.size, "kernels": kernels}, file, indent=2)
        file.write("\n")
    print(f"{len(kernels)} kernels -> {arguments.json}")


if __name__ == "__main__":
    main()
