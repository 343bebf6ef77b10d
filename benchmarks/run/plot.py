#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Draws how cost grows, from the data files in docs/measurements alone.

Writes into docs/pictures: run_time.svg (for the README), run_time_sizes.svg, run_time_threads.svg, compile_time.svg and
compile_ordinary.svg. Needs matplotlib. The same data give the same files.
"""
import math
import re
import sys
from pathlib import Path

import measure

try:
    import matplotlib
except ImportError:
    sys.exit("plot.py needs matplotlib (Debian: python3-matplotlib)")
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)

PICTURES = measure.ROOT / "docs" / "pictures"
# Okabe and Ito's colours, which the colour-blind tell apart; and no two dashes alike beside each other.
LOOKS = {
    "onto": dict(color="#0072B2", lw=2.6, zorder=9),
    "compiled": dict(color="#56B4E9", lw=2.6, zorder=8),
    "hand": dict(color="#000000", lw=1.3, ls=(0, (4, 2)), zorder=8),
    "limit": dict(color="#777777", lw=1.3, ls=(0, (1, 1.5))),
    "eigen": dict(color="#E69F00", lw=1.4, marker="o"),
    "xtensor": dict(color="#009E73", lw=1.4, marker="s"),
    "armadillo": dict(color="#CC79A7", lw=1.4, marker="^"),
    "torch": dict(color="#D55E00", lw=1.4, marker="D"),
    "openblas": dict(color="#56B4E9", lw=1.4, marker="v"),
    "onednn": dict(color="#8A6D00", lw=1.4, marker="P"),
    "blis": dict(color="#999999", lw=1.4, marker="X"),
}
TITLES = {"triad": "a + s*b", "chain": "8 operations in one expression", "sqdiff": "sum(square(a - b))",
          "softmax": "softmax of rows of 1024", "matmul": "matmul, n x n"}
plt.rcParams.update({"svg.hashsalt": "onto", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                     "axes.titlesize": 10, "font.family": "DejaVu Sans", "lines.markersize": 3.2, "axes.grid": True,
                     "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "axes.axisbelow": True})


def save(figure, name):
    """An SVG that is the same every time."""
    path = PICTURES / name
    figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    plt.close(figure)
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(<\?xml[^>]*>\n)", r"\1<!-- SPDX-License-Identifier: BSL-1.0 -->\n", text, count=1)
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
    print(path.relative_to(measure.ROOT))


def elements(row):
    """How many elements a row is about; for products the extent."""
    first, _, second = row["size"].partition("x")
    return float(first) * float(second or 1)


def label_ends(axes, ends, gap=0.055):
    """Names at the right ends of lines, moved apart where they would overlap. `ends`: (name, x, y) in data units."""
    def place(value):
        return axes.transAxes.inverted().transform(axes.transData.transform(value))
    axes.figure.canvas.draw()
    spots = sorted(((name, *place((x, y))) for name, x, y in ends), key=lambda s: s[2])
    heights = []
    for _, _, y in spots:
        heights.append(max(y, heights[-1] + gap) if heights else y)
    # Pushed above the top: all of them down again.
    for k in range(len(heights) - 1, -1, -1):
        top = 1.02 if k == len(heights) - 1 else heights[k + 1] - gap
        heights[k] = min(heights[k], top)
    for (name, x, y), height in zip(spots, heights):
        look = LOOKS.get(name, {"color": "#333333"})
        axes.annotate(name, (x, y), (1.03, height), xycoords="axes fraction", textcoords="axes fraction", va="center",
                      fontsize=8, color=look["color"], fontweight="bold" if name == "onto" else "normal", annotation_clip=False,
                      arrowprops=dict(arrowstyle="-", color=look["color"], lw=0.5, shrinkA=0, shrinkB=2))


def lines_of(rows, case, threads):
    """{peer: [(size, row), ...]}"""
    found = {}
    for key, row in rows.items():
        if key[0] == case and key[2] == threads:
            found.setdefault(key[3], []).append((elements(row), row))
    return {peer: sorted(points, key=lambda p: p[0]) for peer, points in found.items()}


def bandwidth(rows, threads):
    """[(bytes, bytes per microsecond)] of the loop that only moves data."""
    return [(float(r["bytes"]), float(r["bytes"]) / float(r["median_us"]))
            for k, r in sorted(rows.items(), key=lambda item: elements(item[1])) if k[0] == "limit_triad" and k[2] == threads]


def at_bytes(limits, size):
    """The limit at a size, between the measured ones."""
    if not limits:
        return None
    best = limits[0][1]
    for (b0, r0), (b1, r1) in zip(limits, limits[1:]):
        if size >= b1:
            best = r1
        elif size >= b0:
            part = (math.log(size) - math.log(b0)) / (math.log(b1) - math.log(b0))
            return r0 + part * (r1 - r0)
    return best


def peak(rows, threads):
    """Operations per microsecond of independent fused multiplications and additions."""
    for key, row in rows.items():
        if key[0] == "limit_fma" and key[2] == threads:
            return float(row["flops"]) / float(row["median_us"])
    return None


def draw_sizes(axes, rows, case, threads, title=None):
    """One panel: time for an element, or rate of a product, against size."""
    product = case == "matmul"
    ends = []
    for peer, points in lines_of(rows, case, threads).items():
        xs = [x for x, _ in points]
        if product:
            ys = [float(r["flops"]) / float(r["median_us"]) / 1e3 for _, r in points]
        else:
            ys = [float(r["median_us"]) * 1e3 / x for x, r in points]
        axes.plot(xs, ys, **LOOKS.get(peer, {}))
        ends.append((peer, xs[-1], ys[-1]))
    if not ends:
        return
    xs = sorted({x for points in lines_of(rows, case, threads).values() for x, _ in points})
    axes.set_xscale("log")
    if product:
        most = peak(rows, threads)
        if most:
            axes.axhline(most / 1e3, **LOOKS["limit"])
            ends.append(("limit", xs[-1], most / 1e3))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("n")
        axes.set_ylabel("GFLOP/s (up is faster)")
    else:
        limits = bandwidth(rows, threads)
        some = next(iter(lines_of(rows, case, threads).values()))[0][1]
        each = float(some["bytes"]) / elements(some)
        floor = [each * 1e3 / at_bytes(limits, each * x) for x in xs] if limits else []
        if floor and case != "triad" or floor and case == "triad":
            axes.plot(xs, floor, **LOOKS["limit"])
            ends.append(("limit", xs[-1], floor[-1]))
        axes.set_yscale("log")
        axes.set_xlabel("elements")
        axes.set_ylabel("ns for each element (down is faster)")
    axes.set_title((title or TITLES[case]) + f", {threads} thread" + ("s" if threads != "1" else ""), loc="left")
    label_ends(axes, ends)


def draw_run_time(rows, remarks):
    """For the README: a map and products."""
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.5))
    figure.subplots_adjust(left=0.075, right=0.91, bottom=0.2, top=0.9, wspace=0.5)
    draw_sizes(panels[0], rows, "chain", "1")
    draw_sizes(panels[1], rows, "matmul", "1")
    note(figure, remarks)
    save(figure, "run_time.svg")


def note(figure, remarks):
    """Which machine it was."""
    figure.text(0.01, 0.015, f"{remarks.get('machine', '?').split(', L1d')[0]}, {remarks.get('date', '?')}. limit: the memory's or the "
                "arithmetic's, measured", fontsize=7, color="#555555")


def draw_all_sizes(rows, remarks):
    """Every case that was swept, on one thread and on all."""
    threads = sorted({k[2] for k in rows}, key=int)
    chosen = [threads[0], threads[-1]] if len(threads) > 1 else threads
    cases = [c for c in TITLES if any(k[0] == c for k in rows)]
    figure, panels = plt.subplots(len(cases), len(chosen), figsize=(8.6, 3.2 * len(cases)), squeeze=False)
    figure.subplots_adjust(left=0.075, right=0.91, bottom=0.035, top=0.98, wspace=0.5, hspace=0.36)
    for row, case in zip(panels, cases):
        for axes, count in zip(row, chosen):
            draw_sizes(axes, rows, case, count)
    note(figure, remarks)
    save(figure, "run_time_sizes.svg")


def draw_threads(rows, remarks):
    """Speed against threads at one size out of the caches and one inside them."""
    threads = sorted({k[2] for k in rows if not k[0].startswith("tiny")}, key=int)
    if len(threads) < 2:
        return
    chosen = [("triad", "1e5"), ("triad", "1e7"), ("chain", "1e5"), ("chain", "1e7"), ("sqdiff", "1e7"), ("matmul", "1024")]
    figure, panels = plt.subplots(2, 3, figsize=(8.6, 5.4))
    figure.subplots_adjust(left=0.065, right=0.91, bottom=0.12, top=0.94, wspace=0.75, hspace=0.4)
    for axes, (case, size) in zip(panels.flat, chosen):
        ends = []
        for peer in LOOKS:
            source = f"limit_{'fma' if case == 'matmul' else 'triad'}" if peer == "limit" else case
            wanted = {"limit_fma": "1"}.get(source, size)
            points = [(int(t), rows.get((source, wanted, t, peer))) for t in threads]
            points = [(t, r) for t, r in points if r]
            if len(points) < 2:
                continue
            # Of the limit the rate; the others' bytes or operations are counted as the case does.
            unit = "flops" if case == "matmul" else "bytes"
            xs, ys = [t for t, _ in points], [float(r[unit]) / float(r["median_us"]) / 1e3 for _, r in points]
            axes.plot(xs, ys, **{"marker": ".", **LOOKS[peer]})
            ends.append((peer, xs[-1], ys[-1]))
        axes.set_xticks([int(t) for t in threads])
        axes.set_ylim(bottom=0)
        axes.set_title(f"{TITLES[case].split(' in one')[0]}, {size}", loc="left")
        axes.set_xlabel("threads")
        axes.set_ylabel("GFLOP/s" if case == "matmul" else "GB/s")
        label_ends(axes, ends, gap=0.075)
    note(figure, remarks)
    save(figure, "run_time_threads.svg")


def compile_rows(name):
    """The rows of a table of compile times, and which compiler is drawn of it."""
    lines = [line.split("\t") for line in (measure.OUT / f"{name}.tsv").read_text(encoding="utf-8").splitlines()]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    return rows, "g++" if any(r["compiler"] == "g++" for r in rows) else rows[0]["compiler"]


def note_compile_time(figure, name):
    """Which machine it was, from the page of the table."""
    page = measure.OUT / f"{name}.md"
    found = re.search(r"Machine: ([^;]*);.*?Measured on (\S+)", page.read_text(encoding="utf-8") if page.exists() else "", re.S)
    if found:
        figure.text(0.01, 0.015, f"{found[1]}, {found[2]}", fontsize=7, color="#555555")


def draw_compile_time():
    """CPU seconds and instantiations against operations in one expression."""
    rows, compiler = compile_rows("compile_time")
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.3))
    figure.subplots_adjust(left=0.075, right=0.91, bottom=0.2, top=0.9, wspace=0.5)
    for axes, column, title, scale in ((panels[0], "cpu", f"CPU seconds of {compiler} -O2, whole program", 1),
                                       (panels[1], "instantiations_after", "instantiations after the include (thousands)", 1e-3)):
        ends = []
        for library in sorted({r["library"] for r in rows}):
            points = sorted((int(r["program"]), float(r[column]) * scale) for r in rows
                            if r["library"] == library and r["compiler"] == compiler and r["program"].isdigit()
                            and r[column] not in ("-", ""))
            if not points:
                continue
            look = {"marker": "o", **LOOKS.get(library, {"color": "#333333", "lw": 1.4})}
            axes.plot([x for x, _ in points], [y for _, y in points], **look)
            ends.append((library, *points[-1]))
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xticks([1, 32, 64, 96, 128])
        axes.set_xlabel("operations in one expression")
        axes.set_title(title, loc="left")
        label_ends(axes, ends)
    note_compile_time(figure, "compile_time")
    save(figure, "compile_time.svg")


def draw_compile_ordinary():
    """CPU seconds of ordinary programs, a bar for each library."""
    rows, compiler = compile_rows("compile_ordinary")
    at = {(r["library"], r["program"]): float(r["cpu"]) for r in rows if r["compiler"] == compiler and r["cpu"] != "-"}
    libraries = [x for x in ("onto", "compiled", "eigen") if any(library == x for library, _ in at)]
    names = {"onto": "onto, one header", "compiled": "onto, compiled runtime", "eigen": "Eigen"}
    programs = sorted({p for library, p in at if library == "eigen"} or {p for _, p in at}, key=lambda p: at.get(("onto", p), 0))
    figure, axes = plt.subplots(figsize=(8.6, 4.6))
    figure.subplots_adjust(left=0.19, right=0.97, bottom=0.13, top=0.93)
    height = 0.8 / len(libraries)
    for k, library in enumerate(libraries):
        some = [(y, at[library, p]) for y, p in enumerate(programs) if (library, p) in at]
        axes.barh([y + (len(libraries) / 2 - k - 0.5) * height for y, _ in some], [x for _, x in some], height,
                  color=LOOKS[library]["color"], label=names[library])
    axes.set_yticks(range(len(programs)))
    axes.set_yticklabels([p.replace("_", " ") for p in programs])
    axes.grid(axis="y", visible=False)
    axes.set_title(f"CPU seconds of {compiler} -O2, whole program", loc="left")
    axes.legend(frameon=False, loc="lower right")
    note_compile_time(figure, "compile_ordinary")
    save(figure, "compile_ordinary.svg")


def main():
    rows, remarks = measure.read(measure.SWEEP)
    if rows:
        draw_run_time(rows, remarks)
        draw_all_sizes(rows, remarks)
    else:
        print("plot.py: there is no run_time_sweep.tsv; measure.py --sweep makes it")
    rows, remarks = measure.read(measure.TABLE)
    if rows:
        draw_threads(rows, remarks)
    if (measure.OUT / "compile_time.tsv").exists():
        draw_compile_time()
    if (measure.OUT / "compile_ordinary.tsv").exists():
        draw_compile_ordinary()


if __name__ == "__main__":
    main()
