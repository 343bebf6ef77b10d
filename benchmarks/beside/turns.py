# SPDX-License-Identifier: BSL-1.0
"""onto beside other libraries on this machine's CPU: every library runs in a process of its own, with one thread and with as many as there are,
pinned to as many cores; the processes take turns at random, row by row, so that what else the machine does meets them alike. Results are
compared before anything is timed. Python's libraries come from PyPI into a virtual environment in build/python."""
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / "build" / "python"
OUT = ROOT / "docs" / "measurements"
HEADS = ["row", "threads", "peer", "median_us", "least_us", "low_us", "high_us", "processor_us", "least_processor_us", "rounds"]
BUSY = 0.7  # a load from which on medians are other programs'


class Peer:
    """A process that answers how long a row takes."""

    def __init__(self, name, threads, command, is_python):
        self.name, self.threads = name, threads
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.version = self.process.stdout.readline().strip() if is_python else ""

    def ask(self, what, row, runs=0):
        """A number (of `time` two, the clock's seconds and the processors'), or None where the peer has no such row or is gone."""
        try:
            self.process.stdin.write(f"{what} {row}\t{runs}\n")
            self.process.stdin.flush()
            numbers = [float(word) for word in self.process.stdout.readline().split()]
            return (numbers[0], numbers[1]) if what == "time" else numbers[0]
        except (OSError, ValueError, IndexError):
            return None

    def end(self):
        """Lets the process end by itself."""
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.terminate()


def environment(packages, who):
    """The Python of the virtual environment and the packages that are missing, or None and the reason. `packages`: {name: module}."""
    python = VENV / "bin" / "python"
    if not python.exists() and subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, check=False).returncode != 0:
        return None, "a virtual environment cannot be made (Debian: python3-venv)"
    missing = []
    for package, module in packages.items():
        found = subprocess.run([python, "-c", f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"], check=False)
        if found.returncode == 0:
            continue
        print(f"{who}: installing {package} into build/python", flush=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", package], capture_output=True, check=False).returncode != 0:
            missing.append(package)
    if len(missing) == len(packages):
        return None, "PyPI cannot be reached"
    if missing:
        print(f"{who}: without {', '.join(missing)}, which cannot be installed from here")
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


def pinned(threads):
    """What a command begins with that runs on so many processors."""
    return ["taskset", "-c", ",".join(map(str, cores()[:threads]))]


def take_turns(peers, rows, rounds, budget, tolerance=2e-3):
    """{row: {peer: [(seconds, processor seconds)]}}. The first peer is onto; the others are left out of a row where they have another result."""
    times, threads = {}, peers[0].threads
    for row in rows:
        right, runs = peers[0].ask("check", row), {}
        if right is None:
            sys.exit(f"onto's program does not answer for {row}")
        for peer in peers:
            said = right if peer is peers[0] else peer.ask("check", row)
            if said is None or not abs(said - right) <= tolerance * (1 + abs(right)):
                print(f"  {row}: {peer.name} is left out: {'no answer' if said is None else f'its result is {said}, not {right}'}", flush=True)
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
    return times


def processor():
    """The name of the processor, as Linux has it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def write_tsv(path, results):
    """All that was measured, `results`: {threads: what take_turns returns}."""
    with open(path, "w", encoding="utf-8") as out:
        print(*HEADS, sep="\t", file=out)
        for threads, times in results.items():
            for row, by_peer in times.items():
                for name, t in by_peer.items():
                    clock, processors = ([pair[k] for pair in t] for k in (0, 1))
                    quartiles = statistics.quantiles(clock, n=4)
                    values = (statistics.median(clock), min(clock), quartiles[0], quartiles[2], statistics.median(processors), min(processors))
                    print(row, threads, name, *(f"{v * 1e6:.4g}" for v in values), len(t), sep="\t", file=out)
