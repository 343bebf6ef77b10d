#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Says how programs on towers scale over 1, 2, 4 and 8 GPUs in simulated time, by the cost model of an H200.

Compiles and runs scaling.cpp beside this file and shows its table. `--write` puts it into docs/measurements. The
numbers are computed, not measured: they are the same on every machine."""
import argparse
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEXT = """<!-- SPDX-License-Identifier: BSL-1.0 -->
# Scaling over GPUs

**Simulated time. No GPU was measured.** Written by `benchmarks/scaling/measure.py --write` from plans alone (`estimate`), by the cost
model `h200` of `onto/plan/cost_model.hpp`: what the data sheet of an H200 promises ({model}).
The model knows order, placement, copies and what waits for what; not contention between links, nor what fraction of the promise a kernel reaches. So read the ratios:
what they lose is lost by the program's structure, and is a bound for real hardware. Sessions with simulated GPUs that really run these
programs (at a 64th of the extents and of the rates) measure the same: `tests/unit/session/simulated_time.cpp`.

The perceptron has layers of 4096, 4096 and 256; each tower takes its rows of the batch, and the loss is their mean. Its weights are
variables on `gpu<0>`, from where they are copied to the others in every run, if nothing else is said. Speed-up is against the same
program with one tower on one GPU; of "weak" programs, which grow with the GPUs, against as many runs there.

The last columns say where the time goes, for the GPU that is last to have a result: before its first kernel (its operands are copied),
in kernels, idle between kernels (it waits for copies), and after its last kernel (results are joined and copied out).

{tables}
## What is lost where

* **Feeds** are copied in shares: a GPU gets the rows that its tower reads ([shares](../adr/0016-shares-and-turns.md)), over its own link
  from the host. So the time before the first kernel shrinks with the number of GPUs. With whole batches copied to every GPU it would be
  19.5 ms on each, and 8 GPUs would reach 0.39 of the ideal.
* **Weights on one GPU** leave it one after the other: 7 x 138 MB over one link take 2.3 ms however small the batch. With 65536 rows they
  arrive while the batch is copied and computed; with 8192 rows on 8 GPUs, and with 1024 rows on 4, they are what is waited for. Variables for each tower
  (and a sum of gradients) or larger batches help, more GPUs do not.
* **Weights fed from the host** are copied to every GPU whole, beside its share of the batch on the same link: 2.5 ms that do not shrink.
* **The join** is a copy of one number here, two latencies. Where results are large, as in the last program, each GPU's rows are copied out and
  the host puts them together at its own memory's speed: 2.9 ms of 77. The 7.3 ms before its first kernel are a whole matrix to every GPU.
"""


def run():
    """What scaling.cpp prints: lines of fields, the first of them the heads."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "scaling"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", f"-I{ROOT / 'include'}", HERE / "scaling.cpp", "-o", program],
                       check=True)
        out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def tables(rows):
    """A table for each program."""
    heads = ["GPUs", "ms", "speed-up", "efficiency", "first kernel after", "in kernels", "idle", "join"]
    text, names = [], []
    for row in rows:
        if row[0] not in names:
            names.append(row[0])
    for name in names:
        text.append(f"## {name[0].upper()}{name[1:]}\n")
        text.append("| " + " | ".join(heads) + " |")
        text.append("|" + "---:|" * len(heads))
        text += ["| " + " | ".join(row[1:]) + " |" for row in rows if row[0] == name]
        text.append("")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/scaling.md and .tsv")
    arguments = parser.parse_args()
    rows = run()
    if not arguments.write:
        print(tables(rows[1:]))
        return
    model = "67 TFLOP/s of float32, 4.8 TB/s to its memory, 450 GB/s to other GPUs, 55 GB/s to the host"
    out = ROOT / "docs" / "measurements"
    (out / "scaling.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    (out / "scaling.md").write_text(TEXT.format(model=model, tables=tables(rows[1:])), encoding="utf-8")


if __name__ == "__main__":
    main()
