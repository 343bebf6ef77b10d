#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Runs test programs (Catch2, fuzz drivers) and adds up what they say.
"""usage: programs.py NAME FOLDER [--filter EXPRESSION] [--fuzz] [--setarch] [--serial]

Runs every program that FOLDER/programs.txt names, several at a time (--serial: one after the other, where they share a
device). A Catch2 program's test cases are counted from its closing line; a program that ends with
status 77 has printed `skipped: reason`, and its test cases count as skipped; a fuzz driver counts as one test."""
import os
import pathlib
import platform
import re
import subprocess
import sys

from compilers import ROOT, close, indent, parallel

ALL_PASSED = re.compile(r"All tests passed \(.*?(\d+) test cases?\)")
TEST_CASES = re.compile(r"^test cases: +(\d+)(.*)$", re.M)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def execute(command, folder):
    environment = {"ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1", "UBSAN_OPTIONS": "print_stacktrace=1",
                   "TSAN_OPTIONS": "halt_on_error=0 second_deadlock_stack=1", **os.environ}
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd=folder,
                              env=environment, timeout=900)
    except subprocess.TimeoutExpired as late:
        return 124, f"{late.stdout or ''}\nit did not end within 15 minutes"
    return done.returncode, COLOUR.sub("", done.stdout + done.stderr)


def listed(program):
    """How many test cases a Catch2 program has, from its list (the words differ between versions 2 and 3)."""
    for words in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        names = [line for line in done.stdout.splitlines() if line.strip()]
        if names and "Unrecognised" not in done.stdout + done.stderr:
            return len(names)
    return 1


def count(status, said):
    """(passed, failed, skipped) of a Catch2 program."""
    match = ALL_PASSED.search(said)
    if match and status == 0:
        return int(match[1]), 0, 0
    match = TEST_CASES.search(said)
    if match:
        numbers = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", match[2])}
        failed = numbers.get("failed", 0)
        if status != 0 and failed == 0 and not (status == 4 and numbers.get("skipped")):
            failed = 1
        return numbers.get("passed", 0), failed, numbers.get("skipped", 0)
    if "No tests ran" in said or "No test cases matched" in said:
        return 0, 0, 0
    return (0, 1, 0)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    expression, fuzz = option("--filter"), "--fuzz" in sys.argv
    prefix = ["setarch", platform.machine(), "-R"] if "--setarch" in sys.argv else []
    names = folder / "programs.txt"
    programs = [folder / line for line in names.read_text().split()] if names.is_file() else []
    serial = "--serial" in sys.argv

    def run(program):
        """(passed, failed, skipped) of one program, and what is printed of it."""
        if not program.exists():
            return (0, 1, 0), f"FAIL {program.name}: it was not built"
        program = program.resolve()
        scratch = ROOT / "build" / "scratch" / name.split(",")[0].replace(" ", "-") / program.name
        scratch.mkdir(parents=True, exist_ok=True)
        lines = []
        if fuzz:
            status, said = execute([program], scratch)
            counts = (1, 0, 0) if status == 0 else (0, 1, 0)
            last = said.rstrip().splitlines()[-1:] or [""]
            lines.append(f"{program.name}: {last[0] if status == 0 else f'status {status}'}")
        else:
            status, said = execute([*prefix, program, *([expression] if expression else [])], scratch)
            reasons = re.findall(r"^skipped: .*$", said, re.M)
            if status == 77:
                counts = 0, 0, listed(program)
                lines.append(f"{program.name}: {reasons[0] if reasons else 'skipped'}")
            else:
                counts = count(status, said)
                if any(counts):
                    lines.append("{}: {} passed, {} failed, {} skipped".format(program.name, *counts))
                lines += ["  " + line for line in reasons]
        if counts[1]:
            lines.append(f"FAIL {program.name}, status {status}\n{indent(said, 120)}")
        return counts, "\n".join(lines)

    passed = failed = skipped = 0
    for (p, f, s), text in map(run, programs) if serial else parallel(run, programs):
        passed, failed, skipped = passed + p, failed + f, skipped + s
        if text:
            print(text, flush=True)
    if not programs:
        print(f"there are no programs in {sys.argv[2]}")
    close(name, passed, failed, skipped)


if __name__ == "__main__":
    main()
