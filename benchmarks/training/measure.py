#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures a step of training in onto beside PyTorch, JAX and libtorch on this machine's CPU, and makes the table.

The libraries take turns as benchmarks/beside says; the loss of the fifth step is compared before anything is timed. `--write` records
docs/measurements/training.tsv and the tables of training.md.
"""
import argparse
import datetime
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "beside"))
from turns import BUSY, OUT, ROOT, Peer, cores, environment, pinned, processor, show, take_turns, write_tsv  # noqa: E402

PROGRAMS = ROOT / "build" / "release" / "benchmarks" / "training"
PACKAGES = {"numpy": "numpy", "jax": "jax", "torch": "torch"}
PEERS = {"torch": "torch", "torch.compile": "torch", "libtorch": "torch", "jax": "jax"}
HEADER_ONLY = "header-only"
ROWS = {
    "tiny perceptron": "layers 2, 8, 1, a batch of 4, descent: what a step costs beside its arithmetic",
    "perceptron": "layers 784, 512, 512, 10 with bias and relu, a batch of 128, descent",
    "digits": "the network of `examples/digits.cpp` without dropout, its batch of 32 bytes' pictures, Adam",
    "cifar10": "the network of `examples/cifar10` with its decay, a batch of 128, descent",
    "transformer block": "4 sequences of 128, width 256, 4 heads, 1024 inside: layer norms, attention, gelu; descent",
}
BEGIN, END = "<!-- written by ./run bench training -->", "<!-- written until here -->"
MEMORY_STEPS = 5


def libtorch(python):
    """libtorch's side, built with the libraries of PyTorch's wheel; None where that does not build."""
    program = ROOT / "build" / "training" / "libtorch"
    program.parent.mkdir(parents=True, exist_ok=True)
    source = HERE / "libtorch.cpp"
    needed = max(source.stat().st_mtime, (HERE.parent / "beside" / "answer.hpp").stat().st_mtime)
    if program.exists() and program.stat().st_mtime > needed:
        return program
    where = subprocess.run([python, "-c", "import torch; print(torch.__path__[0])"], capture_output=True, text=True, check=False).stdout.strip()
    include, lib = f"{where}/include", f"{where}/lib"
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-isystem", include, "-isystem", f"{include}/torch/csrc/api/include", source, "-o", program,
               f"-L{lib}", f"-Wl,-rpath,{lib}", "-Wl,--no-as-needed", "-ltorch_cpu", "-ltorch", "-lc10", "-pthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"bench training: without libtorch, whose side does not build:\n{done.stderr[-2000:]}")
        return None
    return program


def commands(python, missing, threads):
    """{peer: (command, whether it is Python)}; onto first."""
    gone = {PACKAGES[p] for p in missing}
    found = {"onto": ([*pinned(threads), PROGRAMS / "bench_training", str(threads)], False),
             HEADER_ONLY: ([*pinned(threads), PROGRAMS / "bench_training_header_only", str(threads)], False)}
    for name, module in PEERS.items():
        if module in gone:
            continue
        if name != "libtorch":
            found[name] = ([python, HERE / "peers.py", name, str(threads)], True)
        elif program := libtorch(python):
            found[name] = ([*pinned(threads), program, str(threads)], False)
    return found


def memory(found):
    """{row: {peer: bytes}}: what a process has at most over a few steps beyond what it had before the row was made, one thread. Each in a process of its own, in which another row
    has run before: what a library takes once is not counted. And what the plan says."""
    grown = {}
    for row in ROWS:
        for name, how in found.items():
            if name == HEADER_ONLY:
                continue  # holds what the other does
            peer = Peer(name, 1, *how)
            warm = "perceptron" if row == "tiny perceptron" else "tiny perceptron"
            peer.ask("time", warm, MEMORY_STEPS)
            grown.setdefault(row, {})[name] = peer.ask("memory", row, MEMORY_STEPS)
            if name == "onto":
                grown[row]["plan"] = peer.ask("say", row)
            peer.end()
        print(f"memory, {row}: " + ", ".join(f"{n} {b / 1e6:.3g} MB" for n, b in grown[row].items() if b is not None), flush=True)
    return grown


def tables(results, grown, versions, rounds, load):
    """What stands between the marks in training.md."""
    busy = max(load) > BUSY
    names = [n for n in (HEADER_ONLY, *PEERS) if any(n in by for times in results.values() for by in times.values())]
    lines = [BEGIN, "", f"Machine: {processor()}, {len(cores())} processors, {'perhaps with other programs beside it' if busy else 'quiet'}: "
             f"its load (processes that want to run, averaged over a minute) was {load[0]:.1f} before the first row and {load[-1]:.1f} after the last; what is "
             f"measured adds one to two. Measured on {datetime.date.today()}, {rounds} rounds in which the libraries take turns at random. " +
             ", ".join(f"{n} {v}" for n, v in versions.items()) + ".", "",
             "For one thread: the least of the processor's time (what else runs is not in it), for two the least of the clock's." if busy else "Medians of the clock's time.", ""]

    def taken(times, threads):
        if not busy:
            return statistics.median(clock for clock, _ in times)
        return min(processors for _, processors in times) if threads == 1 else min(clock for clock, _ in times)

    for threads, times in results.items():
        lines += [f"### {threads} thread{'s' if threads > 1 else ''}", "", "| a step of | onto | " + " | ".join(names) + " | best of them / onto |",
                  "|---|---:|" + "---:|" * (len(names) + 1)]
        for row, by_peer in times.items():
            mine = taken(by_peer["onto"], threads)
            ratios = {n: taken(by_peer[n], threads) / mine for n in names if n in by_peer}
            best = min((r for n, r in ratios.items() if n != HEADER_ONLY), default=None)
            lines.append(f"| {row} | {show(mine * 1e6)} | " + " | ".join(f"{ratios[n]:.2f}" if n in ratios else "" for n in names) +
                         f" | {f'**{best:.2f}**' if best else ''} |")
        lines.append("")
    names = [n for n in names if n != HEADER_ONLY]
    lines += ["### Memory", "", "| a step of | the plan's `peak_bytes`, MB | onto, MB | " + " | ".join(f"{n}, MB" for n in names) + " |",
              "|---|---:|---:|" + "---:|" * len(names)]
    for row, by_peer in grown.items():
        lines.append(f"| {row} | " + " | ".join("" if by_peer.get(n) is None else f"{by_peer[n] / 1e6:.3g}" for n in ("plan", "onto", *names)) + " |")
    return "\n".join([*lines, "", END])


def gpu_name():
    """The GPU and its driver, or None where there is none."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return said.stdout.strip().splitlines()[0] if said.returncode == 0 and said.stdout.strip() else None


def on_gpu(program, names, rounds, budget, to):
    """Measures a program that nvcc has made of onto's side beside libraries of this Python, on the first GPU; each row is recorded as soon as it is known."""
    gpu = gpu_name()
    if gpu is None:
        print("bench training: skipped: there is no GPU (nvidia-smi finds none)")
        return
    def mine():
        return Peer("onto", 1, [program, str(len(cores()))], False)
    peers = [mine()] + [Peer(name, 1, [sys.executable, HERE / "peers.py", name, "gpu"], True) for name in names]
    results = {}
    for row in ("tiny perceptron", "perceptron", "transformer block", "digits", "cifar10"):
        try:
            results.update(take_turns(peers, [row], rounds, budget))
        except SystemExit as gone:
            print(gone, flush=True)
            peers[0] = mine()
            continue
        write_tsv(to / "training_gpu.tsv", {"gpu": results})
        versions = ", ".join(f"{p.name} {p.version}" for p in peers[1:] if p.name != "torch.compile")
        heads = [p.name for p in peers[1:]]
        lines = ["<!-- SPDX-License-Identifier: BSL-1.0 -->", "# A step of training on a GPU", "",
                 f"Written by `./run bench training --gpu`: {gpu} (name, driver); {processor()}, {len(cores())} processors; {datetime.date.today()}; {versions}.", "",
                 "The networks of [training.md](training.md). A step is a whole call: the batch goes from the host's memory to the GPU, the loss comes back. Full floats, no TF32. "
                 "Medians of the clock's time over rounds in which the libraries take turns; a ratio over 1: onto is faster.", "",
                 "| a step of | onto | " + " | ".join(heads) + " |", "|---|---:|" + "---:|" * len(heads)]
        for name, by_peer in results.items():
            taken = {n: statistics.median(clock for clock, _ in times) for n, times in by_peer.items()}
            lines.append(f"| {name} | {show(taken['onto'] * 1e6)} | " + " | ".join(f"{taken[n] / taken['onto']:.2f}" if n in taken else "" for n in heads) + " |")
        (to / "training_gpu.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for peer in peers:
        peer.end()


def main():
    """Measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="record the results in docs/measurements")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--gpu", type=Path, metavar="PROGRAM", help="on a GPU, which ./run bench training --gpu builds PROGRAM for: the target bench_training_gpu of a tree for nvcc")
    parser.add_argument("--peers", default="torch,torch.compile,jax", help="on a GPU: what to measure beside")
    parser.add_argument("--to", type=Path, default=OUT, help="on a GPU: where to record")
    arguments = parser.parse_args()
    rounds, budget = (3, 0.01) if arguments.quick else (arguments.rounds, 0.02)
    if arguments.gpu:
        on_gpu(arguments.gpu, arguments.peers.split(","), rounds, budget, arguments.to)
        return
    python, missing = environment(PACKAGES, "bench training")
    if python is None:
        print(f"bench training: skipped: {missing}")
        return
    load, results, versions = [os.getloadavg()[0]], {}, {}
    for threads in sorted({1, len(cores())}):
        peers = [Peer(name, threads, *how) for name, how in commands(python, missing, threads).items()]
        results[threads] = take_turns(peers, ROWS, rounds, budget)
        versions.update({p.name: p.version for p in peers if p.version and p.name != "torch.compile"})
        for peer in peers:
            peer.end()
        load.append(os.getloadavg()[0])
    grown = memory(commands(python, missing, 1))
    if arguments.write:
        write_tsv(OUT / "training.tsv", results)
        page = (OUT / "training.md").read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        (OUT / "training.md").write_text(before + tables(results, grown, versions, rounds, load) + after, encoding="utf-8")
    else:
        print(tables(results, grown, versions, rounds, load))


if __name__ == "__main__":
    main()
