#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes one header from many: follows `#include <onto/...>` and puts each file in once, where it is first needed.
# A file that is first needed inside an `#if` is put in there with a guard, and again where it is needed for certain.
# What further headers bring beyond it is written beside it, under their own names.
"""usage: amalgamate.py INCLUDE_DIR onto/onto.hpp OUTPUT [onto/FURTHER.hpp...]"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*[<"](onto/[^>"]+)[>"]')
PRAGMA_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
SPDX = "// SPDX-License-Identifier:"


def guard_name(name):
    return "ONTO_SINGLE_" + re.sub(r"\W", "_", name).upper()


def put(root, name, seen, out, stack=(), kept=None):
    """Appends the text of `name` to `out`. `seen` holds what is certainly there already; a line that includes `kept` stays."""
    if name in stack:
        sys.exit("amalgamate: include cycle: " + " -> ".join(stack + (name,)))
    path = root / name
    if not path.is_file():
        sys.exit(f"amalgamate: {stack[-1] if stack else 'the command line'} includes <{name}>, which does not exist")
    seen.add(name)
    guard = guard_name(name)
    out += [f"#ifndef {guard}", f"#define {guard}", f"// ---- {name}"]
    depth, local, refused = 0, None, False
    for line in path.read_text().splitlines():
        if line.startswith(SPDX) or PRAGMA_ONCE.match(line):
            continue
        if re.match(r"\s*#\s*if", line):
            depth += 1
            local, refused = (set(seen), False) if depth == 1 else (local, refused)
        elif re.match(r"\s*#\s*error", line) and depth == 1:
            refused = True
        elif re.match(r"\s*#\s*(else|elif)", line) and depth == 1:
            local = seen if refused else set(seen)  # what compiles at all is in the other branch
        elif re.match(r"\s*#\s*endif", line):
            depth -= 1
        match = INCLUDE.match(line)
        if not match:
            out.append(line)
            continue
        if match[1] == kept:
            out.append(line)
            continue
        here = local if depth else seen
        if match[1] not in here:
            put(root, match[1], here, out, stack + (name,))
    out.append(f"#endif  // {guard}")


def write(path, what, lines):
    head = [SPDX + " BSL-1.0", f"// {what}, generated from the headers under include/onto: change those, not this.",
            "#pragma once"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(head + lines) + "\n")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    root, name, output = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    out, seen = [], set()
    put(root, name, seen, out)
    write(output, "onto in one file", out)
    for further in sys.argv[4:]:
        more = []
        put(root, further, set(seen), more, kept=name)
        write(output.parent / pathlib.Path(further).name, f"What <{further}> brings beside <{name}>", more)


if __name__ == "__main__":
    main()
