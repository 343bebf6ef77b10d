#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How the kernels of the GPU benchmarks go through memory, counted on an emulated GPU: ./run bench gpu --emulated

  access.py PROGRAM            writes docs/measurements/gpu_access.tsv and .md
  access.py PROGRAM --check    small matrices; fails where a row moves more than its target
  --from FILE                  counts that were taken before, instead of a run
"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = ROOT / "docs" / "measurements"
sys.path.insert(0, str(HERE.parent / "sass"))

SECTOR = 32
MULTIPROCESSORS = 132
NEEDED_UNDER_WAY = 26 << 10  # bytes on a multiprocessor: 4.3 TB/s and 800 ns of latency
THREADS, REGISTERS, SHARED = 2048, 65536, 227 << 10  # of a multiprocessor

# What a row may move for each byte that it needs, where that is not 1.05, and why.
ALLOWED = {
    "broadcast add and relu": (1.13, "a bias is asked for every few rows, and comes from L1; blocks that walk further were slower on an H100"),
    "slice, rows not aligned": (1.13, "where the input's rows and the result's begin differently within sectors, each warp's 128 bytes of one of them are in "
                                      "five sectors, not four; the fifth is its neighbour's too, and comes from L1"),
    "sums of rows by number": (2.8, "each warp asks for the numbers of the rows that it adds, once for each 32 columns, which come from L1; and the numbers are sorted"),
    "sums of short rows": (2.6, "where there are many a thread reads a row by itself, and its sectors are in L1 when it comes to their other elements: 8 times as fast on "
                           "an H100 as threads that read together"),
    "training step of digits": (1.5, "max pooling's gradient, whose neighbours look through windows in common, which come from L1; the rest was not looked into"),
}
# Of the small matrices of --check: few rows share a bias, or a few partial sums.
ALLOWED_SMALL = {"broadcast add and relu": 1.26, "sums of columns": 1.07}
# Rows of more bytes than shared memory holds, in pieces: each pass is a kernel of its own, and reads what the one before kept.
LONG = (2.6, "rows longer than shared memory, or too few of them: each fold ends a launch, and the next reads the row again, from L2 where all rows are "
             "of less than its 50 MB. Blocks that keep their pieces in shared memory would have to wait for each other within a launch; whether "
             "that is shorter than a launch was not measured")


def counted(program, arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout


def rows_of(text):
    """Rows by name and shape: what is needed, and their kernels. And what runs of prepared programs call."""
    rows, replays = {}, {}
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        r = json.loads(line)
        if "replay" in r:
            replays[r.pop("replay")] = r
        else:
            rows.setdefault((r["row"], r["shape"]), []).append(r)
    return rows, replays


def moved(kernels):
    return SECTOR * sum(k["load_sectors"] + k["store_sectors"] for k in kernels)


def ratio(kernels):
    return moved(kernels) / kernels[0]["needed"]


def limit(key, kernels):
    name, shape = key
    if name in ALLOWED:
        return ALLOWED[name]
    columns = int(shape.split("x")[-1])
    if (name.startswith(("softmax", "layer"))) and (columns * 4 > SHARED or int(shape.split("x")[0]) < MULTIPROCESSORS):
        return LONG
    return 1.05, ""


# The compiled kernel (benchmarks/sass/kernels.cu) that stands for a row's, by the start of its short name: where a row has
# none of its own, one of as many operands.
STANDS_FOR = {
    "coarsened_map_kernel": {"exp": "coarsened_map_kernel: float32 exp", "8 operations": "coarsened_map_kernel: float32 mul mul",
                        "a + b, half": "coarsened_map_kernel: float16", "concat of columns": "coarsened_map_kernel: unsigned long",
                        "": "coarsened_map_kernel: float32 add"},
    "tiled_map_kernel": {"transpose(a)": "tiled_map_kernel: unsigned int", "": "tiled_map_kernel: float32 add"},
    "reduce_kernel": {"max": "reduce_kernel: float32 max 4", "argmax": "reduce_kernel: float32 argmax 4",
                      "sum of (a - b)^2": "reduce_kernel: float32 sub square sum 4", "": "reduce_kernel: float32 sum 4"},
    "combine_kernel": {"": "combine_kernel: float sum"},
    "register_row_kernel": {"layer normalization": "register_row_kernel: float32 mean", "": "register_row_kernel: float32 fold"},
    "whole_row_kernel": {"layer normalization": "whole_row_kernel: float32 mean", "": "whole_row_kernel: float32 fold"},
    "split_row_kernel": {"layer normalization": "split_row_kernel: float32 mean", "": "split_row_kernel: float32 fold"},
}


def registers_and_loads():
    """Of each kernel that benchmarks/sass compiles: registers, and the most bytes that a thread loads before it uses one."""
    import gate  # pylint: disable=import-outside-toplevel
    nvcc, cuobjdump = gate.tool("nvcc", "NVCC", False), gate.tool("cuobjdump", "CUOBJDUMP", True)
    if not nvcc or not cuobjdump:
        return {}
    cubin = ROOT / "build" / "sass" / "kernels.cubin"
    cubin.parent.mkdir(parents=True, exist_ok=True)
    kernels = gate.compiled(nvcc, cubin)
    names = dict(zip(kernels, gate.demangled(list(kernels))))
    shortened = gate.Shortened()
    code = subprocess.run([cuobjdump, "-sass", str(cubin)], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in re.split(r"^\s*Function : ", code, flags=re.M)[1:]:
        mangled = part.split("\n", 1)[0].strip()
        if mangled not in kernels:
            continue
        found.setdefault(shortened(names[mangled]), (kernels[mangled]["registers"], bytes_ahead(part)))
    return found


def bytes_ahead(code):
    """The most bytes that a thread has asked for and not used yet, read from top to bottom."""
    pending, most = {}, 0
    for line in code.splitlines():
        m = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?);", line)
        if not m:
            continue
        operation, operands = m[1], m[2]
        if operation.startswith("LDG"):
            size = {"128": 16, "64": 8, "U8": 1, "S8": 1, "U16": 2, "S16": 2}
            bytes_ = next((b for s, b in size.items() if f".{s}" in operation), 4)
            register = re.match(r"R(\d+)", operands)
            if register:
                pending[int(register[1])] = bytes_
                most = max(most, sum(pending.values()))
            continue
        # What is written first is no use of it; but stores only read.
        read = operands if operation.startswith(("ST", "ISETP", "FSETP", "DSETP")) else operands.partition(",")[2]
        used = {int(r) for r in re.findall(r"\bR(\d+)\b", read)}
        pending = {first: n for first, n in pending.items() if not any(first <= r < first + max(1, n // 4) for r in used)}
    return most


def under_way(kernel, facts):
    """Bytes of loads under way on a multiprocessor, as registers, shared memory and the grid allow."""
    by_row = STANDS_FOR.get(kernel["kernel"], {})
    start = by_row.get(kernel["row"].removesuffix(" over the first axis"), by_row.get(""))
    found = next((f for name, f in facts.items() if start and name.startswith(start)), None)
    if not found:
        return None
    registers, ahead = found
    threads = kernel["threads"]
    blocks = min(THREADS // threads, REGISTERS // (-(-registers // 8) * 8 * threads),
                 SHARED // (kernel["shared"] + 1024) if kernel["shared"] else 32,
                 max(1, -(-(kernel["blocks"] // kernel["launches"]) // MULTIPROCESSORS)))
    return blocks * threads * ahead


def check(rows, replays):
    passed = failed = 0
    for key, kernels in rows.items():
        most = ALLOWED_SMALL.get(key[0]) or limit(key, kernels)[0]
        conflicts = sum(k["conflicts"] for k in kernels)
        wrong = []
        if ratio(kernels) > most:
            wrong.append(f"moves {ratio(kernels):.2f} times what it needs, at most {most}")
        if conflicts:
            wrong.append(f"{conflicts} bank conflicts")
        if wrong:
            failed += 1
            print(f"FAIL {key[0]}, {key[1]}: {'; '.join(wrong)}")
        else:
            passed += 1
    if not replays:
        failed += 1
        print("FAIL no replayed run was counted")
    print(f"gpu access: {passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def tsv(rows):
    lines = ["row\tshape\tneeded\tmoved\tratio\tconflicts\tlaunches\tblocks"]
    for (name, shape), kernels in rows.items():
        lines.append("\t".join(map(str, (name, shape, kernels[0]["needed"], moved(kernels), f"{ratio(kernels):.3f}",
                                         sum(k["conflicts"] for k in kernels), sum(k["launches"] for k in kernels),
                                         min(k["blocks"] // k["launches"] for k in kernels)))))
    return "\n".join(lines) + "\n"


PAGE = """<!-- SPDX-License-Identifier: BSL-1.0 -->
# How kernels go through memory

`./run bench gpu --emulated` writes this page. Every row of the GPU benchmarks runs once on an emulated GPU (ADR 0024), which counts, warp by warp and instruction by instruction, the
32-byte sectors that the threads ask for, and the passes of shared memory beyond those that the bytes need.

* **needed**: the bytes of what the row reads and writes, each once. **moved**: sectors times 32. **0.1**: the same ratio in version 0.1.
* **blocks**: of the launch with the fewest; one H100 or H200 has 132 multiprocessors.
* A **training step** is forward, backward and update; its products and convolutions are the libraries' and are not counted, neither in bytes nor in launches. What its own kernels need is by its plan.
* **under way**: KB of loads that a multiprocessor can have waiting at once, of the kernel with the fewest (those that join a few partial results aside): bytes that a thread of the compiled kernel loads before it uses one (nvcc 13, sm_90), times the threads that
  registers, shared memory and the grid let stand there. 26 are needed for full bandwidth.

**What this cannot tell**: time. Sectors are asked of L1: what is asked for twice may come from a cache the second time, and what is asked for once may still be late. Whether the loads are
issued when they could be, what the caches keep, launches' own time, and how the clock falls under load are for hardware to show (`hardware.md`).

{table}

## Rows that may move more

{allowed}

## Calls of the runtime in a replayed run of a prepared program

{replays}
"""


def page(rows, replays, facts, before):
    lines = ["| row | shape | needed, MB | moved | ratio | 0.1 | conflicts | launches | blocks | under way |", "|---|---|---|---|---|---|---|---|---|---|"]
    for key, kernels in rows.items():
        several = key[0].startswith("training step")  # kernels of many kinds
        most = max(k["loaded"] for k in kernels)  # what joins a few partial results is not on the way of the bytes
        ways = [w for w in (under_way(k, facts) for k in kernels if k["loaded"] > most / 20 and not several) if w is not None]
        lines.append("| " + " | ".join((
            key[0], key[1], f"{kernels[0]['needed'] / 1e6:.1f}", f"{moved(kernels) / 1e6:.1f}", f"{ratio(kernels):.2f}",
            before.get(key, ""), str(sum(k["conflicts"] for k in kernels)), str(sum(k["launches"] for k in kernels)),
            str(min(k["blocks"] // k["launches"] for k in kernels)), f"{min(ways) / 1024:.0f}" if ways else "")) + " |")
    allowed = [f"* {name}: up to {most}; {why}." for name, (most, why) in ALLOWED.items()] + [f"* Long or few rows: up to {LONG[0]}; {LONG[1]}."]
    calls = [f"* `{name}`: {', '.join(f'{n} {c}' for c, n in sorted(r.items()))}" for name, r in replays.items()]
    return PAGE.format(table="\n".join(lines), allowed="\n".join(allowed), replays="\n".join(calls))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--from", dest="source")
    given = parser.parse_args()
    text = Path(given.source).read_text() if given.source else counted(given.program, ["512"] if given.check else [])
    rows, replays = rows_of(text)
    if given.check:
        return check(rows, replays)
    before = {}
    old = PAGES / "gpu_access_0.1.tsv"
    if old.is_file():
        for line in old.read_text().splitlines()[1:]:
            cells = line.split("\t")
            before[cells[0], cells[1]] = f"{float(cells[4]):.2f}"
    (PAGES / "gpu_access.tsv").write_text(tsv(rows))
    (PAGES / "gpu_access.md").write_text(page(rows, replays, registers_and_loads(), before))
    return 0


if __name__ == "__main__":
    sys.exit(main())
