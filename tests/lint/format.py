#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# The code is as clang-format 14 lays it out. `--fix` lays it out.
import os
import re
import shutil
import subprocess
import sys

from source import CPP, close, files, relative

WANTED = 14  # other versions lay out some lines differently


def main():
    tool, version = None, None
    for name in (os.environ.get("CLANG_FORMAT"), f"clang-format-{WANTED}", "clang-format"):
        tool = name and shutil.which(name)
        if tool:
            said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
            version = int((re.search(r"version (\d+)", said) or [0, "0"])[1])
            break
    paths = list(files(*CPP))
    if version != WANTED:
        print(f"skipped: clang-format {WANTED} is not installed" + (f", {version} is" if version else ""))
        close("format", 0, [], 1)
    if "--fix" in sys.argv:
        subprocess.run([tool, "-i", *map(str, paths)], check=True)
    problems = []
    # A file at a time only where something is wrong: one call for all is much quicker.
    said = subprocess.run([tool, "--dry-run", "-Werror", *map(str, paths)], capture_output=True, text=True, check=False)
    if said.returncode:
        for path in paths:
            match = re.search(re.escape(str(path)) + r":(\d+):", said.stderr)
            if match:
                problems.append(f"{relative(path)}:{match[1]}: not laid out by clang-format; ./run format does it")
        problems = problems or [f"clang-format: {said.stderr.strip()[:500]}"]
    close("format", len(paths), problems)


if __name__ == "__main__":
    main()
