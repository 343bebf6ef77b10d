#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Compiles, without keeping anything: every header alone, and the static tests, on every compiler that is there, with warnings
# as errors. Headers of backend/cuda are for nvcc only. What users of the compiled runtime include is compiled for them, too.
# Whether a header includes what it needs is the same question to g++ and clang++, and g++ is asked it of each. clang++'s own
# warnings and errors are seen wherever a header is included, so it compiles the headers that no other includes, and what it does
# not come to in them. The programs of `./run bench training`, which no stage builds, are read by g++.
"""usage: headers.py [COMPILER...]"""
import re
import sys

from compilers import INCLUDE, ROOT, WARNINGS, Memory, close, compilers, indent, parallel, without_root

RUNTIME = "onto/compiled.hpp"
COMPILED = " -DONTO_COMPILED"
# What names MPI: tests/cluster/check.py compiles it.
MPI = ("onto/cluster.hpp", "onto/backend/cluster/mpi.hpp", "onto/backend/cluster/server.hpp")


def outermost(compiler, headers):
    """Of the headers those that no other includes, and those that the compiler does not come to in them."""
    included = {name for h in headers for name in re.findall(r"^\s*#\s*include <(onto/[^>]+)>", (INCLUDE / h).read_text(), re.M)}
    outer = [h for h in headers if h not in included]

    def found(header):
        good, said = compiler.check(INCLUDE / header, "-M")
        return re.findall(r"\S*/include/(onto/\S+)", said) if good else []

    reached = {name for names in parallel(found, outer) for name in names}
    return [h for h in headers if h in outer or h not in reached]


def main():
    wanted = sys.argv[1:] or ["g++", "clang++"]
    found, missing = compilers(wanted)
    memory = Memory("headers-" + "-".join(wanted))
    headers = sorted(h.relative_to(INCLUDE).as_posix() for h in INCLUDE.rglob("*.hpp"))
    statics = sorted(t.relative_to(ROOT).as_posix() for t in ROOT.glob("tests/static/**/*.cpp"))
    tasks = []
    for compiler in found:
        if compiler.name == "nvcc":
            # The CMake tree for nvcc compiles the rest, of which programs are made.
            tasks += [(compiler, h) for h in headers if h.startswith("onto/backend/cuda/") or h in ("onto/onto.hpp", "onto/convolution.hpp", "onto/einsum.hpp", "onto/indexing.hpp", "onto/scan.hpp", "onto/sort.hpp")]
            # Every operation, without the flags that CMake adds.
            tasks += [(compiler, "tests/gpu/operations.cu"), *((compiler, t) for t in statics)]
        else:
            alone = [h for h in headers if not h.startswith("onto/backend/cuda/") and h not in (RUNTIME, *MPI)]
            tasks += [(compiler, h) for h in (alone if compiler.name == "g++" else outermost(compiler, alone))]
            if compiler.name == "g++":
                tasks += [(compiler, p.relative_to(ROOT).as_posix()) for p in sorted(ROOT.glob("benchmarks/training/*.cpp")) if p.stem != "libtorch"]
            tasks += [(compiler, h + COMPILED) for h in ("onto/onto.hpp", "onto/scan.hpp", "onto/sort.hpp", RUNTIME)]
            if compiler.name != "g++":  # CMake compiles them with g++
                tasks += [(compiler, t) for t in statics]

    scratch = ROOT / "build" / "headers" / "-".join(wanted)  # two of these may go at once
    scratch.mkdir(parents=True, exist_ok=True)

    def check(task):
        compiler, name = task
        header = name.startswith("onto/")
        name, *flags = name.split()
        source = (INCLUDE if header else ROOT) / name
        key = memory.key(compiler.version, name, *flags, source.read_text())
        if memory.knows(key):
            return None
        file = source
        if header:
            file = scratch / (name.replace("/", "_") + "".join(flags) + ".cpp")
            file.write_text(f"#include <{name}>\n#include <{name}>\n")
        warnings = ["-Xcompiler=-Wall,-Wextra", "-Werror", "all-warnings", "-Itests", "-Itests/unit"] if compiler.name == "nvcc" else WARNINGS
        good, said = compiler.check(file, *warnings, *flags)
        if good:
            memory.passed(key)
            return None
        return f"FAIL {compiler.name}: {name} does not compile alone\n{indent(without_root(said), 15)}"

    failures = [f for f in parallel(check, tasks) if f]
    memory.save()
    print("\n".join(failures), end="\n" if failures else "")
    for name in missing:
        print(f"skipped: {name} is not installed")
    close("headers alone and static tests, " + ", ".join(c.name for c in found), len(tasks) - len(failures),
          len(failures), len(missing))


if __name__ == "__main__":
    main()
