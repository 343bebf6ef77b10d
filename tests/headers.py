#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Compiles, without keeping anything: every header alone, and the static tests, on every compiler that is there, with warnings
# as errors. What users of the compiled runtime include is compiled for them, too. Headers of backend/cuda are asked of g++ with
# the emulator's declarations; nvcc, which takes five times as long, compiles those that no other includes, and three dozen
# static tests in one file.
# Whether a header includes what it needs is the same question to g++ and clang++, and g++ is asked it of each. clang++'s own
# warnings and errors are seen wherever a header is included, so it compiles the headers that no other includes, what it does not
# come to in them, and the static tests a dozen in one file. The programs of `./run bench training`, which no stage builds, are
# read by g++.
"""usage: headers.py [COMPILER...]"""
import re
import sys

from compilers import INCLUDE, ROOT, TOGETHER, TOGETHER_BY_NVCC, WARNINGS, Memory, close, compilers, in_parts, indent, joined, joins, parallel, without_root

RUNTIME = "onto/compiled.hpp"
COMPILED = " -DONTO_COMPILED"
EMULATED = " -DONTO_CUDA_EMULATION -Itests/cuda_emulation/include -Itests/cuda_emulation -isystem tests/cuda_emulation/declarations"
NVCC_WARNINGS = ["-Xcompiler=-Wall,-Wextra", "-Werror", "all-warnings", "-Itests", "-Itests/unit"]
# What names MPI: tests/cluster/check.py compiles it.
MPI = ("onto/cluster.hpp", "onto/backend/cluster/mpi.hpp", "onto/backend/cluster/server.hpp")


def not_included(headers):
    """Of the headers those that no other includes."""
    included = {name for h in headers for name in re.findall(r"^\s*#\s*include <(onto/[^>]+)>", (INCLUDE / h).read_text(), re.M)}
    return [h for h in headers if h not in included]


def outermost(compiler, headers):
    """Of the headers those that no other includes, and those that the compiler does not come to in them."""
    outer = not_included(headers)

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
    cuda = [h for h in headers if h.startswith("onto/backend/cuda/")]
    statics = sorted(t.relative_to(ROOT).as_posix() for t in ROOT.glob("tests/static/**/*.cpp"))
    tasks = []
    for compiler in found:
        if compiler.name == "nvcc":
            # The CMake tree for nvcc compiles the rest, of which programs are made.
            tasks += [(compiler, h) for h in not_included(cuda) + ["onto/onto.hpp", "onto/convolution.hpp", "onto/einsum.hpp", "onto/indexing.hpp", "onto/scan.hpp", "onto/sort.hpp"]]
            # Every operation, without the flags that CMake adds.
            tasks += [(compiler, "tests/gpu/operations.cu"), *((compiler, t) for t in statics)]
        else:
            alone = [h for h in headers if h not in (RUNTIME, *MPI, *cuda)]
            tasks += [(compiler, h) for h in (alone if compiler.name == "g++" else outermost(compiler, alone))]
            if compiler.name == "g++":
                tasks += [(compiler, h + EMULATED) for h in cuda]
                # As nvcc reads them for devices: without what only definitions need.
                tasks += [(compiler, h + COMPILED) for h in alone if h.startswith("onto/backend/cpu/")]
                tasks += [(compiler, p.relative_to(ROOT).as_posix()) for p in sorted(ROOT.glob("benchmarks/training/*.cpp")) if p.stem != "libtorch"]
            tasks += [(compiler, h + COMPILED) for h in ("onto/onto.hpp", "onto/scan.hpp", "onto/sort.hpp", RUNTIME)]
            if compiler.name != "g++":  # CMake compiles them with g++
                tasks += [(compiler, t) for t in statics]

    scratch = ROOT / "build" / "headers" / "-".join(wanted)  # two of these may go at once
    scratch.mkdir(parents=True, exist_ok=True)

    def key_of(compiler, name, *flags):
        return memory.key(compiler.version, name, *flags, ((INCLUDE if name.startswith("onto/") else ROOT) / name).read_text())

    together = set()  # what was seen to compile with others

    def check(task):
        if task in together:
            return None
        compiler, name = task
        header = name.startswith("onto/")
        name, *flags = name.split()
        source = (INCLUDE if header else ROOT) / name
        key = key_of(compiler, name, *flags)
        if memory.knows(key):
            return None
        file = source
        if header:
            file = scratch / ("_".join([name, *flags]).replace("/", "_") + ".cpp")
            file.write_text(f"#include <{name}>\n#include <{name}>\n")
        warnings = NVCC_WARNINGS if compiler.name == "nvcc" else WARNINGS
        good, said = compiler.check(file, *warnings, *flags)
        if good:
            memory.passed(key)
            return None
        return f"FAIL {compiler.name}: {name} does not compile alone\n{indent(without_root(said), 15)}"

    def check_together(number, some):
        """Of static tests those that are seen to compile in one file; of the others nothing is known."""
        compiler = some[0][0]
        nvcc = compiler.name == "nvcc"
        file = joined(scratch / f"static_{number}{'.cu' if nvcc else '.cpp'}", [ROOT / name for _, name in some])
        if compiler.check(file, *(NVCC_WARNINGS if nvcc else WARNINGS))[0]:
            together.update(some)
            for task in some:
                memory.passed(key_of(*task))

    joining = [t for t in tasks if t[1] in statics and joins((ROOT / t[1]).read_text()) and not memory.knows(key_of(*t))]
    parts = []
    for compiler in found:
        parts += in_parts([t for t in joining if t[0] is compiler], TOGETHER_BY_NVCC if compiler.name == "nvcc" else TOGETHER)
    parallel(lambda part: check_together(*part), list(enumerate(parts)))
    failures = [f for f in parallel(check, tasks) if f]
    memory.save()
    print("\n".join(failures), end="\n" if failures else "")
    for name in missing:
        print(f"skipped: {name} is not installed")
    close("headers alone and static tests, " + ", ".join(c.name for c in found), len(tasks) - len(failures),
          len(failures), len(missing))


if __name__ == "__main__":
    main()
