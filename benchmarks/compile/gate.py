#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Fails when onto has become dearer to compile.

Two kinds of conditions, and neither is in seconds: numbers that are the same every time (template instantiations, and
functions that code is generated for) stay within limits.json; and the time grows no faster with the size of an
expression than it may, nor beyond a multiple of Eigen Tensor's, which is wide: for the same text it has been 2.4 to 2.7
on one machine and 2.7 to 3.2 on another, and the counts are what holds it. `--record` writes the numbers of today into
limits.json. Ordinary programs compile, and those that are counted print what their twins print.
"""
import argparse
import json
import sys
import time
from pathlib import Path

import compilers
import ordinary
import programs
from compilers import Bench, CompileFailed

LIMITS = Path(__file__).resolve().parent / "limits.json"
ORDINARY = ("attention", "k_means", "logistic_regression", "perceptron")  # the ordinary programs that are counted and run
OPTIMIZED = ("include", "8", *ORDINARY)  # whose functions are counted in what g++ -O2 has made
COUNTED = ("include", "8", "128", f"{programs.DIFFERENT}x8", *ORDINARY)
PATIENCE = 400  # seconds after which no condition on times is measured once more


class Tally:
    """Counts and prints the verdicts."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def verdict(self, good, text):
        """One condition that was checked."""
        print(("ok   " if good else "FAIL ") + text, flush=True)
        if good:
            self.passed += 1
        else:
            self.failed += 1

    def skip(self, text):
        """One condition that cannot be checked here."""
        print(f"skip {text}", flush=True)
        self.skipped += 1

    def last_line(self):
        """The line that the caller reads."""
        print(f"compile-time: {self.passed} passed, {self.failed} failed, {self.skipped} skipped")


def edition(compiler):
    """A compiler and its major version, as limits.json names it: "g++ 12"."""
    return f"{compiler} {compilers.version(compiler).split('.')[0]}"


def measured_counts(bench, compiler):
    """The numbers of every counted program: {"instantiations": {"include": n, ...}, ...}."""
    table = {}
    for program in COUNTED:
        optimized = compiler == "g++" and program in OPTIMIZED
        for kind, number in bench.counts(compiler, "onto", program, optimized).items():
            table.setdefault(kind, {})[program] = number
        if optimized:
            table.setdefault("functions", {})[program] = bench.functions_left(compiler, "onto", program)
    return table


def check_counts(bench, compiler, limits, tally):
    """The numbers that are the same every time against their limits."""
    reason = bench.missing(compiler, "onto")
    if reason:
        tally.skip(f"instantiations: {reason}")
        return
    name = edition(compiler)
    allowed = limits["counts"].get(name)
    if not allowed:
        tally.skip(f"instantiations: limits.json has none for {name}")
        return
    try:
        found = measured_counts(bench, compiler)
    except CompileFailed as error:
        tally.verdict(False, f"{name}: a program does not compile:\n{error}")
        return
    for kind, by_program in allowed.items():
        for program, limit in by_program.items():
            number = found.get(kind, {}).get(program)
            most = int(limit * (1 + limits["slack"]))
            if number is None:
                tally.verdict(False, f"{name}, {program}: no number of {kind}")
            else:
                tally.verdict(number <= most, f"{name}, {program}: {number} {kind}, at most {most}")


def check_ordinary(bench, compiler, tally):
    """Ordinary programs compile; and those that were counted, so that they are compiled, print what their twins print."""
    reason = bench.missing(compiler, "onto")
    if reason:
        tally.skip(f"ordinary programs: {reason}")
        return
    for program in sorted(set(programs.ORDINARY) - set(ORDINARY)):
        said = ""
        try:
            bench.run(bench.command(compiler, "onto", program, ["-fsyntax-only"]))
        except CompileFailed as error:
            said = f":\n{error}"
        tally.verdict(not said, f"{compiler}, {program} compiles{said}")
    reason = bench.missing(compiler, "eigen")
    if reason:
        tally.skip(f"what ordinary programs print: {reason}")
        return
    wrong = ordinary.compared(bench, compiler, ("onto", "eigen"), ORDINARY)
    tally.verdict(not wrong, f"{', '.join(ORDINARY)} print what their twins print" + "".join(f"\n{line}" for line in wrong))


def check_times(conditions, tally, start, rounds):
    """Conditions on the least CPU times of several rounds.

    Each condition is (bench, compiler, needed, limit, ratio, text): `needed` are the (library, program) to compile and
    `ratio` makes a number of their times. A program that several need is compiled once for all in the first round;
    more rounds are made only while a condition does not hold.
    """
    first = {}
    for bench, compiler, needed, limit, ratio, text in conditions:
        reason = next((r for r in (bench.missing(compiler, library) for library, _ in needed) if r), "")
        if reason:
            tally.skip(f"{text}: {reason}")
            continue
        try:
            for key in needed:
                if (compiler, key) not in first:
                    first[compiler, key] = bench.time(compiler, *key).cpu
            least = {key: first[compiler, key] for key in needed}
            value = ratio(*(least[key] for key in needed))
            for _ in range(1, rounds):
                if value <= limit or time.monotonic() - start > PATIENCE:
                    break
                for key in needed:
                    least[key] = min(bench.time(compiler, *key).cpu, least[key])
                value = ratio(*(least[key] for key in needed))
        except CompileFailed as error:
            tally.verdict(False, f"{text}: a program does not compile:\n{error}")
            continue
        times = ", ".join(f"{programs.NAMES[library]} {program} {least[library, program]:.2f} s"
                          for library, program in needed)
        tally.verdict(value <= limit, f"{text}: {value:.2f} x, at most {limit:g} x ({times})")


def growth(include, small, large):
    """How the cost grows from `small` to `large` after the include; a small one below 10 ms counts as that."""
    return (large - include) / max(small - include, 0.01)


def record(bench, limits):
    """Writes the numbers of the compilers that are here."""
    for compiler in ("g++", "clang++"):
        if not bench.missing(compiler, "onto"):
            limits["counts"][edition(compiler)] = measured_counts(bench, compiler)
    LIMITS.write_text(json.dumps(limits, indent=2) + "\n", encoding="utf-8")


def main():
    """Checks everything, or records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the numbers of today into limits.json and stop")
    parser.add_argument("--include", help="the folder with onto/onto.hpp, if not this checkout's")
    options = parser.parse_args()
    start = time.monotonic()
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    bench = Bench(options.include)
    if options.record:
        record(bench, limits)
        return 0
    tally = Tally()
    for compiler in ("g++", "clang++"):
        check_counts(bench, compiler, limits, tally)
    check_ordinary(bench, "g++", tally)
    onto = [("onto", "include"), ("onto", "8"), ("onto", "128")]
    check_times([
        (bench, "g++", [("onto", "include"), ("onto", "8"), ("onto", programs.FEW_LEAVES)], limits["growth"]["g++"], growth,
         "g++ -O2, 128 operations beside 8 over the same 9 leaves, after the include"),
        (bench, "g++", onto, limits["growth"]["g++, leaves too"], growth,
         "g++ -O2, 128 operations over 129 leaves beside 8 over 9, after the include (2 is the goal)"),
        (bench, "g++", [("onto", "8"), ("eigen", "8")], limits["beside Eigen Tensor"],
         lambda mine, other: mine / other, "g++ -O2, 8 operations beside the same with Eigen Tensor (1 is the goal)"),
    ], tally, start, 6)
    check_times([
        (bench, "nvcc", onto[1:], limits["growth"]["nvcc"], lambda small, large: large / small,
         "nvcc -O2, 128 operations beside 8"),
    ], tally, start, 2)
    tally.last_line()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
