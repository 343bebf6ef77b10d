# SPDX-License-Identifier: BSL-1.0
"""Runs the compilers on the programs: which there are, what one run costs and makes them do."""
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import programs

ROOT = Path(__file__).resolve().parent.parent.parent
EIGEN = next((str(p) for p in (Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")) if p.is_dir()), None)


@dataclass
class Cost:
    """What one run of a compiler took: seconds on the clock and of the processor, MiB of the largest process."""
    wall: float
    cpu: float
    memory: float


class CompileFailed(Exception):
    """A program did not compile; the text is the compiler's."""


def find(name):
    """The command of "g++", "clang++" or "nvcc" (CXX, CLANGXX and NVCC name another one), or None."""
    command = os.environ.get({"g++": "CXX", "clang++": "CLANGXX", "nvcc": "NVCC"}[name])
    if name == "g++" and command and "clang" in command:
        command = None
    found = shutil.which(command or name)
    if not found and name == "nvcc" and os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
        found = "/usr/local/cuda/bin/nvcc"
    return found


def version(name):
    """The version of a compiler as "12.2.0"."""
    text = subprocess.run([find(name), "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"V(\d+\.\d+\.\d+)" if name == "nvcc" else r"(\d+\.\d+\.\d+)", text)
    return match.group(1) if match else "unknown"


class Bench:
    """The programs written to a folder, and the compilers run on them there."""

    def __init__(self, include=None, level="-O2"):
        self.include = Path(include or ROOT / "include").resolve()
        self.level = level
        self._folder = tempfile.TemporaryDirectory(prefix="onto-compile-")
        self.folder = Path(self._folder.name)
        self._missing = {}

    def path(self, library, program, suffix):
        """The file of a program, written on its first use."""
        file = self.folder / f"{library}-{program}{suffix}"
        if not file.exists():
            file.write_text(programs.source(library, program))
        return file

    @staticmethod
    def object(compiler, library, program):
        """The name of a program's object file."""
        return f"{library}-{program}.{compiler}.o"

    def command(self, compiler, library, program, extra=()):
        """The command that compiles a program to an object file."""
        file = self.path(library, program, ".cu" if compiler == "nvcc" else ".cpp")
        where = {"onto": ["-I", str(self.include)], "eigen": ["-isystem", EIGEN] if EIGEN else [], "xtensor": []}
        where[programs.COMPILED] = [*where["onto"], "-DONTO_COMPILED"]
        dialect = ["-std=c++20", *self.level.split()]
        if compiler == "nvcc":
            dialect += ["-arch=sm_90", "--expt-relaxed-constexpr"]
        return [find(compiler), *dialect, *where[library], *extra, "-c", file.name, "-o",
                self.object(compiler, library, program)]

    def run(self, command):
        """Runs a command in the folder; its cost and what it printed."""
        output = self.folder / "output.txt"
        with open(output, "w", encoding="utf-8") as sink:
            start = os.times().elapsed
            process = subprocess.Popen(command, cwd=self.folder, stdout=sink, stderr=subprocess.STDOUT)
            # The usage of the compiler and of all the processes it started and waited for.
            _, status, usage = os.wait4(process.pid, 0)
            wall = os.times().elapsed - start
            process.returncode = os.waitstatus_to_exitcode(status)
        text = output.read_text(encoding="utf-8", errors="replace")
        if process.returncode != 0:
            lines = [line if len(line) <= 200 else line[:200] + " ..." for line in text.splitlines()[:8]]
            raise CompileFailed("\n".join(lines) or f"exit status {process.returncode}")
        return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), text

    def time(self, compiler, library, program):
        """The cost of compiling a program once."""
        return self.run(self.command(compiler, library, program))[0]

    def counts(self, compiler, library, program, optimized=False):
        """What a program makes a compiler do, in numbers that are the same every time, as far as the compiler tells. Where
        `optimized`, g++ makes the object file, for which it instantiates a little more.

        "instantiations": with g++ the specializations of functions, variables and classes it has registered at the end;
        with clang++ the classes and functions it has instantiated. "functions": those clang++ generates code for
        before it optimizes.
        """
        if compiler == "g++":
            _, text = self.run(self.command(compiler, library, program, ["-fmem-report", *([] if optimized else ["-fsyntax-only"])]))
            found = re.findall(r"(?:decl|type)_specializations: size \d+, (\d+) elements", text)
            return {"instantiations": sum(map(int, found))} if len(found) == 2 else {}
        if compiler == "clang++":
            self.run(self.command(compiler, library, program,
                                  ["-O0", "-emit-llvm", "-ftime-trace", "-ftime-trace-granularity=0"]))
            trace = self.folder / f"{library}-{program}.{compiler}.json"
            if not trace.exists():
                return {}
            events = json.loads(trace.read_text(encoding="utf-8", errors="replace"))["traceEvents"]
            number = Counter(event["name"] for event in events)
            return {"instantiations": number["InstantiateClass"] + number["InstantiateFunction"],
                    "functions": number["CodeGen Function"]}
        return {}

    def functions_left(self, compiler, library, program):
        """The number of functions in the object file of a program that was compiled."""
        symbols = subprocess.run(["nm", self.object(compiler, library, program)], cwd=self.folder, capture_output=True,
                                 text=True, check=True).stdout
        return len(re.findall(r"^\S+ [TtWi] ", symbols, re.M))

    def output(self, compiler, library, program):
        """What a program prints that was compiled: it is linked, and run in the folder of the programs."""
        objects = [self.object(compiler, library, program)]
        if library == programs.COMPILED:
            objects.append(self.object(compiler, library, programs.RUNTIME))
        self.run([find(compiler), *objects, "-o", "program", *(["-lcublasLt"] if compiler == "nvcc" else [])])
        return self.run(["./program"])[1]

    def missing(self, compiler, library):
        """Why programs of a library cannot be compiled with a compiler, or an empty string."""
        key = compiler, library
        if key not in self._missing:
            if not find(compiler):
                self._missing[key] = f"{compiler} is not installed"
            elif compiler == "nvcc" and library not in ("onto", programs.COMPILED):
                self._missing[key] = f"{programs.NAMES[library]} is not measured with nvcc"
            elif library == "onto":
                self._missing[key] = ""
            elif library == programs.COMPILED and not (self.include / "onto/compiled.hpp").exists():
                self._missing[key] = "there is no onto/compiled.hpp"
            else:
                probe = self.command(compiler, library, "include", ["-E"])
                try:
                    self.run(probe)
                    self._missing[key] = ""
                except CompileFailed:
                    self._missing[key] = f"{programs.NAMES[library]} is not installed"
        return self._missing[key]
