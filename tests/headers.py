#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Compiles, without keeping anything: every header alone, and the static tests, on every compiler that is there, with warnings
# as errors. What users of the compiled runtime include is compiled for them, too. Headers of backend/cuda are asked of g++ with
# the emulator's declarations; nvcc, which takes five times as long, compiles those that no other includes, and three dozen
# static tests in one file.
# Whether a header includes what it needs is the same question to g++ and clang++, and g++ is asked it of each. clang++'s own
# warnings and errors are seen wherever a header is included, so it compiles the headers that no other includes, and what it does not
# come to in them. Static tests stand a dozen in one file. The programs of `./run bench training`, which no stage builds, are
# read by g++.
"""usage: headers.py [COMPILER...]"""
import re
import sys

from compilers import INCLUDE, ROOT, TOGETHER, TOGETHER_BY_NVCC, WARNINGS, Memory, close, compilers, first_error, in_parts, included_by, indent, joined, joins, parallel, says_half, without_root

RUNTIME = "onto/compiled.hpp"
COMPILED = " -DONTO_COMPILED"
EMULATED = " -DONTO_CUDA_EMULATION -Itests/cuda_emulation/include -Itests/cuda_emulation -isystem tests/cuda_emulation/declarations"
NVCC_WARNINGS = ["-Xcompiler=-Wall,-Wextra", "-Werror", "all-warnings", "-Itests", "-Itests/unit"]
# What names MPI: tests/cluster/check.py compiles it.
MPI = ("onto/cluster.hpp", "onto/backend/cluster/mpi.hpp", "onto/backend/cluster/server.hpp")


def closures(headers):
    """Of each header those that it includes whatever is defined, itself and through others."""
    direct = {}
    for h in headers:
        depth, direct[h] = 0, set()
        for line in (INCLUDE / h).read_text().splitlines():
            depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
            if depth == 0 and (found := re.match(r"\s*#\s*include <([^>]+)>", line)):
                direct[h].add(found[1])
    every = {}

    def closure(h):
        if h not in every:
            every[h] = {h}.union(*(closure(i) for i in direct[h] if i != h)) if h in direct else {h}
        return every[h]

    return {h: closure(h) for h in headers}


def included_before(compiler, folder, flags, headers, most=12):
    """Compiles once what many of the headers include: {header: options to compile it after one that it includes anyway}, so that
    it sees what it would see alone; and {header: another in which it is compiled as if alone}."""
    options, ready, closure = {}, {}, closures(headers)
    texts = {h: len((INCLUDE / h).read_text()) for h in headers}
    weight = {h: sum(texts.get(i, 40_000) for i in closure[h]) for h in headers}  # one of the library's is about that long
    spared = dict.fromkeys(headers, 0)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(most):
        gain = {r: sum(max(0, weight[r] - spared[h]) for h in headers if r in closure[h] and r != h) - weight[r] for r in headers}
        best = max(gain, key=gain.get)
        made = folder / f"ready_{number}.hpp"
        made.write_text(f"#include <{best}>\n")
        # -Wpedantic changes what is defined.
        if gain[best] <= 0 or not compiler.precompile(made, f"{made}.gch", *flags, "-w", "-Wpedantic"):
            break
        for h in headers:
            if best in closure[h] and best != h and weight[best] > spared[h]:
                spared[h], options[h], ready[h] = weight[best], ("-include", str(made)), best
    return options, seen_in(headers, ready)


def first_included(header):
    """What a header includes before it says anything else: that sees what it sees alone."""
    for line in (INCLUDE / header).read_text().splitlines():
        if found := re.match(r"#include <(onto/[^>]+)>", line):
            return found[1]
        if line and not line.startswith(("//", "#pragma once")):
            return None
    return None


def seen_in(headers, ready):
    """Of headers that others include first: {header: the one with which it compiles alone}. `ready`: what comes before a header
    by its options, which must be included by those that are seen in it, too."""
    closure, found = closures(headers), {}
    for outer in sorted(headers, key=lambda h: -len(closure[h])):
        if outer in found:
            continue
        before = ready.get(outer)
        inner = first_included(outer)
        while inner in closure and (before is None or (before in closure[inner] and before != inner)):
            found.setdefault(inner, outer)
            inner = first_included(inner)
    return found


def not_included(headers):
    """Of the headers those that no other includes."""
    included = {name for h in headers for name in included_by((INCLUDE / h).read_text())}
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
            tasks += [(compiler, h) for h in not_included(cuda) + ["onto/onto.hpp"]]
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
            tasks += [(compiler, t) for t in statics]

    scratch = ROOT / "build" / "headers" / "-".join(wanted)  # two of these may go at once
    scratch.mkdir(parents=True, exist_ok=True)

    ready, inside = {}, {}
    for compiler in found:
        if compiler.name == "g++":
            groups = {}
            for name, *flags in (t[1].split() for t in tasks if t[0] is compiler and t[1].startswith("onto/")):
                groups.setdefault(tuple(flags), []).append(name)
            for at, (flags, names) in enumerate(groups.items()):
                if len(names) > TOGETHER:
                    ready[flags], seen = included_before(compiler, scratch / f"ready_{at}", flags, names)
                    inside |= {(compiler, " ".join((h, *flags))): (compiler, " ".join((outer, *flags))) for h, outer in seen.items()}

    def key_of(compiler, name, *flags):
        return memory.key(compiler.version, name, *flags, ((INCLUDE if name.startswith("onto/") else ROOT) / name).read_text())

    def check(task):
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
        before = ready.get(tuple(flags), {}).get(name, ()) if compiler.name == "g++" else ()
        good = before and compiler.check(file, *warnings, *flags, before=before)[0]
        if not good:
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
        good, said = compiler.check(file, *(NVCC_WARNINGS if nvcc else WARNINGS))
        if good:
            for task in some:
                memory.passed(key_of(*task))
        else:
            print(f"slow: {compiler.name} does not compile {len(some)} static tests in one file: {first_error(said)}", flush=True)

    joining = [t for t in tasks if t[1] in statics and joins((ROOT / t[1]).read_text()) and not memory.knows(key_of(*t))]
    groups = {}
    for task in joining:
        nvcc = task[0].name == "nvcc"
        groups.setdefault((task[0], nvcc and says_half((ROOT / task[1]).read_text())), []).append(task)
    parts = [part for (c, _), group in groups.items() for part in in_parts(group, TOGETHER_BY_NVCC if c.name == "nvcc" else TOGETHER)]
    parallel(lambda part: check_together(*part), list(enumerate(parts)))
    apart = [t for t in tasks if t not in inside]
    failed = {t: f for t, f in zip(apart, parallel(check, apart)) if f}
    # What was not seen to compile in another is compiled alone.
    for task, outer in inside.items():
        if outer not in failed:
            memory.passed(key_of(task[0], *task[1].split()))
    left = [t for t in inside if inside[t] in failed]
    failures = [*failed.values(), *(f for f in parallel(check, left) if f)]
    memory.save()
    print("\n".join(failures), end="\n" if failures else "")
    for name in missing:
        print(f"skipped: {name} is not installed")
    close("headers alone and static tests, " + ", ".join(c.name for c in found), len(tasks) - len(failures),
          len(failures), len(missing))


if __name__ == "__main__":
    main()
