#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Runs every example and compares what it prints with the file beside it.
"""FOLDER holds the programs, and LIST, the names of those that are run, if not all. examples/NN_name.cpp is the program `name`; examples/NN_name.out is what it prints on standard
output and, where there is one, NN_name.err on standard error. On a machine with a GPU, NN_name.gpu.out is preferred where
it exists and the program was compiled by nvcc. In these files a line `...` stands for any lines, and a line that begins with `~` is a regular
expression for one line. In the head of the source: `// RUN: arguments`, `// EXIT: status`, `// NEEDS: gpu`, `// WITHOUT: nvcc`.
ONTO_UPDATE_GOLDEN=1 writes files that have neither `...` nor `~`."""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from compilers import ROOT, close, indent, relative

EXAMPLES = ROOT / "examples"


def matches(expected, got):
    """Whether the lines `got` are what the lines `expected` say; else the index of the first line that is not."""
    furthest = 0

    def walk(e, g):
        nonlocal furthest
        furthest = max(furthest, g)
        while e < len(expected):
            if expected[e] == "...":
                return any(walk(e + 1, k) for k in range(g, len(got) + 1))
            if g == len(got):
                return False
            line = expected[e]
            if not (re.fullmatch(line[1:], got[g]) if line.startswith("~") else line == got[g]):
                return False
            e, g = e + 1, g + 1
            furthest = max(furthest, g)
        return g == len(got)

    return None if walk(0, 0) else furthest


def compare(path, text, what):
    """The reason `text` is not what the file says, or None."""
    got = text.splitlines()
    expected = path.read_text().splitlines() if path.is_file() else None
    if os.environ.get("ONTO_UPDATE_GOLDEN") == "1" and matches(expected or [], got) is not None:
        if expected and any(line == "..." or line.startswith("~") for line in expected):
            return f"{relative(path)} has patterns; change it by hand"
        path.write_text(text)
        return None
    if expected is None:
        return f"there is no {relative(path)}; ONTO_UPDATE_GOLDEN=1 ./run test examples writes it"
    line = matches(expected, got)
    if line is None:
        return None
    there = got[line] if line < len(got) else "(it ends)"
    return f"{what} differs from {relative(path)} at line {line + 1}: {there}\n{indent(text)}"


def has_gpu():
    tool = shutil.which("nvidia-smi")
    return bool(tool) and "GPU " in subprocess.run([tool, "-L"], capture_output=True, text=True, check=False).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--name", default="examples", metavar="STAGE")
    parser.add_argument("--of", metavar="LIST")
    parser.add_argument("parts", nargs="*", metavar="NAME_PART")
    given = parser.parse_intermixed_args()
    folder, name, of, parts = given.folder.resolve(), given.name, given.of, given.parts
    listed = (folder / of).read_text().split() if of else None
    with_gpu = "nvcc" in name and has_gpu()
    passed = failed = skipped = 0
    for source in sorted([*EXAMPLES.glob("*.cpp"), *EXAMPLES.glob("*/*.cpp")]):
        if source.parent.name == "cluster":  # tests/cluster/check.py runs them
            continue
        if parts and not any(part in source.name for part in parts):
            continue
        program = folder / re.sub(r"^\d+_", "", source.stem)
        if listed is not None and program.name not in listed:
            continue
        head = source.read_text()
        run = re.search(r"^// RUN:(.*)$", head, re.M)
        status = re.search(r"^// EXIT: *(\d+)", head, re.M)
        if re.search(r"^// NEEDS: *gpu", head, re.M) and not with_gpu:
            print(f"skipped: {source.name} needs a GPU")
            skipped += 1
            continue
        if re.search(r"^// WITHOUT: *nvcc", head, re.M) and "nvcc" in name:
            print(f"skipped: {source.name} is not compiled by nvcc")
            skipped += 1
            continue
        if not program.exists():
            print(f"FAIL {source.name}: it was not built")
            failed += 1
            continue
        scratch = ROOT / "build" / "scratch" / name.replace(" ", "-") / source.stem
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        try:
            done = subprocess.run([program, *shlex.split(run[1] if run else "")], capture_output=True, text=True,
                                  errors="replace", check=False, cwd=scratch, timeout=300, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            print(f"FAIL {source.name}: it did not end within 5 minutes")
            failed += 1
            continue
        output = source.with_suffix(".gpu.out")
        output = output if with_gpu and output.is_file() else source.with_suffix(".out")
        reasons = []
        if done.returncode != (int(status[1]) if status else 0):
            reasons.append(f"it ended with status {done.returncode}\n{indent(done.stdout + done.stderr)}")
        else:
            reasons.append(compare(output, done.stdout, "standard output"))
            if source.with_suffix(".err").is_file():
                reasons.append(compare(source.with_suffix(".err"), done.stderr, "standard error"))
        reasons = [r for r in reasons if r]
        for reason in reasons:
            print(f"FAIL {source.name}: {reason}")
        passed, failed = passed + (not reasons), failed + bool(reasons)
    close(name, passed, failed, skipped)


if __name__ == "__main__":
    main()
