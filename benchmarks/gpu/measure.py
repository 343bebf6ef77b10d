#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Builds and runs the GPU benchmarks and those of the peers, and writes docs/measurements/gpu.tsv and gpu.md.
#
#   python3 benchmarks/gpu/measure.py              all of it; needs nvcc and a GPU, and says so where there is none
#   python3 benchmarks/gpu/measure.py maps rows    these programs only (ceilings is always one of them)
#   --to FOLDER     writes there instead of docs/measurements
#   --limit N       seconds for all of it; what is known by then is written
#   --include DIR   where Boost.Hana is, if the compiler does not find it; may be given more than once
#   --build FOLDER  builds the programs there for the GPU that --arch names (sm_90, say), and ends: needs no GPU
#   --programs FOLDER   runs what is built there: needs no nvcc, and the minutes are spent on another machine
#   --self-check    checks the reading of results and the ratios; needs no GPU
import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = ["ceilings", "maps", "reductions", "rows", "matmul", "words", "whole"]
PEERS = ["jax", "cupy", "torch"]

# What onto is to reach, of whom, and from how many elements on (below, launches are longer than the work).
TARGETS = {
    "maps": (0.95, ["copy"], 1e7),
    "reductions": (0.90, ["copy"], 1e8),  # the second kernel, CUB's too, takes a quarter of the time of 1e7
    "rows": (0.85, ["copy"], 4e6),
    "matmul": (0.98, ["cublaslt"], 0),
    "headline": (0.97, ["hand"], 1e8),
    "tiny": (5.0, ["torch"], 0),
}
PEER_NAMES = ["torch", "torch.compile", "jax", "cupy"]
NOT_SLOWER_THAN = ["torch.compile", "jax"]
BY_HAND = ["hand", "cub", "cublaslt"]
COLUMNS = ["family", "row", "shape", "type", "who", "us", "low", "high", "gb_per_s", "tflop_per_s", "error", "note"]


# ---- reading ---------------------------------------------------------------------------------------------------------


def parse(line):
    """A result of a program, or None for a line that is none."""
    line = line.strip()
    if not line.startswith("{"):
        return None
    try:
        r = json.loads(line)
    except ValueError:
        return None
    if not {"family", "row", "shape", "type", "who"} <= r.keys():
        return None
    if "skip" not in r and not r.get("us", 0) > 0:
        return None
    return r


def grouped(results):
    """Rows in the order in which they came: key -> who -> result."""
    rows = {}
    for r in results:
        if r["family"] == "peers":
            continue
        rows.setdefault((r["family"], r["row"], r["shape"], r["type"]), {})[r["who"]] = r
    return rows


def ceilings(rows):
    """Bytes a second of the best copy, and operations a second for each type."""
    bandwidth, rate = 0.0, {}
    for (family, name, _, kind), all_of in rows.items():
        if family != "ceiling":
            continue
        for r in all_of.values():
            if "us" not in r:
                continue
            if name == "device-to-device copy":
                bandwidth = max(bandwidth, r["bytes"] / r["us"] * 1e6)
            else:
                rate[kind] = max(rate.get(kind, 0), r["flops"] / r["us"] * 1e6)
    return bandwidth, rate


def ratio(all_of, who):
    """How many times as long as onto the quickest of `who` takes; None where one of the two is missing."""
    mine = all_of.get("onto", {}).get("us")
    others = [all_of[w]["us"] for w in who if "us" in all_of.get(w, {})]
    return min(others) / mine if mine and others else None


def verdict(key, all_of):
    """'met', 'missed', 'not measured', or '' for a row without a target."""
    family = key[0]
    if family not in TARGETS:
        return ""
    target, who, least = TARGETS[family]
    if next(iter(all_of.values())).get("size", 0) < least:
        return ""
    if family == "headline" and key[1] != "A^10 + B^10":
        return ""
    if "skip" in all_of.get("onto", all_of.get("all", {})):
        return "not measured"
    reached = ratio(all_of, who)
    if reached is None:
        return "not measured"
    return "met" if reached >= target else "missed"


def of_ceiling(key, mine, bandwidth, rate):
    """The part of what the GPU can do that onto reaches: of bytes or of operations, whichever is the larger."""
    if "us" not in mine or key[0] in ("headline", "tiny"):
        return None
    parts = []
    if bandwidth:
        parts.append(mine.get("bytes", 0) / mine["us"] * 1e6 / bandwidth)
    if rate.get(key[3]):
        parts.append(mine.get("flops", 0) / mine["us"] * 1e6 / rate[key[3]])
    return max(parts) if parts else None


# ---- writing ---------------------------------------------------------------------------------------------------------


def number(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


def shown_time(us):
    return f"{us:.2f} µs" if us < 1000 else f"{us / 1000:.2f} ms" if us < 1e6 else f"{us / 1e6:.2f} s"


def tsv(results):
    lines = ["\t".join(COLUMNS)]
    for r in results:
        if "skip" in r:
            values = {**r, "note": "skipped: " + r["skip"]}
        else:
            values = {**r, "gb_per_s": f"{r['bytes'] / r['us'] / 1e3:.1f}" if r.get("bytes") else "",
                      "tflop_per_s": f"{r['flops'] / r['us'] / 1e6:.2f}" if r.get("flops") else ""}
        text = ["" if values.get(c) is None else str(values.get(c, "")) for c in COLUMNS]
        text[-1] = text[-1] or "-"  # no line ends with a space
        lines.append("\t".join(re.sub(r"\s+", " ", t) for t in text))
    return "\n".join(lines) + "\n"


TITLES = [
    ("maps", "Elementwise", "copy", "hand"),
    ("reductions", "Reductions", "copy", "CUB or hand"),
    ("rows", "Rows", "copy", "hand"),
    ("words", "Words of an array library", "copy", "CUB or hand"),
    ("matmul", "Matrix products with bias and relu", None, "cublasLt, its fastest algorithm"),
    ("headline", "A^10 + B^10, whole runs", None, "hand"),
    ("tiny", "100 tiny operations, whole runs", None, "hand, a graph"),
]

MEANING = """\
A **ratio** is the other's time by onto's: above 1 onto is quicker. Each is of medians of rounds in which all of a row take
turns.

* **copy**: a device-to-device copy (`cudaMemcpyAsync`) that moves as many bytes, read and written together: what memory
  allows at that size.
* **by hand**: CUDA as one writes it for that row alone (`benchmarks/gpu/*.cu`); CUB's call; the fastest of all algorithms
  that cublasLt's heuristic proposes.
* **of the ceiling**: the larger of bytes a second by the largest copy's, and operations a second by the largest product's of
  the type.
* **PyTorch, compiled, JAX, CuPy**: the same row there, as their documentation says. PyTorch and CuPy are timed by events
  around calls made one after the other, JAX by the host's clock until the last is ready; for small rows that is the time to
  issue a call.

Kernels of onto, by hand, of CUB and cublasLt are timed alone: many launches in a recorded graph, between two events, with
inputs that take turns where the cache could hold them. onto's are the launches that a prepared run made, with its operands
and its grids; its operands are variables on the GPU, and copies of feeds and results are left out. `A^10 + B^10` and the tiny
operations are whole calls, from the caller's memory to the caller's memory, by the host's clock. Every result is compared
with one in double (the large powers: with the one by hand) before it is timed; one that is wrong is not timed. Targets hold
from 10^7 elements on (reductions from 10^8, rows from 4 million): below, launches take longer than the work."""


def markdown(results, machine, done):
    rows = grouped(results)
    bandwidth, rate = ceilings(rows)
    verdicts = {key: verdict(key, all_of) for key, all_of in rows.items()}
    met, missed = (sum(v == w for v in verdicts.values()) for w in ("met", "missed"))
    out = ["<!-- SPDX-License-Identifier: BSL-1.0 -->", "# On a GPU", "",
           "Written by `./run bench gpu`; all numbers are in [gpu.tsv](gpu.tsv)." +
           ("" if done else " **Not all of it ran**: the measuring was stopped."), ""]
    out += [f"* {line}" for line in machine]
    out.append(f"* ceilings: copy {bandwidth / 1e9:.0f} GB/s; products " +
               ", ".join(f"{kind} {r / 1e12:.0f} TFLOP/s" for kind, r in rate.items()))
    out += [f"* targets: {met} met, {missed} missed", "", MEANING, ""]
    for family, title, copy, by_hand in TITLES:
        mine = {k: v for k, v in rows.items() if k[0] == family}
        if not mine:
            continue
        target, who, _ = TARGETS.get(family, (None, [], 0))
        peers = [p for p in PEER_NAMES if any("us" in v.get(p, {}) for v in mine.values())]
        head = ["row", "shape", "type", "onto"] + (["copy"] if copy else []) + [f"by hand ({by_hand})"] + \
            ["of the ceiling"] + peers + ([f"target {target:g} × {who[0]}"] if target else []) + ["kernels"]
        out += [f"## {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for key, all_of in mine.items():
            onto = all_of.get("onto", {})
            cells = [key[1], key[2], key[3], shown_time(onto["us"]) if "us" in onto else "-"]
            if copy:
                cells.append(number(ratio(all_of, ["copy"])))
            cells += [number(ratio(all_of, BY_HAND)), number(of_ceiling(key, onto, bandwidth, rate))]
            cells += [number(ratio(all_of, [p])) for p in peers]
            cells += ([verdicts[key]] if target else []) + [str(onto.get("note", ""))]
            out.append("| " + " | ".join(cells) + " |")
        out.append("")
    slower = [(key, p, ratio(all_of, [p])) for key, all_of in rows.items() for p in NOT_SLOWER_THAN
              if (ratio(all_of, [p]) or 1) < 1]
    out += ["## Slower than a compiled peer", ""]
    out += [f"* {k[1]}, {k[2]}, {k[3]}: {p} takes {r:.2f} of onto's time" for k, p, r in slower] or ["Nowhere."]
    skipped = [r for r in results if "skip" in r]
    if skipped:
        out += ["", "## Not measured", ""]
        out += [f"* {r['row']}, {r['shape']}, {r['type']}, {r['who']}: {r['skip']}" for r in skipped]
    return "\n".join(out) + "\n"


# ---- running ---------------------------------------------------------------------------------------------------------


def find_nvcc():
    usual = "/usr/local/cuda/bin/nvcc"
    return shutil.which("nvcc") or (usual if os.access(usual, os.X_OK) else None)


def answer(*command):
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return r.stdout.strip() if r.returncode == 0 else ""


def describe_machine(nvcc):
    gpu = answer("nvidia-smi", "--query-gpu=name,memory.total,driver_version,clocks.max.sm,clocks.max.memory",
                 "--format=csv,noheader")
    toolkit = re.search(r"release ([\d.]+, V[\d.]+)", answer(nvcc, "--version") if nvcc else "")
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").exists() else None
    commit = answer("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    return [f"GPU: {gpu.splitlines()[0] if gpu else '?'} (name, memory, driver, highest clocks)",
            f"toolkit: {toolkit.group(1) if toolkit else '?'}; CPU: {cpu.group(1) if cpu else '?'}, {os.cpu_count()} threads",
            f"date: {datetime.date.today()}" + (f"; commit {commit}" if commit else ""),
            "commands: `./run bench gpu`, which compiles `benchmarks/gpu/*.cu` with "
            "`nvcc -std=c++20 -O3 -arch=native -lcublasLt` and runs them and `benchmarks/gpu/peers.py`"]


def find_cublas(nvcc):
    """The folders of cublasLt's header and library: the toolkit's, or those of the Python package that has them."""
    toolkit = Path(nvcc).resolve().parent.parent
    places = [(toolkit / "include", toolkit / "lib64"), (toolkit / "include", toolkit / "lib")]
    for folder in map(Path, sys.path):
        places += [(h.parent, h.parent.parent / "lib") for h in folder.glob("nvidia/*/include/cublasLt.h")]
    for headers, libraries in places:
        if (headers / "cublasLt.h").exists():
            found = sorted(libraries.glob("libcublasLt.so*"))
            if found:
                return headers, found[0]
    return None


def build(nvcc, name, folder, includes, arch="native"):
    libraries = Path(nvcc).resolve().parent.parent / "lib64"
    program = folder / f"measure_{name}"
    cublas = find_cublas(nvcc)
    command = [nvcc, "-std=c++20", "-O3", f"-arch={arch}", "-I", str(ROOT / "include"), str(HERE / f"{name}.cu"), "-o",
               str(program), "-L", str(libraries), "-Xlinker", f"-rpath,{libraries}"]
    for include in includes:
        command += ["-I", str(include)]
    if cublas:
        headers, library = cublas
        command += ["-I", str(headers), str(library), "-Xlinker", f"-rpath,{library.parent}"]
    else:
        command += ["-lcublasLt"]
    r = subprocess.run(command, capture_output=True, text=True)
    return name, program if r.returncode == 0 else None, r.stdout + r.stderr


def build_all(nvcc, names, folder, includes, arch):
    """The programs by their names; None for one that does not compile, which is said."""
    folder.mkdir(parents=True, exist_ok=True)
    built = {}
    jobs = max(1, min(len(names), (os.cpu_count() or 2) // 2))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, program, words in pool.map(lambda n: build(nvcc, n, folder, includes, arch), names):
            if program is None:
                print(f"{name} does not compile:\n{words}")
            built[name] = program
    return built


class Recorder:
    """Keeps results, each in a file as soon as it is there, and writes the tables."""

    def __init__(self, log, to, machine):
        self.results, self.to, self.machine, self.done = [], to, machine, False
        self.log = open(log, "w")

    def add(self, line):
        r = parse(line)
        if r is None:
            return False
        self.results.append(r)
        self.log.write(line.strip() + "\n")
        self.log.flush()
        return True

    def write(self):
        self.to.mkdir(parents=True, exist_ok=True)
        for name, text in (("gpu.tsv", tsv(self.results)), ("gpu.md", markdown(self.results, self.machine, self.done))):
            part = self.to / (name + ".part")
            part.write_text(text)
            part.replace(self.to / name)


def run_program(command, recorder, seconds, quiet=False):
    """Reads what a program says while it runs. Returns its exit status, None where its time was up."""
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONUNBUFFERED": "1"}
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    end = time.monotonic() + seconds

    def stop(*_):
        os.killpg(program.pid, signal.SIGKILL)

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1))
    try:
        for line in program.stdout:
            if not recorder.add(line) and line.strip() and not quiet:
                print("  " + line.rstrip())
        status = program.wait()
    except BaseException:
        stop()
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    return None if status == -signal.SIGKILL and time.monotonic() >= end - 1 else status


def main():
    options = argparse.ArgumentParser(description="Measures the GPU backend beside what else there is.")
    options.add_argument("programs", nargs="*", help=", ".join(PROGRAMS + PEERS))
    options.add_argument("--to", type=Path, default=ROOT / "docs" / "measurements")
    options.add_argument("--limit", type=float, default=460)
    options.add_argument("--include", type=Path, action="append", default=[])
    options.add_argument("--build", type=Path)
    options.add_argument("--arch", default="native")
    options.add_argument("--programs", type=Path, dest="built")
    options.add_argument("--self-check", action="store_true")
    given = options.parse_args()
    if given.self_check:
        return self_check()
    unknown = set(given.programs) - set(PROGRAMS + PEERS)
    if unknown:
        options.error("there is no " + ", ".join(sorted(unknown)))
    began = time.monotonic()
    nvcc = find_nvcc()
    if not nvcc and not given.built:
        print("skipped: nvcc is not installed")
        return 0
    wanted = [p for p in PROGRAMS if not given.programs or p in given.programs or p == "ceilings"]
    if given.build:
        return 0 if all(build_all(nvcc, wanted, given.build, given.include, given.arch).values()) else 1
    gpus = answer("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    if not gpus:
        print("skipped: there is no GPU (nvidia-smi finds none)")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = ROOT / "build" / "gpu-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    peers = [p for p in PEERS if not given.programs or p in given.programs]
    if given.built:
        built = {name: given.built.resolve() / f"measure_{name}" for name in wanted}
    else:
        built = build_all(nvcc, wanted, folder, given.include, given.arch)
        print(f"compiled in {time.monotonic() - began:.0f} s")

    recorder = Recorder(folder / "results.jsonl", given.to, describe_machine(nvcc))
    failed = [name for name, program in built.items() if program is None]
    # The quick ones first: PyTorch compiles for minutes, and where time is short its last rows are what is missing.
    turns = [(n, [str(built[n])]) for n in wanted if built[n]]
    turns += [(p, [sys.executable, str(HERE / "peers.py"), p]) for p in peers]
    try:
        for k, (name, command) in enumerate(turns):
            left = given.limit - (time.monotonic() - began)
            if left < 5:
                print(f"{name}: no time left")
                failed.append(name)
                continue
            start = time.monotonic()
            # Later ones keep 10 seconds each.
            status = run_program(command, recorder, max(5, left - 10 * (len(turns) - k - 1)))
            print(f"{name}: {time.monotonic() - start:.0f} s" +
                  (", stopped: its time was up" if status is None else f", status {status}" if status else ""))
            if status == 77:
                print("skipped: the CUDA runtime finds no GPU")
                return 0
            if status != 0:
                failed.append(name)
            recorder.write()
        recorder.done = not failed
    finally:
        if recorder.results:
            recorder.write()
    text = (given.to / "gpu.md").read_text() if recorder.results else ""
    print(text[text.find("* ceilings"):text.find("\n\n")])
    for line in text.splitlines():
        if line.startswith("| ") and "| missed |" in line:
            print("missed:", line)
    print(f"{given.to / 'gpu.md'}: {len(recorder.results)} results in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


# ---- the check of this file ------------------------------------------------------------------------------------------


def self_check():
    checks = []

    def same(what, got, expected):
        checks.append(got == expected)
        if got != expected:
            print(f"FAIL {what}: {got!r}, not {expected!r}")

    def line(family, name, who, us, shape="s", kind="float32", size=1e8, moved=8e8, flops=0, **more):
        return json.dumps({"family": family, "row": name, "shape": shape, "type": kind, "size": size, "bytes": moved,
                           "flops": flops, "who": who, "us": us, "low": us, "high": us, "error": 1e-7, "note": "", **more})

    lines = [line("ceiling", "device-to-device copy", "copy", 200.0), line("ceiling", "device-to-device copy", "hand", 190.0),
             line("ceiling", "matrix product", "cublaslt", 100.0, flops=5e9, moved=0),
             line("maps", "exp", "onto", 200.0, note="1 kernel"), line("maps", "exp", "hand", 180.0),
             line("maps", "exp", "copy", 196.0), line("maps", "exp", "jax", 150.0),
             line("maps", "tanh", "onto", 200.0), line("maps", "tanh", "copy", 150.0),
             line("maps", "small", "onto", 3.0, size=1e5), line("maps", "small", "copy", 1.0, size=1e5),
             line("matmul", "layer", "onto", 100.0, moved=0, flops=4e9), line("matmul", "layer", "cublaslt", 99.0),
             line("tiny", "100", "onto", 100.0, size=8), line("tiny", "100", "torch", 600.0, size=8),
             line("headline", "A^10 + B^10", "onto", 100.0), line("headline", "A^10 + B^10", "hand", 96.0),
             json.dumps({"family": "rows", "row": "softmax", "shape": "4096x1024", "type": "float32", "size": 4194304,
                         "who": "onto", "skip": "the result\tis wrong | by 1"}),
             line("rows", "softmax", "copy", 10.0, shape="4096x1024", size=4194304)]
    noise = ["", "warming up", "{not json}", '{"family": "maps"}', line("maps", "exp", "hand", 0.0), "[1]"]
    results = [r for r in map(parse, lines + noise) if r]
    same("what is read", len(results), len(lines))
    rows = grouped(results)
    bandwidth, rate = ceilings(rows)
    same("the best copy", round(bandwidth), round(8e8 / 190e-6))
    same("the best product", {k: round(v) for k, v in rate.items()}, {"float32": round(5e9 / 100e-6)})
    exp = rows["maps", "exp", "s", "float32"]
    same("a ratio", ratio(exp, ["copy"]), 0.98)
    same("the quickest counts", ratio(exp, ["copy", "hand"]), 0.9)
    same("a ratio to nobody", ratio(exp, ["cupy"]), None)
    verdicts = {key[1]: verdict(key, all_of) for key, all_of in rows.items()}
    same("verdicts", {k: verdicts[k] for k in ("exp", "tanh", "small", "layer", "100", "A^10 + B^10", "softmax")},
         {"exp": "met", "tanh": "missed", "small": "", "layer": "met", "100": "met", "A^10 + B^10": "missed",
          "softmax": "not measured"})
    same("of the ceiling, by bytes", round(of_ceiling(("maps", "exp", "s", "float32"), exp["onto"], bandwidth, rate), 3), 0.95)
    layer = rows["matmul", "layer", "s", "float32"]["onto"]
    same("of the ceiling, by operations", round(of_ceiling(("matmul", "layer", "s", "float32"), layer, bandwidth, rate), 3), 0.8)
    table = tsv(results).splitlines()
    same("lines of the table", len(table), len(results) + 1)
    same("cells of each", {t.count("\t") for t in table}, {len(COLUMNS) - 1})
    text = markdown(results, ["GPU: one"], False)
    same("targets are counted", "* targets: 3 met, 2 missed" in text, True)
    same("a stop is said", "Not all of it ran" in text, True)
    same("a slower row is named", "* exp, s, float32: jax takes 0.75 of onto's time" in text, True)
    same("what was skipped is named", "softmax, 4096x1024, float32, onto: the result" in text, True)
    exp_line = next((t for t in text.splitlines() if t.startswith("| exp |")), "")
    same("a row of the document", exp_line,
         "| exp | s | float32 | 200.00 µs | 0.98 | 0.90 | 0.95 | 0.75 | met | 1 kernel |")
    same("nothing at all", markdown([], [], True).count("| exp"), 0)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "log", Path(folder) / "to", [])
        script = f"import time\nprint({lines[0]!r}, flush=True)\nprint(1, flush=True)\ntime.sleep(60)"
        status = run_program([sys.executable, "-c", script], recorder, 2, True)
        recorder.write()
        same("a program that takes too long", status, None)
        same("what it said before", len(recorder.results), 1)
        same("is written", (Path(folder) / "to" / "gpu.tsv").read_text().count("\n"), 2)
        same("and kept", (Path(folder) / "log").read_text().strip(), lines[0])
        same("a status", run_program([sys.executable, "-c", "raise SystemExit(77)"], recorder, 20), 77)
    print(f"measure.py: {sum(checks)} passed, {len(checks) - sum(checks)} failed, 0 skipped")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
