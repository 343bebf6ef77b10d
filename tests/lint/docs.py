#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# The documents are in step with the code: each block of C++, CUDA or CMake is the text of a file that is built and run, links
# and their anchors lead somewhere, each tag of an error message has its place in docs/errors.md, each of NumPy's words is found in a
# document, and the changelog knows the version. `--fix` writes the blocks anew.
"""A block is taken from a file by a comment on the line above it:

  <!-- from: examples/01_first.cpp -->           the whole file, without its licence line
  <!-- from: examples/01_first.cpp#scope -->     the lines between `// [scope]` and the next `// [scope]` or `// [/scope]`
  <!-- from: examples/01_first.out -->           what it prints

The rows of a table, after its head, are those of a golden file that a test writes, by a comment on the line above the table:

  <!-- rows: tests/golden/operations/words.txt -->
"""
import functools
import re
import sys
import textwrap

from source import CPP, ROOT, close, files, relative, without_comments

sys.path.insert(0, str(ROOT / "docs" / "site"))
from anchors import anchors  # noqa: E402

FROM = re.compile(r"^\s*<!--\s*from:\s*([^\s#]+)(?:#([\w-]+))?\s*-->\s*$")
ROWS = re.compile(r"^\s*<!--\s*rows:\s*([^\s#]+)\s*-->\s*$")
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(\w[\w+-]*)?.*$")
MARK = re.compile(r"^\s*(?://|#)\s*\[/?([\w-]+)\]\s*$")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
TAG = re.compile(r"\[(onto\.[a-z_.]+)\]")
ROW_OF_WORDS = re.compile(r"^\|([^|]*)\|", re.M)
INLINE = re.compile(r"`([^`\n]+)`")
DECLARED = re.compile(r"\bauto (\w+)\(")
ERRORS_MOST = 150_000  # bytes of docs/errors.md: compilers' words grow without bound where nobody looks
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


def rows(lines, k, fix):
    """What is wrong with the rows of the table below line `k`, or None, and its lines; with `fix`, the ones it should have."""
    path = ROOT / ROWS.match(lines[k])[1]
    end = k + 1
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    table = lines[k + 1:end]
    if not path.is_file() or len(table) < 2:
        return f"{relative(path)} does not exist, or no table follows", table
    wanted = path.read_text().splitlines()
    if fix:
        return None, table[:2] + wanted
    wrong = table[2:] != wanted
    return f"the rows are not those of {relative(path)}; ./run format takes them over" if wrong else None, table


@functools.cache
def anchors_of(page):
    """The anchors of a document, read once."""
    return anchors(page.read_text())


def check(document, fix):
    """The problems of one document; with `fix`, its blocks are written anew."""
    shown, problems, out = relative(document), [], []
    lines, k = document.read_text().splitlines(), 0
    prose = []
    while k < len(lines):
        fence = FENCE.match(lines[k])
        if ROWS.match(lines[k]):
            wrong, table = rows(lines, k, fix)
            if wrong:
                problems.append(f"{shown}:{k + 1}: {wrong}")
            out += [lines[k], *table]
            k += 1
            while k < len(lines) and lines[k].startswith("|"):
                prose.append((k + 1, lines[k]))
                k += 1
            continue
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
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            led_to = document.parent / path if path else document
            if not led_to.exists():
                problems.append(f"{shown}:{number}: the link {target} leads nowhere")
            elif anchor and led_to.suffix == ".md" and anchor not in anchors_of(led_to):
                problems.append(f"{shown}:{number}: the link {target} leads to a page that has no such heading")
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
    if len(text.encode()) > ERRORS_MOST:
        problems.append(f"docs/errors.md: it has {len(text.encode())} bytes, {ERRORS_MOST} at most; quote a shorter message")
    return problems


def words():
    """Each of NumPy's and PyTorch's words is named in a document that is searched for it, and what limits.md says is missing is
    missing."""
    pages = {name: (ROOT / "docs" / name).read_text() for name in ("limits.md", "numpy.md", "reference/operations.md")}
    more = {name: (ROOT / "docs" / name).read_text() for name in ("reference/training.md", "reference/convolutions.md")}
    problems = []
    for library, searched in (("numpy", pages), ("torch", pages | more)):
        named = set(re.findall(r"\w+", " ".join(INLINE.findall("\n".join(searched.values())))))
        lines = (ROOT / f"tests/conformance/{library}_words.txt").read_text().splitlines()
        problems += [f"docs/limits.md: {library}'s {word} is in none of {', '.join(searched)}; say what is written instead"
                     for line in lines if not line.startswith("#") for word in line.split() if word not in named]
    _, mark, table = pages["limits.md"].partition("<!-- words that are missing -->\n")
    if not mark:
        problems.append("docs/limits.md: there is no table below `<!-- words that are missing -->`")
    missing = set(re.findall(r"\w+", " ".join(INLINE.findall(" ".join(ROW_OF_WORDS.findall(table.split("\n\n")[0]))))))
    there = {name: relative(path) for folder in ("ops", "graph", "session", "tensor") for path in sorted((ROOT / "include/onto" / folder).rglob("*.hpp"))
             for name in DECLARED.findall(without_comments(path.read_text()))}
    problems += [f"docs/limits.md: {word} is said to be missing, and {there[word]} has it" for word in sorted(missing & set(there))]
    return problems


def changelog():
    """The version of the library has its section in docs/CHANGELOG.md, and its sections are those of Keep a Changelog."""
    config = (ROOT / "include/onto/core/config.hpp").read_text()
    version = ".".join(re.findall(r"#define ONTO_VERSION_[A-Z]+ (\d+)", config))
    text = (ROOT / "docs/CHANGELOG.md").read_text()
    problems = []
    heads = re.findall(r"^## (.*)$", text, re.M)
    if not any(re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", head) for head in heads):
        problems.append(f"docs/CHANGELOG.md: version {version} has no section `## [{version}] - YYYY-MM-DD`")
    for head in heads:
        if not re.fullmatch(r"\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head):
            problems.append(f"docs/CHANGELOG.md: the section `{head}` is neither [Unreleased] nor a version with its date")
    for head in re.findall(r"^### (.*)$", text, re.M):
        if head not in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"):
            problems.append(f"docs/CHANGELOG.md: `{head}` is none of Keep a Changelog's sections")
    return problems


def main():
    problems, checked = tags() + words() + changelog(), 3
    for document in files(".md"):
        checked += 1
        problems += check(document, "--fix" in sys.argv)
    close("documents", checked, problems)


if __name__ == "__main__":
    main()
