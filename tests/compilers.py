# SPDX-License-Identifier: BSL-1.0
# What the test scripts share: which compilers there are, running one on a file, remembering what passed, the closing line.
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
JOBS = int(os.environ.get("ONTO_JOBS", "0")) or os.cpu_count() or 1
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
QUICKER = ["--param=ggc-min-heapsize=2500000"]  # for g++, as CMakeLists.txt has it
SYSTEM_INCLUDES = [f"-isystem{d}" for d in os.environ.get("ONTO_SYSTEM_INCLUDES", "").split(":") if d]


class Compiler:
    """One compiler and how it is asked to check a file without keeping what it makes."""

    def __init__(self, name, path, flags):
        self.name, self.path, self.flags = name, path, flags
        self.every_error = ["-ferror-limit=0"] if name == "clang++" else []

    @functools.cached_property
    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True, check=False).stdout

    def command(self, file, *extra, before=()):
        return [self.path, *self.flags, *before, f"-I{INCLUDE}", f"-I{ROOT / 'tests'}", *SYSTEM_INCLUDES, *extra, str(file)]

    def precompile(self, file, made, *extra):
        """Compiles a header to `made`; whether it could."""
        flags = [f for f in self.flags if f not in ("-fsyntax-only", "-x", "c++")]
        return Compiler(self.name, self.path, [*flags, "-x", "c++-header", "-o", str(made)]).check(file, *extra)[0]

    def check(self, file, *extra, text=None, before=()):
        """Compiles `file` (or `text` from standard input where `file` is `-`), with options `before` where to look for headers;
        (succeeded, everything it said)."""
        done = subprocess.run(self.command(file, *extra, before=before), input=text, capture_output=True, text=True, check=False,
                              cwd=ROOT, env={**os.environ, "LC_ALL": "C"})
        return done.returncode == 0, done.stdout + done.stderr


def nvcc_path():
    for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if path and os.access(path, os.X_OK):
            return path
    return None


def front_ends_only(nvcc):
    """How nvcc is asked for what its front ends for host and device say, without making the device's code, where it knows how:
    sessions on GPUs take a third of the time."""
    said = subprocess.run([nvcc, "--help"], capture_output=True, text=True, check=False).stdout
    return ["-fdevice-syntax-only"] if "-fdevice-syntax-only" in said else []


def compilers(wanted=("g++", "clang++", "nvcc")):
    """The compilers of `wanted` that are installed, and the names of those that are not."""
    found, missing = [], []
    for name in wanted:
        path = nvcc_path() if name == "nvcc" else shutil.which(name)
        if not path:
            missing.append(name)
        elif name == "nvcc":
            found.append(Compiler(name, path, ["-std=c++20", "-arch=sm_90", "-x", "cu", "-cuda", *front_ends_only(path), "-o", os.devnull]))
        else:
            quicker = QUICKER if name == "g++" else []
            found.append(Compiler(name, path, ["-std=c++20", "-fsyntax-only", *quicker, "-x", "c++"]))
    return found, missing


class Memory:
    """Remembers under build/ which checks passed, by the text of everything they depend on."""

    def __init__(self, name):
        self.path = ROOT / "build" / "passed" / name
        self.keys = set(self.path.read_text().split()) if self.path.is_file() else set()
        self.used = set()
        digest = hashlib.sha256()
        for header in sorted(INCLUDE.rglob("*")):
            if header.is_file():
                digest.update(str(header.relative_to(ROOT)).encode() + header.read_bytes())
        for script in sorted((ROOT / "tests").glob("**/*.py")):
            digest.update(script.read_bytes())
        self.base = digest.hexdigest()

    def key(self, *parts):
        return hashlib.sha256("\0".join((self.base, *map(str, parts))).encode()).hexdigest()

    def knows(self, key):
        return key in self.keys and not self.used.add(key)

    def passed(self, key):
        self.keys.add(key)
        self.used.add(key)

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(sorted(self.used)) + "\n")


def parallel(function, items):
    """`function` of each item, several at a time; the results in the order of the items."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(function, items))


TOGETHER = 12  # programs in one file: few files, and few programs again where one of them fails
TOGETHER_BY_NVCC = 36  # nvcc takes 6 s for the headers alone, as long as for a dozen programs


def in_parts(tasks, most=TOGETHER):
    """The tasks, as many together as keep all jobs busy."""
    each = max(1, min(most, -(-len(tasks) // JOBS)))
    return [tasks[at:at + each] for at in range(0, len(tasks), each)]


def included_by(text):
    """The headers of ours that a text includes, in their order."""
    return re.findall(r"^\s*#\s*include <(onto/[^>]+)>", text, re.M)


def without_comments(text):
    return re.sub(r"//(?! ALONE).*", "", text)


def joins(text):
    """Whether a program can stand in a namespace beside others in one file: it sets nothing for the headers, adds nothing to them,
    and does not say that it holds `// ALONE`."""
    return not re.search(r"// ALONE|define ONTO_(?!TEST_)|(?<!using )namespace onto\b|template <>", without_comments(text))


def says_half(text):
    """Whether a program says `half`, which CUDA's headers say as well, and not whose: by nvcc it stands only beside such, whose
    headers bring no CUDA."""
    text = without_comments(text)
    return bool(re.search(r"(?<!::)\bhalf\b", text)) and "using half = " not in text


def joined(file, sources, before=()):
    """Makes `file` of several programs, each in a namespace of its own: most of a compiler's time goes into headers. `before`:
    lines that include what is to come first."""
    texts = [source.read_text() for source in sources]
    lines = list(before)
    lines += dict.fromkeys(line for text in texts for line in text.splitlines() if line.startswith("#include "))
    for at, (source, text) in enumerate(zip(sources, texts)):
        lines += [f"namespace program_{at} {{", f'#include "{source}"', "}"]
        lines += [f"#undef {name}" for name in dict.fromkeys(re.findall(r"^#\s*define\s+(\w+)", text, re.M))]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")
    return file


def is_ours(line, file):
    """Whether a line of a compiler's output names our headers, the file under test, or carries an `[onto.` tag."""
    return "include/onto" in line or "[onto." in line or pathlib.Path(file).name in line


def first_error(said):
    return without_root(next((line for line in said.splitlines() if "error" in line), said[:200]))


def indent(text, limit=60):
    lines = text.rstrip().splitlines()
    more = [f"... {len(lines) - limit} lines more"] if len(lines) > limit else []
    return "\n".join("    " + line for line in lines[:limit] + more)


def relative(path):
    return str(pathlib.Path(path).resolve().relative_to(ROOT))


def without_root(text):
    return re.sub(re.escape(str(ROOT)) + "/", "", text)


def close(name, passed, failed, skipped):
    """Prints the closing line that ./run adds up, and ends the script."""
    print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed else 0)
