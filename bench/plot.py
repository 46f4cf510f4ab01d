#!/usr/bin/env python3
"""Draws the ladder and writes its figures into docs/ladder.md, all from the JSON that the benchmarks left.

    bench/plot.py build/gpu-results/ladder.json [--counters build/gpu-results/ladder-ncu.json]

What stands between <!-- NAME --> and <!-- /NAME --> in the document belongs to this script.
"""
import argparse
import json
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
TRANSPOSITIONS = {"NN": "neither transposed", "TN": "A transposed"}
REFUSALS = {"alignment": "alignment", "k": "k too large", "wrong": "**wrong**", "architecture": "architecture"}

# Figures are per multiply-add of one thread; ncu counts the memory instructions of warps, hence the 32.
FMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
READINGS = {
    "sectors per load": (
        "32-byte sectors touched by a warp's load",
        lambda c: c["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] / c[LOADS]),
    "bytes from L2": (
        "bytes read from L2 per multiply-add",
        lambda c: c["lts__t_sectors_op_read.sum"] * 32 / c[FMA]),
    "global loads": (
        "global loads per multiply-add",
        lambda c: c[LOADS] * 32 / c[FMA]),
    "shared loads": (
        "shared-memory loads per multiply-add",
        lambda c: c["smsp__inst_executed_op_shared_ld.sum"] * 32 / c[FMA]),
    "passes": (
        "passes over the banks for reads, per multiply-add",
        lambda c: c["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] * 32 / c[FMA]),
    "read conflicts": (
        "bank conflicts of reads per multiply-add",
        lambda c: c["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] * 32 / c[FMA]),
    "store conflicts": (
        "bank conflicts of stores per multiply-add",
        lambda c: c["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] * 32 / c[FMA]),
    "instructions": (
        "instructions per multiply-add",
        lambda c: c["smsp__inst_executed.sum"] * 32 / c[FMA]),
    "barrier stalls": (
        "warps waiting at a barrier per instruction issued",
        lambda c: c["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"]),
    "memory stalls": (
        "warps waiting for global memory per instruction issued",
        lambda c: c["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"]),
}

# rung: the rung it is held against, transposition, (n, k), the reading that its idea moves
STEPS = {
    "naive": (None, "NN", (4096, 4096), "sectors per load"),
    "naive_uncoalesced": ("naive", "NN", (4096, 4096), "sectors per load"),
    "block_global": ("naive", "NN", (4096, 4096), "bytes from L2"),
    "shared_full_k": ("block_global", "NN", (4096, 128), "global loads"),
    "shared_window": ("block_global", "NN", (4096, 4096), "global loads"),
    "tile_1d": ("shared_window", "NN", (4096, 4096), "shared loads"),
    "tile_2d": ("tile_1d", "NN", (4096, 4096), "shared loads"),
    "tile_2d_registers": ("tile_2d", "NN", (4096, 4096), "shared loads"),
    "index_remap": ("tile_2d_registers", "NN", (4096, 4096), "sectors per load"),
    "float4": ("index_remap", "NN", (4096, 4096), "instructions"),
    "a_transposed": ("float4", "TN", (4096, 4096), "passes"),
    "conflict_free": ("a_transposed", "NN", (4096, 4096), "read conflicts"),
    "z_order": ("conflict_free", "NN", (4096, 4096), "passes"),
    "double_buffer": ("z_order", "NN", (4096, 4096), "memory stalls"),
    "bounded_scalar": ("double_buffer", "NN", (4096, 4096), "instructions"),
    "pitched": ("bounded_scalar", "NN", (1111, 1111), None),
}


class Ladder:
    """The results, and one reading of them each."""

    def __init__(self, results, counters):
        self.results = results
        self.counters = counters
        self.rungs = {rung["name"]: rung for rung in results["rungs"]}

    def tflops(self, name, transposition, shape, key="tflops"):
        for result in self.rungs[name][transposition]["results"]:
            if (result["n"], result["k"]) == shape:
                return result.get(key)
        return None

    def reading(self, name, transposition, reading):
        counters = self.counters.get("kernels", {}).get(f"ladder_{name}_{transposition.lower()}")
        try:
            return READINGS[reading][1](counters)
        except (KeyError, TypeError, ZeroDivisionError):
            return None


def shape_text(n, k):
    return f"n = {n}" if n == k else f"m = n = {n}, k = {k}"


def figure(value):
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def change(before, after):
    return f"**{figure(after)}**" if before is None else f"{figure(before)} → **{figure(after)}**"


def figures(ladder, name):
    against, transposition, shape, reading = STEPS[name]
    where = f"{transposition}, {shape_text(*shape)}"
    after = ladder.tflops(name, transposition, shape)
    if after is None:
        return f"{where}: not measured."
    before = against and ladder.tflops(against, transposition, shape)
    percent = ladder.tflops(name, transposition, shape, "percent")
    versus = f" (before: `{against}`)" if before else ""
    lines = [f"{where}: {change(before, after)} TFLOP/s, {percent:.0f} % of cuBLAS{versus}."]
    if reading:
        count = ladder.reading(name, transposition, reading)
        if count is not None:
            earlier = ladder.reading(against, transposition, reading) if against else None
            lines.append(f"Counter: {READINGS[reading][0]} {change(earlier, count)}.")
    return "\n".join(lines)


def table(ladder, transposition):
    results = ladder.results["rungs"][0][transposition]["results"]
    shapes = [(result["n"], result["k"]) for result in results]
    head = ["rung", "registers", "shared", "occupancy"] + [
        str(n) if n == k else f"{n}, k {k}" for n, k in shapes]
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for rung in ladder.results["rungs"]:
        side = rung[transposition]
        row = [rung["name"]]
        if "registers" in side:
            row += [str(side["registers"]), str(side["shared_bytes"]), f"{side['occupancy']:.0%}"]
        else:
            row += ["", "", ""]
        for result in side["results"]:
            if "refused" in result:
                row.append(REFUSALS[result["refused"]])
            else:
                row.append(f"{result['tflops']:.2f} ({result['percent']:.0f} %)")
        rows.append(row)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def machine_text(results):
    machine = results["machine"]
    version = lambda number: f"{number // 1000}.{number % 1000 // 10}"
    cublas = machine["cublas"]
    return (f"One {machine['gpu']}, {machine['multiprocessors']} multiprocessors, driver for CUDA "
            f"{version(machine['driver'])}, CUDA {version(machine['cuda'])}, "
            f"cuBLAS {cublas // 10000}.{cublas // 100 % 100}.")


def rewrite(path, ladder):
    parts = {"machine": machine_text(ladder.results)}
    for transposition in TRANSPOSITIONS:
        parts[f"table {transposition}"] = table(ladder, transposition)
    for name in STEPS:
        parts[f"figures {name}"] = figures(ladder, name)
    text = path.read_text()
    for name, body in parts.items():
        text, count = re.subn(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m: m[1] + body + "\n" + m[2],
                              text, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"plot: {path} has {count} places for '{name}', not one")
    path.write_text(text)


def spread(places, least):
    """Moves labels apart, upwards, until neighbours are at least so far from each other."""
    moved = []
    for place in sorted(places):
        moved.append(place if not moved else max(place, moved[-1] + least))
    return moved


def draw_side(axes, ladder, transposition):
    import matplotlib
    colours = matplotlib.colormaps["viridis"]
    ceiling = ladder.results["ceiling_tflops"]
    ends = []
    for position, rung in enumerate(ladder.results["rungs"]):
        points = [(r["n"], r["tflops"]) for r in rung[transposition]["results"]
                  if r["n"] == r["k"] and "tflops" in r]
        if not points:
            continue
        reference = rung["name"] == "cuBLAS"
        generality = rung["name"] in ("bounded_scalar", "pitched")
        colour = "black" if reference else colours(0.95 * position / len(ladder.results["rungs"]))
        axes.plot(*zip(*points), color=colour, marker="o", markersize=3,
                  linewidth=2 if reference else 1.2, linestyle="--" if generality else "-")
        ends.append((points[-1][1], rung["name"], colour))
    top = ceiling or 1.1 * max(end[0] for end in ends)
    ends.sort(key=lambda end: end[0])
    for (_, name, colour), place in zip(ends, spread([end[0] for end in ends], 0.032 * top)):
        axes.annotate(name, (4096, place), xytext=(6, 0), textcoords="offset points", va="center",
                      fontsize=7.5, color=colour)
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, top)
    sizes = [512, 1024, 2048, 4096]
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xlabel("n")
    axes.set_title(f"{transposition}: {TRANSPOSITIONS[transposition]}", fontsize=10)
    axes.grid(axis="y", linewidth=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(side == "top" and bool(ceiling))


def draw(path, ladder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    picture, sides = plot.subplots(1, 2, figsize=(11, 5.5), sharey=True)
    for axes, transposition in zip(sides, TRANSPOSITIONS):
        draw_side(axes, ladder, transposition)
    ceiling = ladder.results["ceiling_tflops"]
    sides[0].set_ylabel("TFLOP/s" + (f" (top: multiply-adds alone, {ceiling:g})" if ceiling else ""))
    picture.suptitle(f"SGEMM n x n x n, {ladder.results['machine']['gpu']}", fontsize=11)
    picture.tight_layout()
    picture.subplots_adjust(wspace=0.3, right=0.88)
    picture.savefig(path, dpi=100, pil_kwargs={"optimize": True})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--counters")
    arguments = parser.parse_args()
    results = json.loads(pathlib.Path(arguments.results).read_text())
    counters = json.loads(pathlib.Path(arguments.counters).read_text()) if arguments.counters else {}
    ladder = Ladder(results, counters)
    draw(DOCS / "ladder.png", ladder)
    rewrite(DOCS / "ladder.md", ladder)


if __name__ == "__main__":
    main()
