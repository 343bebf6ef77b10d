#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Times words of an array library beside NumPy's and std::sort, on one thread of this machine's CPU.

Compiles and runs words.cpp beside this file, and the same words of NumPy, in turns, and shows the least of each as a table.
`--write` puts it into docs/measurements/words.md. Without NumPy there is nothing to compare with, and it says so."""
import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
try:
    import numpy as np
except ImportError:
    sys.exit("words: there is no NumPy here (python3 -m pip install numpy); nothing was measured")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIZE, ROWS = 1 << 20, 1 << 10
TEXT = """<!-- SPDX-License-Identifier: BSL-1.0 -->
# Words of an array library beside NumPy

Written by `benchmarks/words/measure.py --write`: nanoseconds an element on one thread, of the processor's time (other work ran on the machine), the least of several runs that took turns. `{compiler} -O2`, NumPy {numpy}, {machine}.

`v` and `d` are 1048576 random numbers, float and double, `n` as many int32 from 0 to 1023, `m` is `v` as 1024 x 1024. Results are new memory in both. Ratios over 1: onto is faster.

{table}

{standard}

NumPy sorts by vectors where it finds the instructions it wants; onto by the bytes of keys, which asks for none in particular. Here it found them (AVX-512), and sorts four to seven times as fast. On an EPYC with AVX2 it was two to four times: `sort(v)` 6.9 ns beside onto's 15.9, `sort(d)` 12.0 beside 32.3, `sort(n)` 3.2 beside 10.0, `unique` 3.8 beside 13.1.
On an EPYC with AVX-512 the same NumPy found none for long rows: `sort(v)` 31.6 beside 7.7, `sort(d)` 52.9 beside 13.9, `sort(n)` 26.1 beside 4.7, `unique` 26.7 beside 6.6.
"""


def arrays():
    random = np.random.default_rng(1)
    d = random.random(SIZE)
    v = d.astype(np.float32)
    return v, d, random.integers(0, 1024, SIZE, dtype=np.int32), v.reshape(ROWS, ROWS)


def top(x):
    i = np.argpartition(x, -10, axis=-1)[..., -10:]
    best = np.take_along_axis(x, i, -1)
    return -np.sort(-best, axis=-1)


def lse(x):
    m = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - m).sum(axis=1)) + m[:, 0]


v, d, n, m = arrays()
WORDS = {
    "sort(v)": lambda: np.sort(v),
    "sort(d)": lambda: np.sort(d),
    "sort(n)": lambda: np.sort(n),
    "sort(m)": lambda: np.sort(m),
    "sort<0>(m)": lambda: np.sort(m, 0),
    "argsort(v)": lambda: np.argsort(v, kind="stable"),
    "argsort(d)": lambda: np.argsort(d, kind="stable"),
    "argsort(m)": lambda: np.argsort(m, kind="stable"),
    "top_k<10>(v).values": lambda: top(v),
    "top_k<10>(m).values": lambda: top(m),
    "unique<1024>(n).counts": lambda: np.unique(n, return_counts=True),
    "cumsum(v)": lambda: np.cumsum(v),
    "cumsum<0>(m)": lambda: np.cumsum(m, 0),
    "take(v, n)": lambda: np.take(v, n),
    "bincount<1024>(n)": lambda: np.bincount(n, minlength=1024),
    "histogram<100>(v, 0, 1)": lambda: np.histogram(v, 100, (0, 1)),
    "flip<1>(m) + m": lambda: np.flip(m, 1) + m,
    "roll<1, 0>(m)": lambda: np.roll(m, 1, 0),
    "roll<1, 1>(m)": lambda: np.roll(m, 1, 1),
    "argmax<1>(m)": lambda: np.argmax(m, 1),
    "tile<1, 2>(slice<range<>, range<0, 512>>(m))": lambda: np.tile(m[:, :512], (1, 2)),
    "pad<padding<1>, padding<1>>(m)": lambda: np.pad(m, 1),
    "clip(m, 0.25, 0.75)": lambda: np.clip(m, 0.25, 0.75),
    "var<1>(m)": lambda: np.var(m, 1),
    "logsumexp<1>(m)": lambda: lse(m),
}


def numpy_time(f):
    least, begin, k = float("inf"), time.process_time(), 0
    while k < 3 or time.process_time() - begin < 0.5:
        start = time.process_time()
        f()
        least, k = min(least, time.process_time() - start), k + 1
    return least / SIZE * 1e9


def keep_least(times, word, t):
    times[word] = min(times.get(word, t), t)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/words.md")
    parser.add_argument("--turns", type=int, default=2, help="how often each is run")
    options = parser.parse_args()
    compiler = os.environ.get("CXX", "g++")
    ours, numpys = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "words"
        subprocess.run([compiler, "-std=c++20", "-O2", "-I", ROOT / "include", HERE / "words.cpp", "-o", program, "-pthread"], check=True)
        for _ in range(options.turns):
            for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
                word, t = line.split("\t")
                keep_least(ours, word, float(t))
            for word, f in WORDS.items():
                keep_least(numpys, word, numpy_time(f))
    missing = [w for w in WORDS if w not in ours]
    if missing:
        sys.exit(f"words: words.cpp does not time {missing}")
    table = ["| word | onto, ns | NumPy, ns | ratio |", "|---|---|---|---|"]
    table += [f"| `{w}` | {ours[w]:.2f} | {numpys[w]:.2f} | {numpys[w] / ours[w]:.2f} |" for w in WORDS]
    standard = ["| | ns |", "|---|---|"] + [f"| {w} | {t:.1f} |" for w, t in ours.items() if w not in WORDS]
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = next((line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")), model)
    version = subprocess.run([compiler, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True).stdout.strip()
    text = TEXT.format(compiler=f"{compiler} {version}", numpy=np.__version__, machine=model, table="\n".join(table), standard="\n".join(standard))
    print(text)
    if options.write:
        (ROOT / "docs/measurements/words.md").write_text(text)


if __name__ == "__main__":
    main()
