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
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = ROOT / "build" / "python"
OUT = ROOT / "docs" / "measurements"
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
HEADS = ["row", "threads", "peer", "median_us", "least_us", "low_us", "high_us", "processor_us", "rounds"]
BUSY = 0.7  # a load from which on medians are other programs'


OTHER_WORK = ("Other programs ran beside, on the same processors, and the clock counts their turns too. So for one thread the medians of the processor's time are shown, which it would take alone, "
              "less what threads wait for each other; for two threads the least times of the clock, which are still those of a busy machine: threads that wait for each other suffer most. Of rows that differ by less than a fifth "
              "this page says nothing, and of two threads little. It is to be taken again on a quiet machine.")


class Peer:
    """A process that answers how long a row takes."""

    def __init__(self, name, threads, command, environment=None):
        self.name, self.threads = name, threads
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, **(environment or {})})
        self.version = self.process.stdout.readline().strip() if name != "onto" else ""

    def ask(self, what, row, runs=0):
        """A number (of `time` two, the clock's seconds and the processors'), or None where the peer has no such row or is gone."""
        try:
            self.process.stdin.write(f"{what} {row}\t{runs}\n")
            self.process.stdin.flush()
            numbers = [float(word) for word in self.process.stdout.readline().split()]
            return numbers[0] if what == "check" else (numbers[0], numbers[1])
        except (OSError, ValueError, IndexError):
            return None

    def end(self):
        """Lets the process end by itself."""
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.terminate()


def environment():
    """The Python of the virtual environment, or None and the reason."""
    python = VENV / "bin" / "python"
    if not python.exists() and subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, check=False).returncode != 0:
        return None, "a virtual environment cannot be made (Debian: python3-venv)"
    missing = []
    for package, module in PACKAGES.items():
        found = subprocess.run([python, "-c", f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"], check=False)
        if found.returncode == 0:
            continue
        print(f"bench python: installing {package} into build/python", flush=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", package], capture_output=True, check=False).returncode != 0:
            missing.append(package)
    if len(missing) == len(PACKAGES):
        return None, "PyPI cannot be reached"
    if missing:
        print(f"bench python: without {', '.join(missing)}, which cannot be installed from here")
    return python, missing


def show(us):
    """Microseconds as one reads them."""
    for limit, unit, factor in ((1, "ns", 1e3), (1e3, "µs", 1), (1e6, "ms", 1e-3)):
        if us < limit:
            return f"{us * factor:.3g} {unit}"
    return f"{us * 1e-6:.3g} s"


def cores():
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


def measure(python, missing, threads, rounds, budget):
    """One number of threads: {row: {peer: [(seconds, processor seconds)]}} and what the peers are."""
    pinned = ["taskset", "-c", ",".join(map(str, cores()[:threads]))]
    peers = [Peer("onto", threads, [*pinned, PROGRAM, str(threads)])]
    gone = {PACKAGES[p] for p in missing}
    peers += [Peer(n, threads, [python, HERE / "peers.py", n, str(threads)]) for n, module in PEERS.items() if module not in gone]
    times = {}
    for row in ROWS:
        right, runs = peers[0].ask("check", row), {}
        if right is None:
            sys.exit(f"bench python: onto's program does not answer for {row}")
        for peer in peers:
            said = peer.ask("check", row)
            if said is None or abs(said - right) > 2e-3 * (1 + abs(right)):
                print(f"  {row}: {peer.name} is left out: {'no answer' if said is None else f'its sum is {said}, not {right}'}")
                continue
            for _ in range(3):
                once, _ = peer.ask("time", row, 1)
            runs[peer] = max(1, min(20000, int(budget / max(once, 1e-7))))
        for _ in range(rounds):
            for peer in random.sample(list(runs), len(runs)):
                time.sleep(0.02)  # threads of the one before fall asleep
                times.setdefault(row, {}).setdefault(peer.name, []).append(peer.ask("time", row, runs[peer]))
        print(f"{threads} thread{'s' if threads > 1 else ''}, {row}: " +
              ", ".join(f"{n} {show(statistics.median(s for s, _ in t) * 1e6)}" for n, t in times[row].items()), flush=True)
    versions = {p.name: p.version for p in peers if p.version}
    for peer in peers:
        peer.end()
    return times, versions


def processor():
    """The name of the processor, as Linux has it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


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
    python, missing = environment()
    if python is None:
        print(f"bench python: skipped: {missing}")
        return
    load, results, versions = [os.getloadavg()[0]], {}, {}
    for threads in sorted({1, len(cores())}):
        results[threads], versions = measure(python, missing, threads, rounds, budget)
    load.append(os.getloadavg()[0])
    if arguments.write:
        with open(OUT / "python.tsv", "w", encoding="utf-8") as out:
            print(*HEADS, sep="\t", file=out)
            for threads, times in results.items():
                for row, by_peer in times.items():
                    for name, t in by_peer.items():
                        clock, processors = ([pair[k] for pair in t] for k in (0, 1))
                        quartiles = statistics.quantiles(clock, n=4)
                        values = (statistics.median(clock), min(clock), quartiles[0], quartiles[2], statistics.median(processors))
                        print(row, threads, name, *(f"{v * 1e6:.4g}" for v in values), len(t), sep="\t", file=out)
        (OUT / "python.md").write_text(document(results, versions, rounds, load), encoding="utf-8")


if __name__ == "__main__":
    main()
