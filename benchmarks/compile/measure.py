#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures what it costs to compile programs that use onto, beside the same programs with Eigen Tensor and xtensor.

The programs are those of programs.py. Everything is compiled in rounds, each program once a round, and the medians are
shown. `--write` puts the tables into docs/measurements.
"""
import argparse
import random
import statistics
import sys
import time
from pathlib import Path

import compilers
import programs
from compilers import Bench, CompileFailed


def cpu_model():
    """The name of the processor."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def eigen_version():
    """The version of Eigen, from its header, or an empty string."""
    macros = Path(compilers.EIGEN or "/") / "Eigen/src/Core/util/Macros.h"
    if not macros.exists():
        return ""
    words = [line.split() for line in macros.read_text(encoding="utf-8").splitlines()]
    numbers = {w[1]: w[2] for w in words if len(w) == 3 and w[0] == "#define"}
    return ".".join(numbers.get(f"EIGEN_{part}_VERSION", "?") for part in ("WORLD", "MAJOR", "MINOR"))


def xtensor_version():
    """The version of xtensor, from its header, or an empty string."""
    config = Path("/usr/include/xtensor/xtensor_config.hpp")
    if not config.exists():
        return ""
    words = [line.split() for line in config.read_text(encoding="utf-8").splitlines()]
    numbers = {w[1]: w[2] for w in words if len(w) == 3 and w[0] == "#define"}
    return ".".join(numbers.get(f"XTENSOR_VERSION_{part}", "?") for part in ("MAJOR", "MINOR", "PATCH"))


def median(costs, field):
    """The median of one field of several costs."""
    return statistics.median(getattr(cost, field) for cost in costs)


def measure(bench, wanted, rounds, counts):
    """Compiles every (compiler, library, program) `rounds` times, interleaved. Returns the rows of the table."""
    samples = {key: [] for key in wanted}
    failed = {}
    order = list(wanted)
    for number in range(rounds):
        random.shuffle(order)  # so that no program is always behind the same one
        for key in order:
            if key in failed:
                continue
            try:
                samples[key].append(bench.time(*key))
            except CompileFailed as error:
                failed[key] = str(error)
                print(f"{' '.join(key)} does not compile:\n{error}", file=sys.stderr)
        if sys.stderr.isatty():
            print(f"round {number + 1} of {rounds} is done", file=sys.stderr)
    rows = []
    for compiler, library, program in wanted:
        key = compiler, library, program
        if key in failed:
            rows.append(dict(compiler=compiler, library=library, program=program, failed=failed[key]))
            continue
        try:
            counted = bench.counts(*key) if counts else {}
        except CompileFailed:
            counted = {}
        rows.append(dict(compiler=compiler, library=library, program=program, wall=median(samples[key], "wall"),
                         cpu=median(samples[key], "cpu"), memory=median(samples[key], "memory"), **counted))
    return rows


def subtracted(rows):
    """Adds to each row what is left after the include-only program's cost is taken away."""
    base = {(r["compiler"], r["library"]): r for r in rows if r["program"] == "include" and "failed" not in r}
    for row in rows:
        include = base.get((row["compiler"], row["library"]))
        if "failed" in row or include is None or row["program"] == "include":
            continue
        row["wall_after"] = row["wall"] - include["wall"]
        row["cpu_after"] = row["cpu"] - include["cpu"]
        if "instantiations" in row and "instantiations" in include:
            row["instantiations_after"] = row["instantiations"] - include["instantiations"]
    return rows


COLUMNS = (("wall", "wall s", "{:.2f}"), ("cpu", "CPU s", "{:.2f}"), ("wall_after", "wall s after include", "{:.2f}"),
           ("cpu_after", "CPU s after include", "{:.2f}"), ("memory", "peak MiB", "{:.0f}"),
           ("instantiations", "instantiations", "{:d}"), ("instantiations_after", "after include", "{:d}"),
           ("functions", "functions", "{:d}"))


def cells(row):
    """The numbers of a row as text."""
    if "failed" in row:
        return ["does not compile"] + ["-"] * (len(COLUMNS) - 1)
    return [form.format(row[name]) if row.get(name) is not None else "-" for name, _, form in COLUMNS]


def table(rows, compiler):
    """One compiler's rows as a Markdown table with aligned columns."""
    lines = [["library", "program"] + [title for _, title, _ in COLUMNS]]
    for row in rows:
        if row["compiler"] == compiler:
            lines.append([programs.NAMES[row["library"]], row["program"]] + cells(row))
    told = [i for i in range(len(lines[0])) if any(line[i] != "-" for line in lines[1:])]
    lines = [[line[i] for i in told] for line in lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]

    def written(line):
        left = [cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))]
        return "| " + " | ".join(left) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < 2 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([written(lines[0]), rule] + [written(line) for line in lines[1:]])


def ratios(rows):
    """What the goals for compile time ask, as sentences."""
    at = {(r["compiler"], r["library"], r["program"]): r for r in rows if "failed" not in r}
    said = []
    for compiler in ("g++", "clang++", "nvcc"):
        small, large = (at.get((compiler, "onto", program)) for program in ("8", "128"))
        for ours, form in (("onto", ""), (programs.COMPILED, " with the compiled runtime")):
            mine = at.get((compiler, ours, "8"))
            for library in ("eigen", "xtensor"):
                other = at.get((compiler, library, "8"))
                if mine and other:
                    said.append(f"{compiler}: the program of 8 operations{form} takes {mine['cpu'] / other['cpu']:.2f} x the CPU "
                                f"time of the one with {programs.NAMES[library]}")
        if small and large and small.get("cpu_after", 0) > 0:
            said.append(f"{compiler}: 128 operations take {large['cpu_after'] / small['cpu_after']:.2f} x the CPU time "
                        "of 8, after the include")
        if compiler == "nvcc" and small and large:
            said.append(f"{compiler}: the whole program of 128 operations takes {large['cpu'] / small['cpu']:.2f} x "
                        "the CPU time of the one of 8")
    return said


def document(rows, used, level, rounds):
    """The page for docs/measurements."""
    versions = [f"{name} {compilers.version(name)}" for name in used]
    libraries = {r["library"] for r in rows}
    if "eigen" in libraries:
        versions.append(f"Eigen {eigen_version()}")
    if "xtensor" in libraries:
        versions.append(f"xtensor {xtensor_version()}")
    lines = ["# Compile time", "",
             f"Machine: {cpu_model()}; {', '.join(versions)}. Measured on {time.strftime('%Y-%m-%d')} with",
             f"`benchmarks/compile/measure.py --write`; medians of {rounds} interleaved rounds.", "",
             "A program of N operations is one expression over N + 1 distinct leaves, complete with `main`, compiled",
             f"with `-std=c++20 {level} -c` (nvcc: the same file as CUDA, `-arch=sm_90`). \"50x8\" has 50 different",
             "expressions of 8 operations. CPU s is user and system time of the compiler and all its processes, peak",
             "MiB the memory of the largest of them. \"After include\" is what is left when the cost of including the",
             "library is taken away. Instantiations are counted by g++ as registered specializations (`-fmem-report`)",
             "and by clang++ as instantiated classes and functions (`-ftime-trace`): compare them within one compiler;",
             "functions are those clang++ generates code for before it optimizes. Both are the same every time; nvcc",
             "tells neither. Seconds differ between machines and hours, so read the ratios.", ""]
    lines += [f"* {sentence}." for sentence in ratios(rows)]
    for compiler in used:
        lines += ["", f"## {compiler} {level}", "", table(rows, compiler)]
    return "\n".join(lines) + "\n"


def tsv(rows):
    """All rows as tab-separated values."""
    names = ["compiler", "library", "program"] + [name for name, _, _ in COLUMNS]
    lines = ["\t".join(names)]
    for row in rows:
        lines.append("\t".join([row["compiler"], row["library"], row["program"]] + cells(row)))
    return "\n".join(lines) + "\n"


def main():
    """Reads the options, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="g++; onto and Eigen Tensor; include, 8 and 128; 3 rounds")
    parser.add_argument("--compilers", default="g++,clang++,nvcc", help="which compilers (%(default)s)")
    parser.add_argument("--libraries", default=f"onto,{programs.COMPILED},eigen,xtensor", help="which libraries (%(default)s)")
    parser.add_argument("--programs", default=",".join(programs.PROGRAMS), help="which programs (%(default)s)")
    parser.add_argument("--rounds", type=int, help="how often each program is compiled (5)")
    parser.add_argument("--level", default="-O2",
                        help="the flags after -std=c++20, for example --level=-fsyntax-only (%(default)s)")
    parser.add_argument("--include", help="the folder with onto/onto.hpp, if not this checkout's")
    parser.add_argument("--no-counts", action="store_true", help="leave out the template instantiations")
    parser.add_argument("--source", metavar="LIBRARY/PROGRAM", help="print one program and stop, for example onto/8")
    parser.add_argument("--write", metavar="FOLDER", nargs="?", const=str(compilers.ROOT / "docs/measurements"),
                        help="write compile_time.md and compile_time.tsv into the folder (docs/measurements)")
    options = parser.parse_args()
    if options.source:
        print(programs.source(*options.source.split("/")), end="")
        return 0
    if options.quick:
        options.compilers, options.libraries, options.programs = "g++", "onto,eigen", "include,8,128"
    rounds = options.rounds or (3 if options.quick else 5)
    bench = Bench(options.include, options.level)
    wanted, used = [], []
    for compiler in options.compilers.split(","):
        for library in options.libraries.split(","):
            reason = bench.missing(compiler, library)
            if reason:
                if compiler != "nvcc" or library in ("onto", programs.COMPILED):
                    print(f"left out: {compiler} with {programs.NAMES[library]}: {reason}", file=sys.stderr)
                continue
            wanted += [(compiler, library, program) for program in options.programs.split(",")]
            if compiler not in used:
                used.append(compiler)
    rows = subtracted(measure(bench, wanted, rounds, not options.no_counts))
    for compiler in used:
        print(f"\n{compiler} {compilers.version(compiler)} {options.level}, median of {rounds}\n\n"
              f"{table(rows, compiler)}")
    print()
    for sentence in ratios(rows):
        print(sentence)
    if options.write:
        folder = Path(options.write)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "compile_time.md").write_text(document(rows, used, options.level, rounds), encoding="utf-8")
        (folder / "compile_time.tsv").write_text(tsv(rows), encoding="utf-8")
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
