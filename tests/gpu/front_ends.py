#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Where there is no GPU, its tests and benchmarks cannot run: nvcc's front ends for host and device read them, a few in one
# file, and no code is made, which is most of what they cost to compile. The same tests are programs on emulated GPUs.
"""usage: front_ends.py"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compilers import ROOT, Memory, close, compilers, first_error, indent, joined, parallel, without_root  # noqa: E402

TOGETHER = 6  # programs in one file: a front end takes a gigabyte for some of them
# As CMake has them.
FLAGS = ["-DONTO_TEST_HARDWARE", f'-DONTO_TESTS_DIR="{ROOT / "tests"}"', "-Itests/unit",
         "-Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion", "-Werror", "all-warnings"]


def sources():
    """What tests/CMakeLists.txt makes programs of; tests/headers.py reads gpu/operations.cu."""
    session = ["properties_12", "properties_horizontal_fusion", "values"]
    found = [p for folder in ("tests/gpu", "benchmarks/gpu") for p in sorted((ROOT / folder).glob("*.cu"))]
    found += [ROOT / "tests" / "unit" / "session" / f"{name}.cpp" for name in session]
    return [p for p in found if p.name != "operations.cu"]


def headers_of(texts):
    """The lines with which programs include headers of the tests' own, Catch2's first: others use its words."""
    lines = dict.fromkeys(line for text in texts for line in re.findall(r'^#include "[^"]+"', text, re.M))
    return sorted(lines, key=lambda line: "catch.hpp" not in line)


def main():
    (nvcc,), _ = compilers(["nvcc"])
    memory = Memory("gpu-front-ends")
    tests = "\0".join(p.read_text() for p in sorted((ROOT / "tests").rglob("*.hpp")))
    tests += "\0".join(p.read_text() for p in sorted((ROOT / "benchmarks" / "gpu").glob("*.hpp")))

    def key_of(file):
        return memory.key(nvcc.version, file, file.read_text(), tests)

    def check(file):
        if memory.knows(key_of(file)):
            return None
        good, said = nvcc.check(file, *FLAGS)
        if good:
            memory.passed(key_of(file))
            return None
        return f"FAIL nvcc: {without_root(str(file))} does not compile\n{indent(without_root(said), 30)}"

    def check_together(number, some):
        """What compiles in one file is known; of the others nothing is."""
        text = joined(ROOT / "build" / "gpu" / f"together_{number}.cu", some, headers_of([file.read_text() for file in some]))
        good, said = nvcc.check(text, *FLAGS, f"-I{some[0].parent}")
        if not good:
            print(f"slow: nvcc does not read {len(some)} programs in one file: {first_error(said)}", flush=True)
        for file in some if good else []:
            memory.passed(key_of(file))

    files = sources()
    left = [file for file in files if not memory.knows(key_of(file))]
    folders = [[file for file in left if file.parent == folder] for folder in dict.fromkeys(file.parent for file in left)]
    parts = [some[at:at + TOGETHER] for some in folders for at in range(0, len(some), TOGETHER)]
    parallel(lambda part: check_together(*part), list(enumerate(parts)))
    failures = [f for f in parallel(check, files) if f]
    memory.save()
    print("\n".join(failures), end="\n" if failures else "")
    close("GPU tests and benchmarks, read by nvcc's front ends", len(files) - len(failures), len(failures), 0)


if __name__ == "__main__":
    main()
