# SPDX-License-Identifier: BSL-1.0
# What the lints share: the files of the repository, C++ without its comments, and the closing line.
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CPP = {".hpp", ".cpp", ".cu", ".cuh", ".h"}
TEXT = CPP | {".py", ".md", ".txt", ".json", ".cmake", ".in", ".out", ".err", ".words", ".tsv", ""}


def files(*suffixes):
    """The text files of the repository with one of `suffixes`, without what a build writes."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith("build") and f not in (".git", ".cache", "__pycache__"))
        if pathlib.Path(folder).name in ("corpus", "data"):
            folders[:] = []
            continue
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path.suffix in (suffixes or TEXT) and path.is_file():
                yield path


def relative(path):
    return path.relative_to(ROOT).as_posix()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def without_comments(text, strings=True):
    """C++ with its comments (and its string literals) blanked out; lines keep their numbers."""

    def blank(match):
        piece = match[0]
        if piece.startswith("/") or strings:
            return re.sub(r"[^\n]", " ", piece)
        return piece

    # A digit separator (1'000) is not the start of a character.
    return TOKEN.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text))


def close(name, checked, problems, skipped=0):
    for problem in problems:
        print(problem)
    # One test per rule and file; a file counts once however much is wrong with it.
    wrong = len({p.split(":")[0] for p in problems})
    print(f"{name}: {max(checked - wrong, 0)} passed, {wrong} failed, {skipped} skipped", flush=True)
    sys.exit(1 if problems else 0)
