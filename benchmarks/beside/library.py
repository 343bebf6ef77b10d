# SPDX-License-Identifier: BSL-1.0
"""The side of a Python library in a comparison: its threads, numbers, and answers. What is asked, and how, is in answer.hpp."""
import os
import sys
import time


def take_threads(threads):
    """So many threads on as many processors. Before a library is loaded: each makes its threads by what it then sees."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", JAX_PLATFORMS="cpu", XLA_FLAGS="")


def take_gpu():
    """The first GPU, of whose memory JAX takes no more than it needs."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", XLA_PYTHON_CLIENT_PREALLOCATE="false")


def numbers(shape, seed, scale=1.0, offset=0.0):
    """The same numbers as in answer.hpp."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    k = np.arange(int(np.prod(shape)), dtype=np.int64)
    n = ((k * 37 + seed * 101 + (k // 101) * 13) % 1009).astype(np.float64)
    return ((n / 1009 - 0.5) * scale + offset).astype(np.float32).reshape(shape)


def memory_of_process(which):
    """Bytes of this process by a line of /proc/self/status."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next((1024 * int(line.split()[1]) for line in status if line.startswith(which + ":")), 0)


def answer(table, version):
    """Answers until nobody asks any more. `table`: {row: function that makes (run, check)}."""
    made = {}

    def row(name):
        if name not in made:
            made[name] = table[name]()
        return made[name]

    print(version, flush=True)
    for line in sys.stdin:
        what, _, rest = line.rstrip("\n").partition(" ")
        name, _, runs = rest.partition("\t")
        if name not in table:
            print("none", flush=True)
        elif what == "check":
            print(repr(float(row(name)[1]())), flush=True)
        elif what == "memory":
            before = memory_of_process("VmRSS")
            run = row(name)[0]
            with open("/proc/self/clear_refs", "w", encoding="utf-8") as peak:
                peak.write("5")  # VmHWM is counted anew
            for _ in range(int(runs)):
                run()
            print(memory_of_process("VmHWM") - before, flush=True)
        else:
            run = row(name)[0]
            start, worked = time.perf_counter(), time.process_time()
            for _ in range(int(runs)):
                run()
            taken, processors = time.perf_counter() - start, time.process_time() - worked
            print(taken / int(runs), processors / int(runs), flush=True)
