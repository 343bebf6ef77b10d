#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# The documents are in step with the code: each block of C++, CUDA or CMake is the text of a file that is built and run, links
# lead somewhere, and each tag of an error message has its place in docs/errors.md. `--fix` writes the blocks anew.
"""A block is taken from a file by a comment on the line above it:

  <!-- from: examples/01_first.cpp -->           the whole file, without its licence line
  <!-- from: examples/01_first.cpp#scope -->     the lines between `// [scope]` and the next `// [scope]` or `// [/scope]`
  <!-- from: examples/01_first.out -->           what it prints
"""
import re
import sys
import textwrap

from source import CPP, ROOT, close, files, relative

FROM = re.compile(r"^\s*<!--\s*from:\s*([^\s#]+)(?:#([\w-]+))?\s*-->\s*$")
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(\w[\w+-]*)?.*$")
MARK = re.compile(r"^\s*(?://|#)\s*\[/?([\w-]+)\]\s*$")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
TAG = re.compile(r"\[(onto\.[a-z_.]+)\]")
CODE = {"cpp", "c++", "cuda", "cu", "cmake"}


def quoted(path, section):
    """The lines of a file, or of a section of it, as a document shows them; or the reason there are none."""
    if not path.is_file():
        return None, f"{relative(path)} does not exist"
    lines = path.read_text().splitlines()
    if section is None:
        lines = lines[1:] if lines and "SPDX-License-Identifier" in lines[0] else lines
        return [line for line in lines if not MARK.match(line)], None
    marks = [k for k, line in enumerate(lines) if (m := MARK.match(line)) and m[1] == section]
    if len(marks) < 2:
        return None, f"{relative(path)} has no lines between two marks [{section}]"
    inner = [line for line in lines[marks[0] + 1:marks[1]] if not MARK.match(line)]
    return textwrap.dedent("\n".join(inner)).strip("\n").splitlines(), None


def check(document, fix):
    """The problems of one document; with `fix`, its blocks are written anew."""
    shown, problems, out = relative(document), [], []
    lines, k = document.read_text().splitlines(), 0
    prose = []
    while k < len(lines):
        fence = FENCE.match(lines[k])
        if not fence:
            prose.append((k + 1, lines[k]))
            out.append(lines[k])
            k += 1
            continue
        end = k + 1
        while end < len(lines) and not re.fullmatch(rf"\s*{fence[2][0]}{{{len(fence[2])},}}\s*", lines[end]):
            end += 1
        block = lines[k + 1:end]
        source = FROM.match(lines[k - 1]) if k else None
        if source:
            wanted, wrong = quoted(ROOT / source[1], source[2])
            if wrong:
                problems.append(f"{shown}:{k}: {wrong}")
            elif fix:
                block = wanted
            elif block != wanted:
                first = next((i for i, (a, b) in enumerate(zip(block, wanted)) if a != b), min(len(block), len(wanted)))
                problems.append(f"{shown}:{k + 2 + first}: the block is not what {source[1]} says; ./run format takes it over")
        elif (fence[3] or "").lower() in CODE:
            problems.append(f"{shown}:{k + 1}: a block of code without `<!-- from: file -->` on the line above")
        out += [lines[k], *block, *lines[end:end + 1]]
        k = end + 1
    for number, line in prose:
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            path = target.split("#")[0]
            if path and not re.match(r"[a-z]+:", path) and not (document.parent / path).exists():
                problems.append(f"{shown}:{number}: the link {target} leads nowhere")
        if FROM.match(line) and (number >= len(lines) or not FENCE.match(lines[number])):
            problems.append(f"{shown}:{number}: no block follows `<!-- from: ... -->`")
    if fix and out != lines:
        document.write_text("\n".join(out) + "\n")
    return problems


def tags():
    """Each tag of an error message stands in docs/errors.md, and nothing else stands there."""
    used = {}
    for path in files(*CPP):
        if relative(path).startswith("include/"):
            for tag in TAG.findall(path.read_text()):
                used.setdefault(tag, relative(path))
    page = ROOT / "docs/errors.md"
    text = page.read_text() if page.is_file() else ""
    problems = [f"docs/errors.md: [{tag}] of {where} has no place in it" for tag, where in sorted(used.items())
                if f"[{tag}]" not in text and f'"{tag}"' not in text]
    problems += [f"docs/errors.md: no message carries [{tag}]" for tag in sorted(set(TAG.findall(text)) - set(used))]
    return problems


def main():
    problems, checked = tags(), 1
    for document in files(".md"):
        checked += 1
        problems += check(document, "--fix" in sys.argv)
    close("documents", checked, problems)


if __name__ == "__main__":
    main()
