#!/usr/bin/env python3
"""Draws what the benchmarks measured, from the JSON that they left.

    bench/pictures.py kernels   kernels.json docs/kernels.png
    bench/pictures.py streamed  streamed-pageable.json docs/streamed.png
    bench/pictures.py regret    regret-sgemm.json docs/regret.png
    bench/pictures.py routines  regret-sgemm.json regret-ztrsm.json ... docs/routines.png
    bench/pictures.py level3    level3-device.json level3-host.json docs/level3.png
    bench/pictures.py lapack    lapack-device.json lapack-host.json docs/lapack.png
    bench/pictures.py tensor    tensor.json docs/tensor.png
    bench/pictures.py precision precision.json docs/precision.png
    bench/pictures.py spread    spread.json docs/spread.png

scripts/gpu.sh leaves the files in build/gpu-results.
"""
import argparse
import json
import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402, behind the choice of what draws

from plot import spread as move_apart  # noqa: E402

# What multiply-adds alone sustain on an H200: docs/ladder.md.
CEILING = 59.6


def _bare(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(linewidth=0.3)


def _log_ticks(axis, values):
    axis.set_ticks(values, [str(value) for value in values])
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def _routine(results):
    """What was measured."""
    return results["routine"].upper()


def kernels(results):
    """TFLOP/s of either side over the product's size, a panel for each group, and what multiply-adds of floats sustain."""
    routine = _routine(results)
    ceilings = [CEILING] if routine.startswith("S") else []
    groups = [group for group in results["groups"] if group["products"]]
    top = max(ceilings + [p["tflops"] for group in groups for p in group["products"]])
    picture, panels = plot.subplots(1, len(groups), figsize=(3.1 * len(groups), 4.2), sharey=True)
    for axes, group in zip(panels, groups):
        products = group["products"]
        size = [(p["m"] * p["n"] * p["k"]) ** (1 / 3) for p in products]
        axes.scatter(size, [p["cublas_tflops"] for p in products], s=9, color="0.6", label=f"cuBLAS {routine}")
        axes.scatter(size, [p["tflops"] for p in products], s=9, color="tab:blue", label="TileBLAS")
        axes.set_xscale("log", base=2)
        for ceiling in ceilings:
            axes.axhline(ceiling, color="0.3", linewidth=0.7)
        axes.set_ylim(0, top * 1.02)
        axes.set_title(f"{group['name']}: {group['geometric_mean']:.2f} times, least {group['least']:.2f}", fontsize=9)
        axes.set_xlabel("cube root of mnk")
        _bare(axes)
        axes.spines["top"].set_visible(True)
    panels[0].set_ylabel("TFLOP/s" + "".join(f" (line: multiply-adds alone, {c:g})" for c in ceilings))
    panels[0].legend(fontsize=8, loc="center right")
    picture.suptitle(
        f"{routine} in precision {results.get('precision', 'ieee')}, {results['machine']['gpu']}, operands on the device",
        fontsize=11,
    )
    return picture


# Contenders in the picture's order, and how they look.
SIDES = {
    "tileblas": ("TileBLAS", "tab:blue", "-"),
    "copy-run-copy": ("copies and cuBLAS", "tab:orange", "-"),
    "cublasxt": ("cublasXt", "tab:green", "-"),
    "nvblas-tuned": ("NVBLAS, tuned", "tab:red", "-"),
    "nvblas": ("NVBLAS", "tab:red", ":"),
    "openblas": ("OpenBLAS", "0.4", "-"),
}


def streamed(results):
    """Time over the floor of square products, each side a line: 1 is as fast as link and kernel allow."""
    squares = [p for p in results["products"] if p["m"] == p["n"] == p["k"]]
    picture, axes = plot.subplots(figsize=(7, 4.5))
    for side, (name, colour, style) in SIDES.items():
        points = [(p["n"], p["seconds"][side] / p["floor"]) for p in squares
                  if p["seconds"].get(side) is not None and p["floor"]]
        if points:
            axes.plot(*zip(*points), color=colour, linestyle=style, marker="o", markersize=4, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _log_ticks(axes.xaxis, [p["n"] for p in squares])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xlabel("n")
    axes.set_ylabel("time over the floor")
    axes.set_title(f"{_routine(results)}, n x n x n, matrices in {squares[0]['memory']} host memory", fontsize=10)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    _bare(axes)
    return picture


def regret(results):
    """Which way each product took, over its arithmetic and its bytes; a ring where another way was faster."""
    places = ("pageable", "pinned", "device")
    picture, panels = plot.subplots(1, len(places), figsize=(12, 4.2), sharex=True, sharey=True)
    for axes, place in zip(panels, places):
        products = [p for p in results["products"] if p["memory"] == place]
        routes = sorted({p["plan"].split()[0].rstrip(":") for p in products})
        for route, colour in zip(routes, ("tab:orange", "tab:blue", "tab:green")):
            mine = [p for p in products if p["plan"].startswith(route)]
            axes.scatter(*_arithmetic_and_bytes(mine), s=10, color=colour, label=route)
        wrong = [p for p in products if p["regret"] > 1.1]
        axes.scatter(*_arithmetic_and_bytes(wrong), s=60, facecolors="none", edgecolors="black",
                     label="more than 10 % slower than the best")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(f"{place}: geometric mean of the regret {_mean_regret(products):.3f}", fontsize=9)
        axes.set_xlabel("floating-point operations")
        axes.legend(fontsize=7)
        _bare(axes)
    panels[0].set_ylabel("bytes of the operands")
    return picture


def _arithmetic_and_bytes(products):
    return [p["flop"] for p in products], [p["bytes"] for p in products]


def _mean_regret(products):
    return math.exp(sum(math.log(p["regret"]) for p in products) / len(products))


def routines(*runs):
    """The regret of each routine, of which there is a run: a dot for each product, a line at their geometric mean."""
    places = [place for place in ("pageable", "pinned", "device")
              if any(p["memory"] == place for run in runs for p in run["products"])]
    picture, panels = plot.subplots(len(places), 1, figsize=(2 + 0.35 * len(runs), 1 + 2.2 * len(places)), sharex=True,
                                    sharey=True, squeeze=False)
    for axes, place in zip(panels[:, 0], places):
        for position, run in enumerate(runs):
            products = [p for p in run["products"] if p["memory"] == place]
            axes.scatter([position] * len(products), [p["regret"] for p in products], s=6, alpha=0.4, color="tab:blue")
            if products:
                axes.hlines(_mean_regret(products), position - 0.3, position + 0.3, color="black")
        axes.set_ylabel(f"regret, {place}", fontsize=8)
        _bare(axes)
    axes.set_xticks(range(len(runs)), [_routine(run) for run in runs], rotation=90, fontsize=8)
    return picture


TYPES = {"s": "real single", "d": "real double", "c": "complex single", "z": "complex double"}
BESIDE = {"cublas": "cuBLAS", "openblas": "OpenBLAS", "cublasxt": "cublasXt"}


def level3(*runs):
    """How many times as fast as another library each routine is: a row of panels for each run and library, a panel for each
    type, in it a line for each routine and a dot for each size. At 1 both sides take as long."""
    rows = [(run, beside) for run in runs for beside in BESIDE if any(beside in p["seconds"] for p in run["products"])]
    sizes = sorted({p["n"] for run in runs for p in run["products"]})
    names = list(dict.fromkeys(p["routine"][1:] for run in runs for p in run["products"]))
    types = [letter for letter in TYPES if any(p["routine"][0] == letter for run in runs for p in run["products"])]
    colours = dict(zip(sizes, matplotlib.colormaps["viridis_r"]([0.1 + 0.9 * i / max(len(sizes) - 1, 1)
                                                               for i in range(len(sizes))])))
    picture, panels = plot.subplots(len(rows), len(types), figsize=(1.5 + 2.2 * len(types), 0.9 + 2.7 * len(rows)),
                                    sharex="row", sharey=True, squeeze=False)
    for line, (run, beside) in zip(panels, rows):
        for axes, letter in zip(line, types):
            mine = [p for p in run["products"] if p["routine"][0] == letter]
            _level3_panel(axes, mine, beside, names, colours)
            axes.set_title(f"{TYPES[letter]} beside {BESIDE[beside]}", fontsize=8)
        for axes in line:  # they share the axis, whose limits are known now
            _ratio_ticks(axes)
        line[0].set_yticks(range(len(names)), [name.upper() for name in names], fontsize=8)
        line[0].set_ylim(len(names) - 0.5, -0.5)
        line[0].set_ylabel(f"{run['memory']} {'memory' if run['memory'] == 'device' else 'host memory'}", fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel("times as fast, logarithmic", fontsize=8)
    handles = [matplotlib.lines.Line2D([], [], color=colours[n], marker="o", linestyle="", label=str(n)) for n in sizes]
    panels[0][-1].legend(handles=handles, title="n", fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    ours = "the other library itself" if any("itself" in p["seconds"] for p in runs[0]["products"]) else "TileBLAS"
    picture.suptitle(f"{ours}, level 3, n x n x n, {runs[0]['machine']['gpu']}", fontsize=11)
    return picture


def _level3_panel(axes, products, beside, names, colours):
    for position, name in enumerate(names):
        points = [(p["n"], p["seconds"][beside] / p["seconds"].get("tileblas", p["seconds"].get("itself")))
                  for p in products if p["routine"][1:] == name and p["seconds"].get(beside)]
        if points:
            ratios = [ratio for _, ratio in points]
            axes.hlines(position, min(ratios), max(ratios), color="0.8", linewidth=1, zorder=1)
            axes.scatter(ratios, [position] * len(points), s=18, color=[colours[n] for n, _ in points], zorder=2)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8, zorder=0)
    _bare(axes)


def _ratio_ticks(axes):
    """Of a logarithmic axis of ratios, a tick at some of the steps between powers of ten, by how many of these there are."""
    least, most = axes.get_xlim()
    steps = (1, 1.5, 2, 3, 5, 7) if most / least < 20 else (1, 3) if most / least < 300 else (1,)
    ticks = [step * 10.0**power for power in range(-3, 6) for step in steps if least <= step * 10.0**power <= most]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=7)
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())


# How sides of bench/lapack are drawn.
LAPACK_SIDES = {"tileblas": ("TileBLAS", "tab:blue", "o-"), "cusolver": ("cuSOLVER", "tab:green", "s-"),
                "openblas": ("OpenBLAS", "tab:orange", "^-"), "copies": ("copies and cuSOLVER", "tab:green", "s--"),
                "floor": ("the link's floor", "0.5", ":")}


def lapack(*runs):
    """Milliseconds over n, both logarithmic, a line for each side: a row of panels for each routine of each run."""
    routines = list(dict.fromkeys(_real_name(f) for run in runs for f in run["factorizations"]))
    letters = sorted({f["routine"][0] for run in runs for f in run["factorizations"]}, key="sdcz".index)
    rows = [(routine, run) for routine in routines for run in runs if any(_real_name(f) == routine for f in run["factorizations"])]
    height = 0.9 + 3.1 * len(rows)
    picture, panels = plot.subplots(len(rows), len(letters), figsize=(1.5 + 2.9 * len(letters), height),
                                    sharex=True, sharey=True, squeeze=False)
    for line, (routine, run) in zip(panels, rows):
        for axes, letter in zip(line, letters):
            shown = [f for f in run["factorizations"] if _real_name(f) == routine and f["routine"][0] == letter]
            _lapack_panel(axes, shown)
            if shown:
                axes.set_title(_lapack_title(shown), fontsize=9)
        memory = "device memory" if run["memory"] == "device" else "ordinary memory"
        line[0].set_ylabel(f"milliseconds, {memory}", fontsize=9)
    for axes in panels[-1]:
        _log_ticks(axes.xaxis, sorted({f["n"] for run in runs for f in run["factorizations"]}))
        axes.tick_params(axis="x", labelsize=7)
        axes.set_xlabel("n", fontsize=8)
    drawn = {key for run in runs for f in run["factorizations"] for key, value in f["seconds"].items() if value}
    handles = [plot.Line2D([], [], color=colour, linestyle=style.lstrip("os^"), marker=style[0] if style[0] in "os^" else "",
                           label=label) for key, (label, colour, style) in LAPACK_SIDES.items() if key in drawn]
    panels[0][-1].legend(handles=handles, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    picture.suptitle(f"LAPACK, {runs[0]['machine']['gpu']}", fontsize=11, y=1 - 0.1 / height)
    return picture


def _real_name(factorization):
    """Without the type's letter, and with ORGQR's name where numbers are complex, too."""
    return factorization["routine"][1:].replace("+un", "+or")


def _lapack_title(factorizations):
    """The routine, and what of its matrices the axes do not say: those of one panel have it in common."""
    first = factorizations[0]
    words = [first["routine"].upper()] + ([first["triangle"]] if "triangle" in first else [])
    if any(f["m"] != f["n"] for f in factorizations):
        words.append(f"{first['m']} rows")
    if any(f.get("right_hand_sides", f["n"]) != f["n"] for f in factorizations):
        words.append(f"{first['right_hand_sides']} right-hand sides")
    return ", ".join(words)


def _lapack_panel(axes, factorizations):
    for key, (_, colour, style) in LAPACK_SIDES.items():
        points = [(f["n"], 1e3 * f["seconds"][key]) for f in factorizations if f["seconds"].get(key)]
        if points:
            axes.plot(*zip(*points), style, color=colour, markersize=4, linewidth=1.2)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _bare(axes)


def _of_kernel(name):
    """How a kernel or a side of cuBLAS looks in the pictures of tensor cores and of errors."""
    known = {"cuBLAS SGEMM": "black", "cuBLAS TF32": "0.6", "sgemm_bf16x6_sm90": "tab:blue",
             "sgemm_bf16x9_sm90": "tab:green", "sgemm_fp16x3_sm90": "tab:orange", "sgemm_bf16x6_sm80": "tab:purple",
             "sgemm_split_sm90": "tab:brown", "cuBLAS DGEMM": "black", "dgemm_naive": "0.6",
             "dgemm_mma_32x128": "tab:orange", "dgemm_mma_128x32": "tab:purple", "dgemm_mma_64x64": "tab:green",
             "dgemm_mma_128x64": "tab:brown", "dgemm_mma_128x128": "tab:blue"}
    return known.get(name, "tab:red"), name if name in known else "FP32 multiply-adds"


def tensor(results):
    """TFLOP/s over n of square products, a line for each kernel and side of cuBLAS."""
    squares = [p for p in results["products"]
               if p["m"] == p["n"] == p["k"] and p["bits"] == 24 and p["transposition"] == "NN"]
    picture, axes = plot.subplots(figsize=(7, 4.5))
    lines = {}
    for product in squares:
        for name, rate in product["tflops"].items():
            lines.setdefault(_of_kernel(name), []).append((product["n"], rate))
    for (colour, name), points in lines.items():
        axes.plot(*zip(*points), color=colour, marker="o", markersize=4, label=name)
    axes.set_xscale("log", base=2)
    _log_ticks(axes.xaxis, [n for n in (512, 1024, 2048, 4096, 8192, 16384) if n in {p["n"] for p in squares}])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("n")
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"n x n x n on {results['machine']['gpu']}, operands on the device", fontsize=10)
    axes.legend(fontsize=8)
    _bare(axes)
    return picture


def precision(results):
    """The rms error in u d over k, a panel for each family of operands."""
    families = list(dict.fromkeys(p["family"] for p in results["products"]))
    picture, panels = plot.subplots(1, len(families), figsize=(3.3 * len(families), 4.2), sharey=True)
    for axes, family in zip(panels, families):
        products = [p for p in results["products"] if p["family"] == family]
        for name in products[0]["errors"]:
            colour, label = _of_kernel(name)
            axes.plot([p["k"] for p in products], [p["errors"][name]["rms"] or math.nan for p in products], color=colour,
                      marker="o", markersize=3, label=label)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        _log_ticks(axes.xaxis, [p["k"] for p in products][::2])
        axes.set_title(family, fontsize=9)
        axes.set_xlabel("k")
        _bare(axes)
    roundoff = "2^-53" if results.get("element") == "double" else "2^-24"
    panels[0].set_ylabel(f"rms error in units of {roundoff} |A||B|")
    panels[-1].legend(fontsize=7)
    picture.suptitle(f"Error against k, {results['gpu']}", fontsize=11)
    return picture


# How the sides of the picture of spreads look; the rest is dgemm_crt.
FIXED = {"14 moduli": "tab:orange", "16 moduli": "tab:green", "18 moduli": "tab:purple"}
SPREAD_MOST = 4  # beyond that errors of few moduli alone are to be seen


def spread(results):
    """Error in u d over the spread of magnitudes, rms and largest, and what the survey chooses."""
    products = [p for p in results["products"] if p["spread"] <= SPREAD_MOST]
    spreads = [p["spread"] for p in products]
    names = list(products[0]["errors"])
    picture, panels = plot.subplots(1, 2, figsize=(11, 5), sharey=True)
    for axes, statistic, title in zip(panels, ("rms", "maximum"), ("rms", f"largest of {results['sample']} elements")):
        ends = []
        for name in names:
            native, chosen = name == names[0], name.startswith("dgemm_crt")
            colour = "black" if native else FIXED.get(name, "tab:blue")
            errors = [p["errors"][name][statistic] for p in products]
            axes.plot(spreads, errors, color=colour, linewidth=3 if chosen else 1.2, zorder=2 if chosen else 3,
                      linestyle="--" if name in FIXED else "-")
            ends.append((math.log10(errors[-1]), name, colour))
        axes.set_yscale("log")
        ends.sort()
        for (_, name, colour), place in zip(ends, move_apart([end[0] for end in ends], 0.32)):
            axes.annotate(name, (SPREAD_MOST, 10**place), xytext=(6, 0), textcoords="offset points", va="center",
                          fontsize=8, color=colour)
        _name_choices(axes, products)
        axes.set_xlim(0, SPREAD_MOST)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("spread s of (u - 1/2) exp(s N)")
        _bare(axes)
    panels[0].set_ylabel("error in units of 2^-53 |A||B|")
    machine = results["gpu"] or "without a GPU"
    picture.suptitle(f"Error against spread, {results['m']} x {results['n']} x {results['k']}, {machine}", fontsize=11)
    return picture


def _name_choices(axes, products):
    """How many moduli the survey chooses, along the upper edge, and a line wherever that changes."""
    begin = 0
    for before, after in zip(products, products[1:] + [None]):
        if after and after["moduli"] == before["moduli"]:
            continue
        end = (before["spread"] + after["spread"]) / 2 if after else SPREAD_MOST
        text = str(before["moduli"] or "native")
        axes.text((begin + end) / 2, 0.98, text, transform=axes.get_xaxis_transform(), ha="center", va="top",
                  fontsize=8, color="tab:blue")
        if after:
            axes.axvline(end, color="tab:blue", linewidth=0.7, linestyle=":")
        begin = end


PICTURES = {"kernels": kernels, "streamed": streamed, "regret": regret, "routines": routines, "level3": level3, "lapack": lapack,
            "tensor": tensor, "precision": precision, "spread": spread}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=PICTURES)
    parser.add_argument("results", nargs="+", help="one file, but of routines, level3 and lapack")
    parser.add_argument("picture")
    arguments = parser.parse_args()
    picture = PICTURES[arguments.kind](*(json.loads(pathlib.Path(path).read_text()) for path in arguments.results))
    picture.tight_layout()
    picture.savefig(arguments.picture, dpi=100, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
