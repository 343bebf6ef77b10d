#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures what ordinary programs cost to compile, each beside its twin in Eigen: those of the folder `ordinary`.

First every program is compiled, linked and run, and has to print what its twin prints, to a unit of the last digit that both
print. Then all are compiled in rounds, each once a round, and medians are shown. With the compiled runtime, where there is
one, a program has one source file more, which is a row of its own. `--write` puts the table into docs/measurements.
"""
import argparse
import re
import statistics
import sys
import time
from pathlib import Path

import compilers
import measure
import programs
from compilers import Bench, CompileFailed

LIBRARIES = ("onto", programs.COMPILED, "eigen")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
ROUNDING = 1e-6  # what two orders of summation may make, beside the largest number of the output
DIGITS = 1e-5    # numbers may be printed to 6 digits by the one and to 8 by the other


def decimals(text):
    """How many digits a number has behind its point."""
    return len(text.partition("e")[0].partition(".")[2])


def words(text):
    """What is printed, word by word, without the brackets that onto prints around rows."""
    return re.sub(r"[\[\]]", " ", text).split()


def difference(mine, other):
    """Where two outputs differ, or an empty string.

    Numbers may by a unit of the last digit where both are printed to the same, and by what rounding may do.
    """
    mine, other = words(mine), words(other)
    if len(mine) != len(other):
        return f"{len(mine)} words beside {len(other)}"
    largest = max((abs(float(w)) for w in mine if NUMBER.fullmatch(w)), default=0.0)
    for left, right in zip(mine, other):
        a, b = NUMBER.search(left), NUMBER.search(right)
        if left == right:
            continue
        if not a or not b or NUMBER.sub("", left) != NUMBER.sub("", right):
            return f"{left} beside {right}"
        digits = decimals(a[0])
        unit = 1.01 * 10.0 ** -digits if digits > 0 and digits == decimals(b[0]) and "e" not in left + right else 0.0
        value = float(a[0])
        if abs(value - float(b[0])) > max(unit, DIGITS * abs(value), ROUNDING * largest):
            return f"{left} beside {right}"
    return ""


def compared(bench, compiler, libraries, chosen):
    """Compiles and runs every program: what is wrong with their outputs, as sentences."""
    wrong = []
    if programs.COMPILED in libraries:
        bench.time(compiler, programs.COMPILED, programs.RUNTIME)
    for program in chosen:
        outputs = {}
        for library in libraries:
            try:
                if not (bench.folder / bench.object(compiler, library, program)).exists():
                    bench.time(compiler, library, program)
                outputs[library] = bench.output(compiler, library, program)
            except CompileFailed as error:
                wrong.append(f"{program} with {programs.NAMES[library]}: it does not compile or run:\n{error}")
        for library, text in outputs.items():
            found = difference(outputs.get("onto", text), text)
            if found:
                wrong.append(f"{program}: what onto prints is not what {programs.NAMES[library]} prints: {found}")
    return wrong


def cell(row, field, form):
    """A number of a row, or a dash."""
    return form.format(row[field]) if row and "failed" not in row else "-"


def ratio(mine, other):
    """How many times as much CPU time a row took as another, or None."""
    if not mine or not other or "failed" in mine or "failed" in other:
        return None
    return mine["cpu"] / other["cpu"]


def table(rows, compiler, libraries):
    """One compiler's rows as lines of a Markdown table: a program beside its twin."""
    at = {(r["library"], r["program"]): r for r in rows if r["compiler"] == compiler}
    ours = [library for library in libraries if library != "eigen"]
    names = [programs.NAMES[library] if library != "eigen" else "Eigen" for library in libraries]
    head = ["program", *(f"{name}, CPU s" for name in names)]
    if "eigen" in libraries:
        head += [f"{programs.NAMES[library]} / Eigen" for library in ours]
    head += [f"{name}, peak MiB" for name in names]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    ratios = {library: [] for library in ours}
    for program in dict.fromkeys(r["program"] for r in rows if r["compiler"] == compiler):
        line = [program.replace("_", " ") if program != programs.RUNTIME else "the runtime itself, once"]
        line += [cell(at.get((library, program)), "cpu", "{:.2f}") for library in libraries]
        if "eigen" in libraries:
            for library in ours:
                times = ratio(at.get((library, program)), at.get(("eigen", program)))
                line.append(f"{times:.2f}" if times else "-")
                ratios[library] += [times] if times else []
        lines.append(line + [cell(at.get((library, program)), "memory", "{:.0f}") for library in libraries])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    for library, some in ratios.items():
        if some:
            text += (f"\n\n{programs.NAMES[library]}: the median program takes {statistics.median(some):.2f} x the CPU time of its "
                     f"twin, the dearest {max(some):.2f} x.")
    return text


def document(rows, used, libraries, level, rounds):
    """The page for docs/measurements."""
    versions = [f"{name} {compilers.version(name)}" for name in used]
    lines = ["# Compile time of ordinary programs", "",
             f"Machine: {measure.cpu_model()}; {', '.join(versions)}, Eigen {measure.eigen_version()}. Measured on "
             f"{time.strftime('%Y-%m-%d')} with", f"`./run bench compile --write`; medians of {rounds} interleaved rounds.", "",
             "The programs are in [benchmarks/compile/ordinary](../../benchmarks/compile/ordinary), as users write them, 30 to 60",
             "lines each. Before anything is measured each is run, and prints what its twin in Eigen prints, to a unit of the last",
             f"digit. They are compiled with `-std=c++20 {level} -c`. CPU s is the compiler's time of user and system, peak MiB its",
             "memory. Seconds differ between machines and hours, so read the ratios.", "",
             "![CPU seconds of each program beside its twin](../pictures/compile_ordinary.svg)"]
    for compiler in used:
        lines += ["", f"## {compiler} {level}", "", table(rows, compiler, libraries[compiler])]
    return "\n".join(lines) + "\n"


def tsv(rows):
    """All rows as tab-separated values."""
    lines = ["compiler\tlibrary\tprogram\tcpu\tmemory"]
    for row in rows:
        lines.append("\t".join([row["compiler"], row["library"], row["program"], cell(row, "cpu", "{:.3f}"),
                                cell(row, "memory", "{:.1f}")]))
    return "\n".join(lines) + "\n"


def main():
    """Reads the options, compares, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="g++", help="which of g++,clang++,nvcc (%(default)s)")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="which libraries (%(default)s)")
    parser.add_argument("--programs", default=",".join(programs.ORDINARY), help="which programs (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each program is compiled (%(default)s)")
    parser.add_argument("--level", default="-O2", help="the flags after -std=c++20 (%(default)s)")
    parser.add_argument("--include", help="the folder with onto/onto.hpp, if not this checkout's")
    parser.add_argument("--compare", action="store_true", help="only compare what the programs print")
    parser.add_argument("--write", metavar="FOLDER", nargs="?", const=str(compilers.ROOT / "docs/measurements"),
                        help="write compile_ordinary.md and compile_ordinary.tsv into the folder (docs/measurements)")
    options = parser.parse_args()
    bench = Bench(options.include, options.level)
    chosen = options.programs.split(",")
    libraries, used, wrong, wanted = {}, [], [], []
    for compiler in options.compilers.split(","):
        libraries[compiler] = []
        for library in options.libraries.split(","):
            reason = bench.missing(compiler, library)
            if reason:
                print(f"left out: {compiler} with {programs.NAMES[library]}: {reason}", file=sys.stderr)
                continue
            libraries[compiler].append(library)
            wanted += [(compiler, library, program) for program in chosen]
        if not libraries[compiler]:
            continue
        used.append(compiler)
        wrong += compared(bench, compiler, libraries[compiler], chosen)
        if programs.COMPILED in libraries[compiler]:
            wanted.append((compiler, programs.COMPILED, programs.RUNTIME))
    print("\n".join(wrong) if wrong else f"{len(chosen)} programs print what their twins print")
    if options.compare or wrong:
        return 1 if wrong else 0
    rows = measure.measure(bench, wanted, options.rounds, False)
    for compiler in used:
        print(f"\n{compiler} {compilers.version(compiler)} {options.level}, median of {options.rounds}\n\n"
              f"{table(rows, compiler, libraries[compiler])}")
    if options.write:
        folder = Path(options.write)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "compile_ordinary.md").write_text(document(rows, used, libraries, options.level, options.rounds), encoding="utf-8")
        (folder / "compile_ordinary.tsv").write_text(tsv(rows), encoding="utf-8")
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
