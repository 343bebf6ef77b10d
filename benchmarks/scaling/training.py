#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Says how a step of examples/cifar10 scales over towers in simulated time, by the cost model of an H200, and draws one.

Compiles training.cpp beside this file for each number of towers. `--write` puts the table into docs/measurements/training.md
and the timeline of four towers into docs/pictures. Computed, not measured: the same on every machine.
Compiling takes a quarter of an hour, and for eight towers more than 5 GB; the compiler is to be g++."""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PICTURES = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "measurements" / "training.md"
BEGIN, END = "<!-- written by benchmarks/scaling/training.py -->", "<!-- up to here -->"
TOWERS, DRAWN = (1, 2, 4, 8), 4
MORE = ["-fconstexpr-ops-limit=2000000000", "-fconstexpr-loop-limit=1000000"]  # eight are more than g++ computes by itself


def run(towers):
    """What training.cpp prints for so many towers: lines of fields, and the trace."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "training"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", f"-I{ROOT / 'include'}", f"-DTOWERS={towers}", HERE / "training.cpp", "-o", program, "-pthread", *(MORE if towers > 4 else [])],
                       check=True)
        out = subprocess.run([program, "--trace"], capture_output=True, text=True, check=True).stdout
    lines, _, trace = out.partition("{")
    return [line.split("\t") for line in lines.splitlines()], "{" + trace


def table(rows):
    """Markdown: a table for each way of holding the variables."""
    text = []
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        one = float(mine[0][5])
        text += [f"### {name[0].upper()}{name[1:]}", "", "| towers | kernels | copies | MB copied | step, µs | kernels of gpu:0, µs | images in the time of one | efficiency |",
                 "|---:|---:|---:|---:|---:|---:|---:|---:|"]
        for _, towers, kernels, transfers, megabytes, step, busy, _ in mine:
            efficiency = one / float(step)
            text.append(f"| {towers} | {kernels} | {transfers} | {megabytes} | {step} | {busy} | {int(towers) * efficiency:.2f} x | {efficiency:.2f} |")
        text.append("")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/training.md and the picture")
    arguments = parser.parse_args()
    rows, trace = [], ""
    for towers in TOWERS:
        found, drawn = run(towers)
        rows += found
        trace = drawn if towers == DRAWN else trace
    print(table(rows))
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(f"{page.split(BEGIN)[0]}{BEGIN}\n\n{table(rows)}\n{END}{page.split(END)[1]}", encoding="utf-8")
        sys.path.insert(0, str(PICTURES))
        import make  # pylint: disable=import-outside-toplevel
        (PICTURES / "training_towers.svg").write_text(make.draw_timeline(trace), encoding="utf-8")


if __name__ == "__main__":
    main()
