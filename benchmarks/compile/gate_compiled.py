#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Fails when programs that use the compiled runtime hold more functions than they have to.

What is counted are the functions in the object file of g++ -O2, those that other files may have too. A function of the
runtime's that a program holds again is one that somebody has forgotten to mark ONTO_RUNTIME.
"""
import argparse
import re
import subprocess
import sys

from compilers import Bench, CompileFailed, version
from gate import Tally

COMPILED = ["-DONTO_COMPILED"]
MOST = {"include": 1, "8": 61, "50x8": 307}  # g++ 12
SLACK = 1.05


def functions(bench, program, flags):
    """How many functions the object file of a program has."""
    command = bench.command("g++", "onto", program, flags)
    bench.run(command)
    said = subprocess.run(["nm", bench.folder / command[-1]], capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"^\S+ [TtWi] ", said, re.M))


def main():
    """Counts and checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", help="the folder with onto/onto.hpp, if not this checkout's")
    options = parser.parse_args()
    bench, tally = Bench(options.include), Tally()
    reason = bench.missing("g++", "onto")
    if reason:
        tally.skip(f"the compiled runtime: {reason}")
    elif not version("g++").startswith("12."):
        tally.skip(f"the compiled runtime: there are no limits for g++ {version('g++')}")
    else:
        for program, most in MOST.items():
            try:
                count = functions(bench, program, COMPILED)
                tally.verdict(count <= most * SLACK, f"compiled runtime, {program}: {count} functions, at most {most}")
            except CompileFailed as error:
                tally.verdict(False, f"compiled runtime, {program}: it does not compile:\n{error}")
    tally.last_line()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
