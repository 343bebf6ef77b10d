#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Where there is no GPU, its tests and benchmarks cannot run: both of nvcc's front ends read each, and the assembler its
# kernels, but no program is made, whose host code is half of what they cost to compile. The same tests are programs on
# emulated GPUs.
"""usage: front_ends.py"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compilers import ROOT, Memory, close, compilers, indent, parallel, without_root  # noqa: E402

# As CMake has them.
FLAGS = ["-DONTO_TEST_HARDWARE", f'-DONTO_TESTS_DIR="{ROOT / "tests"}"', "-Itests/unit",
         "-Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion", "-Werror", "all-warnings"]


def sources():
    """What tests/CMakeLists.txt makes programs of; of gpu/device.cu one is made here too, which has said that
    there is no GPU, and tests/headers.py reads gpu/operations.cu."""
    session = ["properties_12", "properties_horizontal_fusion", "values"]
    found = [p for folder in ("tests/gpu", "benchmarks/gpu") for p in sorted((ROOT / folder).glob("*.cu"))]
    found += [ROOT / "tests" / "unit" / "session" / f"{name}.cpp" for name in session]
    return [p for p in found if p.name not in ("device.cu", "operations.cu")]


def main():
    (nvcc,), _ = compilers(["nvcc"])
    memory = Memory("gpu-front-ends")
    # A quarter less of nvcc's time; what its optimizer makes of kernels is the stage sass's.
    release = re.search(r"release (\d+)", nvcc.version)
    quicker = ["--Ofast-compile=max"] if release and int(release[1]) >= 13 else []
    tests = "\0".join(p.read_text() for p in sorted((ROOT / "tests").rglob("*.hpp")))
    tests += "\0".join(p.read_text() for p in sorted((ROOT / "benchmarks" / "gpu").glob("*.hpp")))

    def check(file):
        key = memory.key(nvcc.version, file, file.read_text(), tests)
        if memory.knows(key):
            return None
        good, said = nvcc.check(file, *FLAGS, *quicker)
        if good:
            memory.passed(key)
            return None
        return f"FAIL nvcc: {without_root(str(file))} does not compile\n{indent(without_root(said), 30)}"

    files = sources()
    failures = [f for f in parallel(check, files) if f]
    memory.save()
    print("\n".join(failures), end="\n" if failures else "")
    close("GPU tests and benchmarks, compiled but for their host code", len(files) - len(failures), len(failures), 0)


if __name__ == "__main__":
    main()
