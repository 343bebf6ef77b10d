#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Says how data-parallel training scales over 8 to 1,024 GPUs in simulated time, by the model of a cluster of H200.

Compiles cluster.cpp beside this file for each program and batch, and shows its tables. `--simulated` must be given: nothing is
measured here. `--write` puts tables and picture into docs. Computed: the same on every machine. Compiling takes five minutes."""
import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "measurements" / "cluster_scaling.md"
PICTURE = ROOT / "docs" / "pictures" / "cluster_scaling.svg"
BEGIN, END = "<!-- written by ./run bench cluster --simulated -->", "<!-- up to here -->"
GPUS = (8, 16, 64, 256, 1024)
# What is trained: its name, the program's, examples for each GPU where these are as many, and in all where those are.
PROGRAMS = (("CIFAR-10 step", "cifar10_step", "pictures", 128, 8192), ("transformer block", "transformer_step", "sequences", 16, 1024))
HEADS = ("gpus", "batch", "kernels", "all_reduces", "all_reduce_MB", "messages", "alone_ms", "step_ms", "launches_ms", "arithmetic_ms",
         "memory_ms", "hosts_ms", "links_ms", "notes_ms")
BOUNDS = {"launches_ms": "launches", "arithmetic_ms": "arithmetic", "memory_ms": "GPU memory", "hosts_ms": "hosts and their copies",
          "links_ms": "links", "notes_ms": "notes"}


def compute(folder, program, batch, gpus):
    """What cluster.cpp prints for one batch: {links: {gpus: {column: value}}}."""
    binary = folder / "cluster"
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", f"-I{ROOT / 'include'}", f"-DPROGRAM={program}", f"-DBATCH={batch}",
                    HERE / "cluster.cpp", "-o", binary], check=True)
    out = subprocess.run([binary, *map(str, gpus)], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        links, *values = line.split("\t")
        row = dict(zip(HEADS, map(float, values)))
        found.setdefault(links, {})[int(row["gpus"])] = row
    return found


def rows_of(name, program, each, total, folder):
    """A row for each way to scale, links and number of GPUs, with its efficiency."""
    batches = {total // g: {g} for g in GPUS}
    batches.setdefault(each, set()).update(GPUS)
    found = {batch: compute(folder, program, batch, sorted(gpus)) for batch, gpus in batches.items()}
    rows = []
    for links in next(iter(found.values())):
        for g in GPUS:
            row = found[each][links][g]
            rows.append({"program": name, "scaling": "weak", "links": links, **row, "efficiency": row["alone_ms"] / row["step_ms"]})
        first = found[total // GPUS[0]][links][GPUS[0]]
        for g in GPUS:
            row = found[total // g][links][g]
            efficiency = first["alone_ms"] * GPUS[0] / (row["step_ms"] * g)
            rows.append({"program": name, "scaling": "strong", "links": links, **row, "efficiency": efficiency})
    return rows


def bound_of(row):
    """What would save the most if it cost nothing, and how much of the step."""
    column = max(BOUNDS, key=lambda c: row[c])
    return f"{BOUNDS[column]}, {row[column] / row['step_ms']:.0%}"


def tables(rows):
    """Markdown: a table for each program, way to scale and kind of link."""
    text = []
    for name, _, things, each, total in PROGRAMS:
        one = next(r for r in rows if r["program"] == name)
        text += [f"### {name}", "", f"{one['kernels']:.0f} kernels for each GPU at {each} {things}; {one['all_reduces']:.0f} all-reduces of {one['all_reduce_MB']:.1f} MB, "
                 f"{one['messages']:.0f} messages.", ""]
        for scaling in ("weak", "strong"):
            for links in dict.fromkeys(r["links"] for r in rows):
                what = f"{each} {things} for each GPU" if scaling == "weak" else f"{total} {things} in all"
                text += [f"**{scaling.capitalize()} scaling, {links}: {what}**", "",
                         f"| GPUs | {things} each | step, ms | exchanging nothing, ms | {things} / s | efficiency | links | notes | launches | bound by |",
                         "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
                for r in rows:
                    if (r["program"], r["scaling"], r["links"]) != (name, scaling, links):
                        continue
                    rate = r["gpus"] * r["batch"] / r["step_ms"] * 1e3
                    text.append(f"| {r['gpus']:.0f} | {r['batch']:.0f} | {r['step_ms']:.3f} | {r['alone_ms']:.3f} | {rate:,.0f} | {r['efficiency']:.3f} | "
                                f"{r['links_ms']:.3f} | {r['notes_ms']:.3f} | {r['launches_ms']:.3f} | {bound_of(r)} |")
                text.append("")
    return "\n".join(text)


def draw(rows):
    """Efficiency over the number of GPUs, as SVG."""
    width, height, left, top, right, bottom = 760, 320, 60, 20, 250, 50
    colors = {"CIFAR-10 step": "#4477aa", "transformer block": "#ee6677"}
    across = lambda g: left + (width - left - right) * math.log2(g / GPUS[0]) / math.log2(GPUS[-1] / GPUS[0])
    down = lambda e: top + (height - top - bottom) * (1 - min(e, 1))
    out = ["<!-- SPDX-License-Identifier: BSL-1.0 -->",
           f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="Helvetica,sans-Serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for k in range(6):
        y = down(k / 5)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#cccccc"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{k / 5:.1f}</text>')
    for g in GPUS:
        out.append(f'<text x="{across(g):.1f}" y="{height - bottom + 18}" text-anchor="middle">{g}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">GPUs; efficiency by estimate, from GPU to GPU</text>')
    keys = dict.fromkeys((r["program"], r["scaling"]) for r in rows)
    for k, (name, scaling) in enumerate(keys):
        some = [r for r in rows if (r["program"], r["scaling"], r["links"]) == (name, scaling, "direct")]
        line = " ".join(f"{across(r['gpus']):.1f},{down(r['efficiency']):.1f}" for r in some)
        dashes = ' stroke-dasharray="6,4"' if scaling == "strong" else ""
        out.append(f'<polyline points="{line}" fill="none" stroke="{colors[name]}" stroke-width="2"{dashes}/>')
        for r in some:
            out.append(f'<circle cx="{across(r["gpus"]):.1f}" cy="{down(r["efficiency"]):.1f}" r="3" fill="{colors[name]}">'
                       f'<title>{name}, {scaling}, {r["gpus"]:.0f} GPUs: {r["efficiency"]:.3f}</title></circle>')
        y = top + 20 + 20 * k
        out.append(f'<line x1="{width - right + 20}" y1="{y}" x2="{width - right + 50}" y2="{y}" stroke="{colors[name]}" stroke-width="2"{dashes}/>')
        out.append(f'<text x="{width - right + 58}" y="{y + 4}">{name}, {scaling}</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", action="store_true", help="say that you know that these are estimates")
    parser.add_argument("--write", action="store_true", help="write docs/measurements/cluster_scaling.md, its .tsv and the picture")
    arguments = parser.parse_args()
    if not arguments.simulated:
        sys.exit("bench cluster: clusters are simulated alone; write ./run bench cluster --simulated")
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name, program, _, each, total in PROGRAMS for row in rows_of(name, program, each, total, Path(folder))]
    text = tables(rows)
    print(text)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(f"{page.split(BEGIN)[0]}{BEGIN}\n\n{text}\n{END}{page.split(END)[1]}", encoding="utf-8")
        columns = ["program", "scaling", "links", *HEADS, "efficiency"]
        lines = ["\t".join(columns), *("\t".join(v if isinstance(v, str) else f"{v:.6g}" for v in (r[c] for c in columns)) for r in rows)]
        PAGE.with_suffix(".tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        PICTURE.write_text(draw(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
