#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Kernels for every instruction set: the same results at every level of optimization, from every compiler, on every set
that ONTO_ISA names, from a program whose files have different flags, and on processors without AVX (under qemu-user).

usage: check.py [NAME...]   only builds whose names contain one of NAME
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compilers import INCLUDE, ROOT, close  # noqa: E402

SOURCE = ROOT / "tests" / "instruction_sets" / "program.cpp"
BUILD = ROOT / "build" / "instruction_sets"
BUILDS = {f"{compiler} {flags}": (compiler, flags)
          for compiler, levels in (("g++", ("-O0", "-Og", "-Os", "-O2", "-O3", "-O2 -march=native", "-O2 -mavx")),
                                   ("clang++", ("-O0", "-Og", "-O2", "-O2 -march=native")))
          for flags in levels}
SETS = ("baseline", "avx2", "avx512")
QEMU = "qemu-x86_64-static"
# What goes by the bits of numbers is the same where compilers take it that all are finite.
FAST_MATH = ROOT / "tests" / "instruction_sets" / "fast_math.cpp"
FAST_MATH_SAYS = ["[  3.  nan  inf  -1.   0. -inf]", "[-inf  -1.   0.   3.  inf  nan]", "[5 3 4 0 2 1]", "[1 2 0 4 3 5]", "0 0"]



def compile_object(compiler, flags, out, *definitions):
    """Compiles the program's file; the compiler's words where it does not."""
    done = subprocess.run([compiler, "-std=c++20", *flags.split(), f"-I{INCLUDE}", *definitions, "-c", str(SOURCE), "-o", str(out)],
                          capture_output=True, text=True, check=False)
    return done.stderr[-2000:] if done.returncode or done.stderr.strip() else ""


def link(out, *objects):
    """Links objects in their order."""
    subprocess.run([os.environ.get("CXX") or "g++", *map(str, objects), "-o", str(out), "-pthread"], check=True)


def lines_of(program, isa, *before):
    """What the program prints with ONTO_ISA as `isa`, or what it ended with."""
    environment = dict(os.environ)
    environment.pop("ONTO_ISA", None)
    if isa:
        environment["ONTO_ISA"] = isa
    done = subprocess.run([*before, str(program)], capture_output=True, text=True, env=environment, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else [f"ended {done.returncode}: {done.stdout} {done.stderr}"[-500:]]


def differences(wanted, got):
    """Lines that are not the same but for rounding."""
    if len(wanted) != len(got):
        return [f"{len(got)} lines, {len(wanted)} wanted: {' '.join(got)[:300]}"]
    wrong, count = [], 1.0
    for left, right in zip(wanted, got):
        (name, a), (other, b) = left.split(), right.split()
        if name == "extents":
            count = float(a) // 1000 * (float(a) % 1000)
        if name != other or not abs(float(a) - float(b)) <= 1e-5 * abs(float(a)) + 2e-5 * count:
            wrong.append(f"{right}, wanted {left}")
    return wrong


passed = failed = skipped = 0


def expect(what, wrong):
    """Counts one expectation."""
    global passed, failed
    passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{'FAIL' if wrong else 'ok  '} {what}" + "".join(f"\n     {w}" for w in wrong[:4]), flush=True)


def skip(why):
    """Counts one that is not tried."""
    global skipped
    skipped += 1
    print(f"skip {why}")


def main():
    BUILD.mkdir(parents=True, exist_ok=True)
    wanted_names = sys.argv[1:]
    builds = {}
    for name, (compiler, flags) in BUILDS.items():
        if wanted_names and not any(w in name for w in wanted_names):
            continue
        if not shutil.which(compiler):
            skip(f"{compiler} is not installed: {name}")
            continue
        builds[name] = (compiler, flags, BUILD / (name.replace(" ", "_").replace("+", "p") + ".o"))
    native = BUILD / "other_native.o"
    plain = BUILD / "plain.o"
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("ONTO_JOBS") or 2)) as pool:
        jobs = {name: pool.submit(compile_object, c, f, o, "-DONTO_PART=run_all") for name, (c, f, o) in builds.items()}
        reference = pool.submit(compile_object, "g++", "-O2", plain, "-DONTO_PART=run_all", "-DONTO_OTHER_PART=run_other")
        second = pool.submit(compile_object, "g++", "-O2 -march=native", native, "-DONTO_PART=run_other", "-DONTO_NO_MAIN")
        said = {name: job.result() for name, job in jobs.items()}
        said["g++ -O2, of two files"] = reference.result() + second.result()
    for name, words in said.items():
        expect(f"{name} compiles without a warning", [words] if words else [])
    for name in [n for n in builds if said[n]]:
        del builds[name]

    mixed = {order: BUILD / f"mixed_{k}" for k, order in enumerate(("plain first", "native first"))}
    link(mixed["plain first"], plain, native)
    link(mixed["native first"], native, plain)
    both = lines_of(mixed["plain first"], "baseline")
    wanted = both[:len(both) // 2]
    expect("the program prints what it should", [] if len(wanted) == 8 * 14 else [" ".join(both)[:500]])
    for order, program in mixed.items():
        for isa in SETS:
            expect(f"a plain and a native file, {order}, {isa}", differences(wanted + wanted, lines_of(program, isa)))
    for name, (_, _, objects) in builds.items():
        program = objects.with_suffix("")
        link(program, objects)
        for isa in SETS:
            expect(f"{name}, {isa}", differences(wanted, lines_of(program, isa)))
    plain_build = builds.get("g++ -O2")
    if plain_build:
        program = plain_build[2].with_suffix("")
        got = lines_of(program, "sse9")
        expect("a set that there is not is refused", [] if "[onto.isa]" in " ".join(got) and "sse9" in " ".join(got) else got)
        if not shutil.which(QEMU):
            skip(f"{QEMU} is not installed (Debian: qemu-user-static): the program was not run without AVX")
        else:
            for processor in ("qemu64", "Nehalem", "Haswell"):
                expect(f"{name_of(program)} on a {processor}", differences(wanted, lines_of(program, "", QEMU, "-cpu", processor)))
    for compiler in ("g++", "clang++"):
        if shutil.which(compiler) and not wanted_names:
            program = BUILD / f"fast_math_{compiler.replace('+', 'p')}"
            subprocess.run([compiler, "-std=c++20", "-O2", "-ffast-math", f"-I{INCLUDE}", str(FAST_MATH), "-o", str(program), "-pthread"], check=True)
            got = lines_of(program, "")
            expect(f"{compiler} -ffast-math prints and sorts NaN and infinities, and divides integers", [] if got == FAST_MATH_SAYS else got)
    close("instruction sets", passed, failed, skipped)


def name_of(program):
    """A program's name, for people."""
    return program.name.replace("_", " ").replace("gpp", "g++")


if __name__ == "__main__":
    main()
