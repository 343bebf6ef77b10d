#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures the running time of onto beside hand-written loops and other libraries, and makes the table.

Runs bench_run for each case, so that the repetitions of all its sizes and peers are interleaved at random. `--write` records medians in docs/measurements/run_time.tsv (a filter replaces only its rows) and
makes run_time.md of it; `--check` compares onto with its hand-written twins and fails where the ratio has fallen by more
than a tenth; `--sweep` measures over sizes, for the plots.
"""
import argparse
import datetime
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "docs" / "measurements"
TABLE, SWEEP = OUT / "run_time.tsv", OUT / "run_time_sweep.tsv"
HEADS = ["case", "size", "threads", "peer", "median_us", "low_us", "high_us", "repetitions", "bytes", "flops"]
CASES = ["triad", "chain", "exp", "tanh", "gelu", "rowadd", "transposed", "sliced", "sqdiff", "argmax", "softmax",
         "layernorm", "matmul", "matmul_tn", "matmul_nt", "matmul_tt", "matmul_bias_relu", "headline", "perceptron",
         "tiny_triad", "tiny_matmul", "limit_triad", "limit_fma"]
SWEPT = ["triad", "chain", "sqdiff", "softmax", "matmul", "limit_triad", "limit_fma"]
MEANING = {
    "triad": "`a + 1.5f * b`",
    "chain": "`sqrt(a*a + b*b) * c - d / (a+1) + maximum(b, 0)`",
    "exp": "`exp(a)`",
    "tanh": "`tanh(a)`",
    "gelu": "`0.5f * a * (tanh(0.7978846f * (a + 0.044715f*a*a*a)) + 1)`",
    "rowadd": "`relu(x + row)`, a matrix and a row",
    "transposed": "`x + transpose(y)`, square matrices",
    "sliced": "`slice<range<>, range<0, to_end, 2>>(x) + y`, every second column",
    "sqdiff": "`sum(square(a - b))`",
    "argmax": "`argmax(a)`",
    "softmax": "`softmax(x)` over rows",
    "layernorm": "layer normalization of rows with scale and shift, written with `mean`",
    "matmul": "`matmul(x, y)`, square",
    "matmul_tn": "`matmul(transpose(x), y)`",
    "matmul_nt": "`matmul(x, transpose(y))`",
    "matmul_tt": "`matmul(transpose(x), transpose(y))`",
    "matmul_bias_relu": "`relu(matmul(x, y) + row)`",
    "headline": "`A^10 + B^10`, 18 products",
    "perceptron": "layers 784, 512, 512, 10 with bias and relu, softmax at the end; a batch of 256",
    "tiny_triad": "`a + 1.5f * b`, `tensor<float, 8>`",
    "tiny_matmul": "a product of four 4 x 4 matrices of known extents",
}
# Those whose threads are OpenMP's. Each is bound to its core: waking on the core of the one that waits costs milliseconds.
BOUND = ("hand", "limit", "xtensor", "armadillo", "torch", "onednn", "blis")
THREADS = len(os.sched_getaffinity(0))
PRODUCTS = ("matmul", "headline", "perceptron")


def fail(text):
    """Ends the program with a sentence."""
    sys.exit(f"measure.py: {text}")


def core_type():
    """Which kernels OpenBLAS is asked for: those of the CPU's vectors, since old releases do not know new CPUs."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return None
    if "avx512f" in flags:
        return "SkylakeX"
    return "Haswell" if "avx2" in flags else None


def run(program, wanted, arguments, mode="table", environment=None):
    """Results of the benchmarks that the regular expression `wanted` finds: {(case, size, threads, peer): times}, and what the
    program says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        env = dict(os.environ, BENCH_MODE=mode, BENCH_FILTER=wanted, BENCH_MIN_TIME=str(arguments.min_time), BENCH_THREADS=str(THREADS),
                   BENCH_REPETITIONS=str(arguments.repetitions))
        if core_type() and not arguments.as_it_comes:
            env.setdefault("OPENBLAS_CORETYPE", core_type())
        env.update(environment or {})
        done = subprocess.run([program, "--benchmark_enable_random_interleaving=true", f"--benchmark_out={out}",
                               "--benchmark_out_format=json"], env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            fail(f"bench_run ended with status {done.returncode}: {done.stderr[-2000:]}")
        text = out.read_text(encoding="utf-8") if out.exists() else ""
    if not text.strip():
        return {}, {}
    data = json.loads(text)
    times = {}
    for b in data["benchmarks"]:
        if b.get("run_type") != "iteration":
            continue
        key = tuple(b["name"].split("/")[:4])
        entry = times.setdefault(key, {"us": [], "bytes": b["bytes"], "flops": b["flops"]})
        entry["us"].append(b["real_time"])
    return times, data["context"]


def row_of(key, entry):
    """A line of the data file."""
    us = sorted(entry["us"])
    quarter = len(us) // 4
    return dict(zip(HEADS, [*key, f"{statistics.median(us):.6g}", f"{us[quarter]:.6g}", f"{us[-1 - quarter]:.6g}",
                            str(len(us)), f"{entry['bytes']:.6g}", f"{entry['flops']:.6g}"]))


def key_of(row):
    """What identifies a line."""
    return tuple(row[h] for h in HEADS[:4])


def read(path):
    """The lines of a data file, and the remarks at its head."""
    rows, remarks = {}, {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                name, _, value = line[2:].partition(": ")
                remarks[name] = value
            elif not line.startswith("case\t"):
                row = dict(zip(HEADS, line.split("\t")))
                rows[key_of(row)] = row
    return rows, remarks


def order(key):
    """Rows as in CASES, sizes as numbers."""
    case, size, threads, peer = key
    first = size.split("x")[0]
    peers = ["onto", "hand", "limit"]
    return (CASES.index(case), float(first), int(threads), peers.index(peer) if peer in peers else 9, peer)


def write(path, rows, remarks):
    """The data file."""
    lines = [f"# {name}: {value}" for name, value in remarks.items()] + ["\t".join(HEADS)]
    lines += ["\t".join(rows[k][h] for h in HEADS) for k in sorted(rows, key=order)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def machine(context):
    """What was measured on what."""
    def lscpu(name):
        found = re.search(rf"^{name}:\s*(.*)$", text, re.M)
        return found[1] if found else "?"
    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, check=True,
                              env=dict(os.environ, LC_ALL="C")).stdout
    except (OSError, subprocess.CalledProcessError):
        text = ""
    vectors = "AVX-512" if "avx512f" in text else "AVX2" if "avx2" in text else "no AVX2"
    remarks = {
        "machine": f"{lscpu('Model name')} (family {lscpu('CPU family')}, model {lscpu('Model')}, {vectors}), "
                   f"{lscpu(r'CPU.s.')} processors, L1d {lscpu('L1d cache')}, L2 {lscpu('L2 cache')}, L3 {lscpu('L3 cache')}",
        "date": datetime.date.today().isoformat(),
    }
    remarks.update({name.removeprefix("version_"): value for name, value in sorted(context.items())
                    if name.startswith("version_")})
    return remarks


def gather(times, found):
    """Adds what was found to what there was."""
    for key, entry in found.items():
        if key in times:
            times[key]["us"] += entry["us"]
        else:
            times[key] = entry


def measure(arguments, cases, pattern, mode="table"):
    """All benchmarks of the cases that fit the pattern. On one thread all peers are in one process, interleaved at random. On
    several each has processes of its own, in rounds of random order: threads of one library that still wait busily would take
    the cores from another's."""
    times, context = {}, {}
    for case in cases:
        fits = f"(?=.*(?:{pattern}))" if pattern else ""
        found, said = run(arguments.program, f"^{fits}{case}/[^/]*/1/", arguments, mode)
        context = said or context
        peers = names(arguments, f"^{fits}{case}/[^/]*/(?!1/)", mode)
        rounds = min(3, arguments.repetitions)
        for turn in range(rounds):
            random.shuffle(peers)
            for peer in peers:
                here = {"BENCH_REPETITIONS": str(math.ceil(arguments.repetitions / rounds)), "BENCH_CHECK": str(int(turn == 0))}
                # A new process' threads take some ten milliseconds to find processors of their own.
                here["BENCH_MIN_TIME"] = str(max(arguments.min_time, 0.1 if is_product(case) else 0.05))
                if peer in BOUND:
                    here["OMP_PROC_BIND"] = "true"
                gather(found, run(arguments.program, f"^{fits}{case}/[^/]*/(?!1/)[0-9]*/{peer}$", arguments, mode, here)[0])
        times.update(found)
        if found:
            print(f"measured {case}: {len(found)} benchmarks", file=sys.stderr, flush=True)
    if not times:
        fail("no benchmark fits; names are case/size/threads/peer")
    return times, context


def names(arguments, wanted, mode):
    """The peers of the benchmarks that fit."""
    done = subprocess.run([arguments.program, "--benchmark_list_tests=true"], capture_output=True, text=True, check=False,
                          env=dict(os.environ, BENCH_MODE=mode, BENCH_FILTER=wanted))
    return sorted({line.split("/")[3] for line in done.stdout.splitlines() if line.count("/") >= 3})


# ---- the table -------------------------------------------------------------------------------------------------------


def is_product(case):
    """Whether the rate of a case is counted in operations."""
    return case.startswith(PRODUCTS)


def rate(row):
    """A rate with its unit."""
    us = float(row["median_us"])
    if row["case"].startswith("tiny"):
        return ""
    if is_product(row["case"]):
        return f"{float(row['flops']) / us / 1e3:.0f} GF/s"
    return f"{float(row['bytes']) / us / 1e3:.3g} GB/s"


def duration(us):
    """A time with its unit."""
    if us < 1:
        return f"{us * 1e3:.3g} ns"
    return f"{us:.3g} µs" if us < 1000 else f"{us / 1e3:.3g} ms"


def verdict(case, size, ratios):
    """Whether a row's targets are met."""
    missed = []
    hand = ratios.get("hand")
    libraries = {p: r for p, r in ratios.items() if p != "hand"}
    best = min(libraries, key=libraries.get) if libraries else None
    if is_product(case):
        if best and libraries[best] < 0.98:
            missed.append(f"{best} {libraries[best]:.2f}")
        return missed
    large = "x" in size or float(size) >= 1e5
    if hand and large and not case.startswith("tiny") and hand < 0.95:
        missed.append(f"hand {hand:.2f}")
    # Below 0.98: two medians of one program differ by so much.
    if best and libraries[best] < 0.98:
        missed.append(f"{best} {libraries[best]:.2f}")
    return missed


def groups(rows):
    """{(case, size, threads): {peer: row}} in order."""
    found = {}
    for key in sorted(rows, key=order):
        if not key[0].startswith("limit"):
            found.setdefault(key[:3], {})[key[3]] = rows[key]
    return found


def plain_ratios():
    """{(case, size): the time with -O3 -march=native divided by that with -O2 alone}, of one thread."""
    path = OUT / "run_time_flags.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {(c[0], c[1]): c[4] for c in cells if len(c) == 5 and c[0] in CASES}


def table(rows):
    """The table in Markdown, and how many rows meet their targets."""
    plain = plain_ratios()
    peers = sorted({k[3] for k in rows} - {"onto", "hand", "limit"})
    heads = ["case", "size", "threads", "onto", "`-O2`", "rate", "hand", "best library", *peers, "target"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|---:|---:|---:|---:|---:|---|" + "---:|" * len(peers) + "---|"]
    met = total = 0
    for (case, size, threads), by_peer in groups(rows).items():
        if "onto" not in by_peer:
            continue
        onto = float(by_peer["onto"]["median_us"])
        ratios = {p: float(r["median_us"]) / onto for p, r in by_peer.items() if p != "onto"}
        libraries = {p: r for p, r in ratios.items() if p != "hand"}
        missed = verdict(case, size, ratios)
        total += 1
        met += not missed
        best = min(libraries, key=libraries.get) if libraries else None
        cells = [case, size, threads, duration(onto), plain.get((case, size), "") if threads == "1" else "", rate(by_peer["onto"]), f"{ratios['hand']:.2f}" if "hand" in ratios else "",
                 f"{best} {libraries[best]:.2f}" if best else "",
                 *[f"{ratios[p]:.3g}" if p in ratios else "" for p in peers], "met" if not missed else ", ".join(missed)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines), met, total


TEXT = """<!-- SPDX-License-Identifier: BSL-1.0 -->
# Running time

Machine: {machine}. Measured on {date}; written by `benchmarks/run/measure.py --write` (`./run bench --write`) from
[run_time.tsv](run_time.tsv), which has the medians in microseconds, their quartiles, and the number of repetitions.

float32. Times are medians of repetitions that are interleaved at random: on one thread in one process for each case; on several in a process for
each library, in rounds, so that threads of one that still wait busily do not take the cores from another. **Ratios are the other's time
divided by onto's: above 1 onto is faster.** "hand" is the same work as loops written by hand (`benchmarks/run/hand.cpp`: vectors, several
accumulators, stores past the cache, OpenMP), with everything allocated before. onto is a prepared program that is repeated; its result
is a tensor of its own every time. The rate counts the bytes that have to be read and written at least, or the operations of the
products. Before it is timed, each peer's result is compared with the hand-written one's, a sum with
one in double: of 1e8 squares onto loses nothing, Eigen less than 1e-4, the loop by hand 8e-4, torch 6e-3; Armadillo 0.12 and xtensor 0.28,
which are left out there.

Targets: 0.95 of "hand" for maps, reductions and rows from 1e5 elements on; no library faster on any row; products and
`headline` 0.98 of the best library. The column says "met", or who is faster and by which ratio; libraries count from 0.98 down, since medians of one
program differ by that much.
[What keeps rows from their targets](run_time_misses.md) is told by itself. The column `-O2` is what share of its speed onto has in a program
compiled with `-O2` and nothing else, [measured by itself](run_time_flags.md).

All peers are compiled with g++ `-O3 -march=native -DNDEBUG` and used as their documents say: results go into memory that
is given to them. What they cannot help: Armadillo, torch and xtensor make temporaries where a step has no fused function.
{core}

{versions}

**{met} of {total} rows meet their targets.**

{table}

| case | |
|---|---|
{meanings}
"""


def report(rows, remarks):
    """docs/measurements/run_time.md."""
    text, met, total = table(rows)
    core = "Its kernels are those that OpenBLAS chose by itself."
    if remarks.get("OPENBLAS_CORETYPE"):
        core = (f"OpenBLAS, which Armadillo and torch use too, is asked for its best kernels with `OPENBLAS_CORETYPE={remarks['OPENBLAS_CORETYPE']}`."
                + (f" By itself it takes others: {remarks['as it comes']}." if "as it comes" in remarks else ""))
    known = ("machine", "date", "OPENBLAS_CORETYPE", "as it comes")
    versions = "\n".join(f"* {name}: {value}" for name, value in remarks.items() if name not in known)
    meanings = "\n".join(f"| {case} | {meaning} |" for case, meaning in MEANING.items() if any(k[0] == case for k in rows))
    return TEXT.format(machine=remarks.get("machine", "?"), date=remarks.get("date", "?"), core=core, versions=versions,
                       met=met, total=total, table=text, meanings=meanings)


def as_it_comes(arguments):
    """What OpenBLAS does where nobody tells it which kernels to take."""
    if not core_type():
        return None
    found, context = run(arguments.program, "^matmul/1024/1/(onto|openblas)", arguments,
                         environment={"OPENBLAS_CORETYPE": ""})
    kernels = context.get("version_openblas", "").rpartition("kernels: ")[2]
    if not kernels or not found:
        return None
    said = {k[3]: duration(statistics.median(e["us"])) for k, e in found.items()}
    return f"{kernels} kernels, with which a product of 1024 takes {said.get('openblas')} on one thread, and onto's {said.get('onto')}"


# ---- kept ------------------------------------------------------------------------------------------------------------


def ratios_of(times):
    """{(case, size, threads): the hand-written loop's time divided by onto's}"""
    medians = {k: statistics.median(e["us"]) for k, e in times.items()}
    return {k[:3]: medians[(*k[:3], "hand")] / m for k, m in medians.items()
            if k[3] == "onto" and (*k[:3], "hand") in medians}


def check(arguments):
    """Compares with what is recorded."""
    recorded, remarks = read(TABLE)
    wanted = ratios_of({k: {"us": [float(r["median_us"])]} for k, r in recorded.items()})
    if not wanted:
        fail(f"{TABLE.relative_to(ROOT)} has no ratios to compare with; record some with --write")
    here = machine({})
    if here["machine"] != remarks.get("machine"):
        print(f"measure.py: recorded on another machine ({remarks.get('machine')}); a ratio may differ for that alone")
    pattern = arguments.filter or "/(1e5|64x1024|256|512|256x784|8|4x4)/1/"
    cases = [c for c in CASES if not c.startswith("limit")]
    found = ratios_of(measure(arguments, cases, f"(?:{pattern}).*/(onto|hand)$|(?:{pattern})(onto|hand)$")[0])
    for attempt in range(3):
        fallen = {k: r for k, r in found.items() if k in wanted and r < 0.9 * wanted[k]}
        if not fallen or attempt == 2:
            break
        print(f"measure.py: once more, to be sure: {', '.join('/'.join(k) for k in fallen)}")
        again = "|".join("/".join(map(re.escape, k)) + "/(onto|hand)$" for k in fallen)
        for key, ratio in ratios_of(measure(arguments, sorted({k[0] for k in fallen}), again)[0]).items():
            found[key] = max(found[key], ratio)
    compared = [k for k in found if k in wanted]
    for key in sorted(compared, key=lambda k: order((*k, ""))):
        mark = "FAIL" if key in fallen else "ok  "
        print(f"{mark} {'/'.join(key)}: {found[key]:.2f} of the hand-written loop, recorded {wanted[key]:.2f}")
    print(f"bench: {len(compared) - len(fallen)} passed, {len(fallen)} failed, {len(found) - len(compared)} skipped")
    if fallen:
        names = ", ".join(f"{'/'.join(k)} ({wanted[k]:.2f} to {r:.2f})" for k, r in fallen.items())
        fail(f"slower than it was beside its hand-written twin, by more than a tenth: {names}. Find out why, or record the "
             "new ratio with --write --filter")


# ---- flags -----------------------------------------------------------------------------------------------------------

FLAGS_TEXT = """<!-- SPDX-License-Identifier: BSL-1.0 -->
# Running time and the compiler's flags

Machine: {machine}. Measured on {date}; written by `./run bench --flags --write`.

onto's rows of [running time](run_time.md) on one thread, from two programs that run in turns: one compiled with g++ `-O3 -march=native -DNDEBUG -fno-math-errno`, one
with `-O2` and nothing else, which chooses its kernels when it starts (ADR 0033). The least times, since other work on the
machine only adds; the ratio is the time with `-O3 -march=native` divided by that with `-O2`: 1 is no difference. Neither has `-ffast-math`. The target is 0.95 at least; {met} of {total} rows meet it.

| case | size | `-O3 -march=native` | `-O2` | ratio |
|---|---|---:|---:|---:|
{rows}
"""


def flags(arguments):
    """onto compiled with -O2 alone beside onto compiled with -O3 -march=native, in turns."""
    programs = {"-O3": arguments.program, "-O2": f"{arguments.program}_O2"}
    if not Path(programs["-O2"]).exists():
        fail(f"{programs['-O2']} is not there; ./run bench --flags builds it")
    wanted = "^(?!limit).*/(8|4x4|1e3|1e5|1e7|64x1024|4096x1024|64|256|512|256x784)/1/onto$"
    if arguments.filter:
        wanted = f"^(?=.*(?:{arguments.filter})).*/1/onto$"
    rounds, found = 15, {name: {} for name in programs}
    arguments.repetitions = math.ceil(arguments.repetitions / 5)
    for case in [c for c in CASES if not c.startswith("limit")]:
        for turn in range(rounds):
            for name, program in programs.items():
                gather(found[name], run(program, f"^(?={case}/)(?={wanted[1:]})", arguments,
                                        environment={"BENCH_CHECK": str(int(turn == 0))})[0])
    lines, met = [], 0
    for key in sorted(found["-O3"], key=order):
        o3, o2 = (min(found[name][key]["us"]) for name in programs)
        met += o3 / o2 >= 0.95
        lines.append(f"| {key[0]} | {key[1]} | {duration(o3)} | {duration(o2)} | {o3 / o2:.2f} |")
    text = FLAGS_TEXT.format(**machine({}), met=met, total=len(lines), rows="\n".join(lines))
    if arguments.write:
        (OUT / "run_time_flags.md").write_text(text, encoding="utf-8")
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/benchmarks/run/bench_run"), help="bench_run")
    parser.add_argument("--filter", default="", help="a regular expression over case/size/threads/peer")
    parser.add_argument("--quick", action="store_true", help="a few cases, three repetitions")
    parser.add_argument("--repetitions", type=int, default=9, help="of each benchmark; half of it for long ones")
    parser.add_argument("--min-time", type=float, default=0.015, help="seconds of a repetition at least")
    parser.add_argument("--write", action="store_true", help="record in docs/measurements")
    parser.add_argument("--report", action="store_true", help="only write run_time.md anew from run_time.tsv")
    parser.add_argument("--check", action="store_true", help="fail where a ratio to the hand-written twin has fallen")
    parser.add_argument("--sweep", action="store_true", help="over sizes, for the plots; writes run_time_sweep.tsv")
    parser.add_argument("--flags", action="store_true", help="onto compiled with -O2 alone beside -O3; with --write, run_time_flags.md")
    parser.add_argument("--as-it-comes", action="store_true", help="leave OPENBLAS_CORETYPE alone")
    arguments = parser.parse_args()
    if arguments.report:
        rows, remarks = read(TABLE)
        (OUT / "run_time.md").write_text(report(rows, remarks), encoding="utf-8")
        return
    if not Path(arguments.program).exists():
        fail(f"{arguments.program} is not there; ./run bench builds it")
    if arguments.check:
        check(arguments)
        return
    if arguments.flags:
        flags(arguments)
        return
    pattern, path = arguments.filter, SWEEP if arguments.sweep else TABLE
    if arguments.quick:
        arguments.repetitions = 3
        pattern = pattern or "^(triad|chain|tanh|sqdiff|softmax|matmul|headline|tiny_triad)/(1e5|64x1024|512|8)/"
    times, context = measure(arguments, SWEPT if arguments.sweep else CASES, pattern,
                             "sweep" if arguments.sweep else "table")
    fresh = {k: row_of(k, e) for k, e in times.items()}
    if arguments.sweep or arguments.write:
        rows, remarks = read(path)
        rows.update(fresh)
        old = remarks
        remarks = machine(context)
        if core_type() and not arguments.as_it_comes:
            remarks["OPENBLAS_CORETYPE"] = os.environ.get("OPENBLAS_CORETYPE", core_type())
        if not arguments.sweep:
            said = as_it_comes(arguments) if not pattern else old.get("as it comes")
            if said:
                remarks["as it comes"] = said
        write(path, rows, remarks)
        if not arguments.sweep:
            (OUT / "run_time.md").write_text(report(rows, remarks), encoding="utf-8")
    text, met, total = table(fresh)
    print(text)
    print(f"\nRatios are the other's time divided by onto's: above 1 onto is faster. {met} of {total} rows meet their targets.")


if __name__ == "__main__":
    main()
