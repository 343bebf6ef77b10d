#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Small rules for every file: the licence line and what the file is for, `#pragma once`, the length of a header, the top
# level, no path of one machine, no note to self, no tab, no space at the end of a line, no name in a header that other
# libraries' headers define as a macro.
import re
import subprocess

from source import CPP, ROOT, close, files, relative, without_comments

MACHINE = re.compile(r"(?<![\w.}$])/(?:work|root|home|Users)/\w")
NOTE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACRO = re.compile(r"\b(?<!undef )(?:I|slots|signals|emit|foreach|forever)\b")  # of <complex.h> and of Qt
LICENSED = CPP | {".py", ".cmake"}
TOP = {"CMakeLists.txt", "CMakePresets.json", "include", "tests", "examples", "benchmarks", "docs", "README.md", "LICENSE",
       "run"}
LONGEST = 400


def licence(path, text):
    """The licence line is first (after `#!`), and the next line says what the file is for."""
    lines = text.splitlines()
    lines = lines[1:] if lines and lines[0].startswith("#!") else lines
    mark = "//" if path.suffix in CPP else "#"
    if not lines or lines[0] != f"{mark} SPDX-License-Identifier: BSL-1.0":
        return f"1: the first line is `{mark} SPDX-License-Identifier: BSL-1.0`"
    if path.suffix in CPP and not re.match(r"// ?\S", lines[1] if len(lines) > 1 else ""):
        return "2: the second line says what the file is for"
    return None


def tracked():
    """The names at the top level that belong to the repository."""
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=False,
                          capture_output=True, text=True)
    if done.returncode == 0:
        return {line.split("/")[0].strip('"') for line in done.stdout.splitlines()}
    return {p.name for p in ROOT.iterdir() if not p.name.startswith("build")}


def main():
    problems, checked = [], 0
    for name in sorted(tracked()):
        if name not in TOP and not name.startswith("."):
            problems.append(f"{name}: it does not belong at the top level")
    for path in files():
        checked += 1
        shown = relative(path)
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            problems.append(f"{shown}: it is not UTF-8")
            continue
        lines = text.splitlines()
        if path.suffix in LICENSED or path.name == "CMakeLists.txt":
            wrong = licence(path, text)
            if wrong:
                problems.append(f"{shown}:{wrong}")
        if shown.startswith("include/") and path.suffix in CPP:
            if not re.search(r"^#pragma once$", text, re.M):
                problems.append(f"{shown}:1: no #pragma once")
            if len(lines) > LONGEST:
                problems.append(f"{shown}:{LONGEST}: {len(lines)} lines; a header has at most {LONGEST}")
            for number, line in enumerate(without_comments(text).splitlines(), 1):
                if MACRO.search(line):
                    problems.append(f"{shown}:{number}: a name that <complex.h> or Qt defines as a macro")
        output = path.suffix in (".out", ".err", ".words", ".txt") and path.name != "CMakeLists.txt"
        for number, line in enumerate(lines, 1):
            if MACHINE.search(line):
                problems.append(f"{shown}:{number}: it names a path of one machine")
            if NOTE.search(line):
                problems.append(f"{shown}:{number}: it is unfinished by its own words")
            if not output and path.suffix != ".tsv" and "\t" in line:
                problems.append(f"{shown}:{number}: a tab")
            if not output and line != line.rstrip() and path.suffix != ".md":
                problems.append(f"{shown}:{number}: a space at the end of the line")
        if text and not text.endswith("\n") and not output:
            problems.append(f"{shown}:{len(lines)}: no newline at the end")
    close("guards", checked, problems)


if __name__ == "__main__":
    main()
