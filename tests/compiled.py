#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# The compiled runtime without CMake: one file includes <onto/compiled.hpp>, all are compiled with ONTO_COMPILED. Without that
# file the linker names what is missing; beside a file that is header-only the program is right all the same, and so is one of a
# compiler's with the runtime that the other has made.
"""usage: compiled.py [INCLUDE_DIR]"""
import pathlib
import subprocess
import sys
import tempfile

from compilers import INCLUDE, ROOT, close, compilers, indent

TESTS = ROOT / "tests"
MISSING = "onto::detail::open_session"  # what the how-to says that the linker names


class Programs:
    """Compiles and links in a folder of its own, with one compiler."""

    def __init__(self, compiler, include, folder):
        self.compiler, self.include, self.folder = compiler, include, pathlib.Path(folder)
        self.passed = self.failed = 0

    def run(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    def verdict(self, what, good, said):
        self.passed += good
        self.failed += not good
        print(f"{'ok:' if good else 'FAIL'} {self.compiler.name}: {what}" + ("" if good else "\n" + indent(said, 20)))

    def object(self, source, *flags):
        """Compiles a file; what cannot be compiled is a failure of what needs it."""
        made = self.folder / (source.stem + "".join(flags) + ".o")
        good, said = self.run(self.compiler.path, "-std=c++20", f"-I{self.include}", *flags, "-c", source, "-o", made)
        if not good:
            self.verdict(f"{source.name} compiles", False, said)
        return made

    def link(self, *objects):
        return self.run(self.compiler.path, *objects, "-o", self.folder / "program", "-pthread")

    def expect_to_run(self, what, *objects):
        good, said = self.link(*objects)
        if good:
            good, said = self.run(self.folder / "program")
        self.verdict(what, good, said)


def check(programs):
    """*Returns* the runtime, and the objects of a program that needs one."""
    compiled = "-DONTO_COMPILED"
    runtime = programs.object(TESTS / "consumer/runtime.cpp", compiled)
    first = programs.object(TESTS / "consumer/main.cpp", compiled)
    programs.expect_to_run("a program with the runtime in a file of its own runs", first, runtime)
    linked, said = programs.link(first)
    programs.verdict(f"without that file the linker names {MISSING}", not linked and MISSING in said, said)

    mixed = TESTS / "mixed_runtime"
    halves = [programs.object(mixed / "compiled.cpp", compiled), programs.object(mixed / "header_only.cpp")]
    programs.expect_to_run("a file that is header-only beside one that is not", *halves, runtime)
    programs.expect_to_run("the same, the runtime first", runtime, *reversed(halves))
    return runtime, [halves[0], programs.object(mixed / "header_only.cpp", compiled)]


def main():
    include = sys.argv[1] if len(sys.argv) > 1 else INCLUDE
    found, missing = compilers(["g++", "clang++"])
    with tempfile.TemporaryDirectory() as folder:
        checked = []
        for compiler in found:
            own = pathlib.Path(folder) / compiler.name
            own.mkdir()
            programs = Programs(compiler, include, own)
            checked.append((programs, *check(programs)))
        for programs, _, program in checked:
            for other, runtime, _ in checked:
                if other is not programs:
                    programs.expect_to_run(f"with the runtime that {other.compiler.name} has made", *program, runtime)
        passed, failed = (sum(getattr(c[0], k) for c in checked) for k in ("passed", "failed"))
    for name in missing:
        print(f"skipped: {name} is not installed")
    close("the compiled runtime", passed, failed, len(missing))


if __name__ == "__main__":
    sys.exit(main())
