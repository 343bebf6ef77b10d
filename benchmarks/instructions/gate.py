#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Fails when a kernel executes more instructions than it did.

Seconds are noise where machines are shared; instructions under callgrind are the same every time. A few fixed kernels are
counted per run (twelve runs less four, by eight) and compared with counts.json, which `--record` writes.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COUNTS = HERE / "counts.json"
KERNELS = ("map", "exp", "tanh", "gelu", "sum", "argmax", "column sums", "row sums", "row argmax", "softmax", "short rows", "layer norm", "broadcast",
           "transposed", "matmul", "matmul, bias, relu", "matmul, short rows", "prepared loop", "prepared run", "session run", "run told apart", "indexing", "training step")
# Of these once more, as a program without flags for a machine has them: for vectors that its flags do not have g++ makes other
# code, and a constant may be written lane by lane.
PLAIN = ("exp", "sum", "argmax", "softmax", "layer norm")
# valgrind knows AVX2, and no later instructions.
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG")
# And for processors without AVX2, whose kernels g++ makes with -O1: a call that is left in one is many.
BASELINE = ("map", "exp", "sum", "softmax")
BUILDS = (("-march=x86-64-v3", KERNELS, "", {}), ("", PLAIN, ", chosen at the start", {}),
          ("", BASELINE, ", baseline", {"ONTO_ISA": "baseline"}))
SLACK = 0.05
FEW, MANY = 4, 12


def compiler_edition(compiler):
    """The compiler and its major version, as counts.json names it: "g++ 12"."""
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{Path(compiler).name} {version.split('.')[0]}"


def instructions(program, kernel, runs, scratch, chosen):
    """How many instructions the program executes."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", **chosen}
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}", program, kernel, str(runs)],
                          capture_output=True, text=True, env=environment, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise SystemExit(f"instructions: {kernel} did not run under callgrind:\n{done.stderr}")
    return int(found.group(1))


def main():
    """Counts, and compares or records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the counts of today into counts.json")
    options = parser.parse_args()
    compiler = os.environ.get("CXX") or "g++"
    if not shutil.which("valgrind"):
        print("skip there is no valgrind\ninstructions: 0 passed, 0 failed, 1 skipped")
        return 0
    if os.uname().machine != "x86_64":
        print("skip the counts are those of x86-64\ninstructions: 0 passed, 0 failed, 1 skipped")
        return 0
    edition = compiler_edition(compiler)
    recorded = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    if not options.record and edition not in recorded:
        print(f"skip no counts are recorded for {edition}\ninstructions: 0 passed, 0 failed, 1 skipped")
        return 0

    folder = ROOT / "build" / "instructions"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for machine, kernels, remark, chosen in BUILDS:
        program = str(folder / f"kernels{machine}")
        if program not in {built for built, *_ in rows}:
            subprocess.run([compiler, *FLAGS, *machine.split(), "-I", str(ROOT / "include"), str(HERE / "kernels.cpp"), "-o",
                            program, "-pthread"], check=True)
        rows += [(program, name, name + remark, chosen) for name in kernels]
    passed = failed = 0
    counts = {}
    for program, name, kernel, chosen in rows:
        few, many = (instructions(program, name, runs, str(folder / "callgrind.out"), chosen) for runs in (FEW, MANY))
        counts[kernel] = round((many - few) / (MANY - FEW))
        if options.record:
            print(f"{kernel}: {counts[kernel]}", flush=True)
            continue
        limit = recorded[edition][kernel]
        good = counts[kernel] <= limit * (1 + SLACK)
        passed, failed = passed + good, failed + (not good)
        note = "" if counts[kernel] >= limit * (1 - SLACK) else "; fewer than recorded: gate.py --record keeps that"
        print(f"{'ok  ' if good else 'FAIL'} {kernel}: {counts[kernel]} instructions a run, recorded {limit}{note}", flush=True)
    if options.record:
        recorded[edition] = counts
        COUNTS.write_text(json.dumps(recorded, indent=1) + "\n")
        return 0
    print(f"instructions: {passed} passed, {failed} failed, 0 skipped")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
