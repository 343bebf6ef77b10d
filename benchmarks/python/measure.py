#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures onto beside TensorFlow, JAX, PyTorch and NumPy on this machine's CPU, and makes the table.

Every library runs in a process of its own, with one thread and with as many as there are, pinned to as many cores; the processes take turns at
random, row by row, so that what else the machine does meets them alike. Results are compared before anything is timed. The libraries come from PyPI
into a virtual environment in build/python; where there is no PyPI, nothing is measured. `--write` records docs/measurements/python.tsv and python.md.
"""
import argparse
import datetime
import os
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "beside"))
from turns import BUSY, OUT, ROOT, Peer, cores, environment, pinned, processor, show, take_turns, write_tsv  # noqa: E402

PROGRAM = ROOT / "build" / "release" / "benchmarks" / "python" / "bench_python"
PACKAGES = {"numpy": "numpy", "jax": "jax", "tensorflow-cpu": "tensorflow", "torch": "torch"}
PEERS = {"numpy": "numpy", "jax": "jax", "torch": "torch", "torch.compile": "torch", "tf.function": "tensorflow", "tf.Session": "tensorflow"}
ROWS = {
    "a + 1.5 b/8": "`a + 1.5 b`, 8 floats: what a run costs",
    "a b/2x3": "the guide's product of constants' shapes, 2x3 by 3x2",
    "two towers/2x3": "the guide's towers of that size: two products and `add_n`",
    "two towers/512": "the same of matrices of 512",
    "A^10 + B^10/100": "the guide's program, by its recursion: 18 products and a sum",
    "A^10 + B^10/256": "the same",
    "A^10 + B^10/1024": "the same",
    "chain/1000": "`sqrt(a*a + b*b) * c - d / (a + 1) + maximum(b, 0)`",
    "chain/1000000": "the same",
    "softmax/4096x1024": "over the rows",
    "perceptron/256x784": "layers 784, 512, 512, 10 with bias and relu, softmax at the end; a batch of 256",
}
OTHER_WORK = ("Other programs ran beside, on the same processors, and the clock counts their turns too. So for one thread the medians of the processor's time are shown, which it would take alone, "
              "less what threads wait for each other; for two threads the least times of the clock, which are still those of a busy machine: threads that wait for each other suffer most. Of rows that differ by less than a fifth "
              "this page says nothing, and of two threads little. It is to be taken again on a quiet machine.")


def measure(python, missing, threads, rounds, budget):
    """One number of threads: {row: {peer: [(seconds, processor seconds)]}} and what the peers are."""
    peers = [Peer("onto", threads, [*pinned(threads), PROGRAM, str(threads)], False)]
    gone = {PACKAGES[p] for p in missing}
    peers += [Peer(n, threads, [python, HERE / "peers.py", n, str(threads)], True) for n, module in PEERS.items() if module not in gone]
    times = take_turns(peers, ROWS, rounds, budget)
    versions = {p.name: p.version for p in peers if p.version}
    for peer in peers:
        peer.end()
    return times, versions


def document(results, versions, rounds, load):
    """python.md."""
    busy = load[0] > BUSY

    def taken(times, threads):
        if not busy:
            return statistics.median(clock for clock, _ in times)
        return statistics.median(processors for _, processors in times) if threads == 1 else min(clock for clock, _ in times)

    names = ["onto", *[n for n in PEERS if n in versions]]
    lines = ["<!-- SPDX-License-Identifier: BSL-1.0 -->", "# Beside Python's array libraries", "",
             f"Machine: {processor()}, {len(cores())} processors. Measured on {datetime.date.today()}; written by `./run bench python --write` from [python.tsv](python.tsv). "
             f"{rounds} rounds in which the libraries take turns at random{'' if busy else '; medians'}.",
             f"The machine's load (processes that want to run, averaged over a minute) was {load[0]:.1f} before the first row and {load[1]:.1f} after the last; what is measured adds "
             f"one to two. {OTHER_WORK if busy else 'Nothing else ran.'}", "",
             "float32. Each library as its documents say, with its own arrays there before the clock starts and a new array as the result: " +
             ", ".join(f"{n} {v}" for n, v in versions.items() if n not in ("torch.compile", "tf.Session")) + ". `tf.function` and `tf.Session` are TensorFlow's graph mode of today and of its guide, the "
             "latter fed with NumPy's arrays; JAX is `jax.jit`, waited for; torch runs eagerly and by `torch.compile`. onto is a prepared program, compiled "
             "by g++ with `-O3`, with products by oneDNN where it is installed. Every result is compared with onto's first. Compiling is not timed: onto's is "
             "g++'s, seconds before the program runs; that of the others happens in its first run.", "",
             "The other columns are **their time divided by onto's: above 1 onto is faster**.", ""]
    for threads, times in results.items():
        lines += [f"## {threads} thread{'s' if threads > 1 else ''}", "", "| row | size | onto | " + " | ".join(names[1:]) + " |",
                  "|---|---|---:|" + "---:|" * (len(names) - 1)]
        for row, by_peer in times.items():
            name, size = row.split("/")
            mine = taken(by_peer["onto"], threads)
            cells = [f"{taken(by_peer[n], threads) / mine:.2f}" if n in by_peer else "" for n in names[1:]]
            lines.append(f"| {name} | {size} | {show(mine * 1e6)} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += ["## What the rows are", "", "| row | size | |", "|---|---|---|"]
    lines += [f"| {row.split('/')[0]} | {row.split('/')[1]} | {meaning} |" for row, meaning in ROWS.items()]
    return "\n".join(lines) + "\n"


def main():
    """Measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="record the results in docs/measurements")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    rounds, budget = (3, 0.01) if arguments.quick else (arguments.rounds, 0.02)
    python, missing = environment(PACKAGES, "bench python")
    if python is None:
        print(f"bench python: skipped: {missing}")
        return
    load, results, versions = [os.getloadavg()[0]], {}, {}
    for threads in sorted({1, len(cores())}):
        results[threads], versions = measure(python, missing, threads, rounds, budget)
    load.append(os.getloadavg()[0])
    if arguments.write:
        write_tsv(OUT / "python.tsv", results)
        (OUT / "python.md").write_text(document(results, versions, rounds, load), encoding="utf-8")


if __name__ == "__main__":
    main()
