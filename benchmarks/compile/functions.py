#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints the functions that g++ spends most time on after it has read a program, and how many there are of each cost.

`g++ -Q` names each function as it begins to compile it; what passes until it names the next is the function's. The least
of several runs counts. Templates' names come without their arguments' values, so functions of one name are one line.
"""
import argparse
import os
import subprocess
import time
from collections import defaultdict

import compilers
import programs
from compilers import Bench

COSTS = (0.5, 1, 2, 5, 10, float("inf"))  # milliseconds


def announced(command, folder):
    """What the compiler said and when: [(seconds, text), ...], each text as it was written."""
    reader, writer = os.pipe()
    said = []
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=writer) as compiler:
        os.close(writer)
        while text := os.read(reader, 1 << 16):
            said.append((time.perf_counter(), text.decode(errors="replace")))
        os.close(reader)
    if compiler.returncode != 0:
        raise SystemExit("".join(text for _, text in said)[-2000:])
    return said


def by_function(said):
    """Seconds of each function: what is announced once the compiler has said that it assembles functions."""
    start = next(k for k, (_, text) in enumerate(said) if "Assembling functions" in text)
    seconds = defaultdict(float)
    for (begin, text), (end, _) in zip(said[start + 1:], said[start + 2:]):
        seconds[text.strip()] += end - begin
    return seconds


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="8", choices=[p for p in programs.PROGRAMS if p != "include"] + list(programs.ORDINARY))
    parser.add_argument("--include", help="the folder with onto/onto.hpp, if not this checkout's")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--lines", type=int, default=40)
    options = parser.parse_args()
    bench = Bench(options.include)
    command = [part for part in bench.command("g++", "onto", options.program, ["-Q"]) if part != "-c"]
    command[-1:] = ["/dev/null", "-S"]
    least = {}
    for _ in range(options.runs):
        for name, seconds in by_function(announced(command, bench.folder)).items():
            least[name] = min(seconds, least.get(name, seconds))
    functions = sorted(((1000 * seconds, name) for name, seconds in least.items() if seconds > 1e-4), reverse=True)
    for cost, name in functions[:options.lines]:
        print(f"{cost:7.2f} ms  {name.replace('onto::detail::', '')[:150]}")
    print(f"{len(functions)} functions, {sum(cost for cost, _ in functions):.0f} ms, g++ {compilers.version('g++')}")
    low = 0
    for high in COSTS:
        some = [cost for cost, _ in functions if low < cost <= high]
        print(f"{len(some):5} of {low:g} to {high:g} ms: {sum(some):.0f} ms")
        low = high


if __name__ == "__main__":
    main()
