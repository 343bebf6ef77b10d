# SPDX-License-Identifier: BSL-1.0
# The rows of ./run bench python in one of Python's array libraries, each written as its documents say. Asked like the program of onto.cpp: a line
# `time ROW<tab>N` is answered with the seconds of a run, of N, and with those of the processors, `check ROW<tab>0` with the sum of the result.
"""usage: peers.py LIBRARY THREADS, where LIBRARY is numpy, jax, torch, torch.compile, tf.function or tf.Session"""
import os
import sys
import time

LIBRARY, THREADS = sys.argv[1], int(sys.argv[2])
# Before any of them is loaded: each makes its threads by what it then sees.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", JAX_PLATFORMS="cpu", XLA_FLAGS="")

import numpy as np  # noqa: E402


def numbers(shape, seed, scale=1.0, offset=0.0):
    """The same numbers as in onto.cpp."""
    k = np.arange(int(np.prod(shape)), dtype=np.int64)
    n = ((k * 37 + seed * 101 + (k // 101) * 13) % 1009).astype(np.float64)
    return ((n / 1009 - 0.5) * scale + offset).astype(np.float32).reshape(shape)


def matpow(matmul, m, n):
    """The guide's recursion."""
    return m if n == 1 else matmul(m, matpow(matmul, m, n - 1))


def rows(matmul, add_n, sqrt, maximum, relu, softmax):
    """{row: (function, operands)} in the words of a library."""
    def towers(a, b, c, d):
        return add_n(matmul(a, b), matmul(c, d))

    def powers(a, b):
        return add_n(matpow(matmul, a, 10), matpow(matmul, b, 10))

    def chain(a, b, c, d):
        return sqrt(a * a + b * b) * c - d / (a + 1) + maximum(b)

    def perceptron(x, w1, w2, w3, v1, v2, v3):
        return softmax(matmul(relu(matmul(relu(matmul(x, w1) + v1), w2) + v2), w3) + v3)

    small = [numbers(s, k + 1) for k, s in enumerate(((2, 3), (3, 2), (2, 3), (3, 2)))]
    out = {"a + 1.5 b/8": (lambda a, b: a + 1.5 * b, [numbers((8,), 1), numbers((8,), 2)]),
           "a b/2x3": (lambda a, b: matmul(a, b), small[:2]),
           "two towers/2x3": (towers, small)}
    for n in (512,):
        out[f"two towers/{n}"] = (towers, [numbers((n, n), k, 3.4 / n**0.5) for k in (1, 2, 3, 4)])
    for n in (100, 256, 1024):
        out[f"A^10 + B^10/{n}"] = (powers, [numbers((n, n), k, 3.4 / n**0.5) for k in (1, 2)])
    for n in (1000, 1000000):
        out[f"chain/{n}"] = (chain, [numbers((1, n), 1, 1, 0.5)] + [numbers((1, n), k) for k in (2, 3, 4)])
    out["softmax/4096x1024"] = (softmax, [numbers((4096, 1024), 1, 8)])
    out["perceptron/256x784"] = (perceptron, [numbers((256, 784), 1), numbers((784, 512), 2, 0.1), numbers((512, 512), 3, 0.1),
                                             numbers((512, 10), 4, 0.1), numbers((512,), 5), numbers((512,), 6), numbers((10,), 7)])
    return out


def numpy_rows():
    def softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    table = rows(np.matmul, np.add, np.sqrt, lambda x: np.maximum(x, 0), lambda x: np.maximum(x, 0), softmax)
    return {name: (lambda f=f, o=o: f(*o), np.asarray) for name, (f, o) in table.items()}, np.__version__


def jax_rows():
    import jax
    jnp = jax.numpy
    table = rows(jnp.matmul, jnp.add, jnp.sqrt, lambda x: jnp.maximum(x, 0), jax.nn.relu, jax.nn.softmax)

    def program(f, operands):
        jitted, there = jax.jit(f), [jnp.asarray(o) for o in operands]
        return lambda: jitted(*there).block_until_ready(), np.asarray

    return {name: program(*row) for name, row in table.items()}, jax.__version__


def torch_rows(compiled):
    import torch
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    table = rows(torch.matmul, torch.add, torch.sqrt, lambda x: torch.clamp(x, min=0), torch.relu, lambda x: torch.softmax(x, -1))

    def program(f, operands):
        if compiled:
            torch._dynamo.reset()
            f = torch.compile(f)
        there = [torch.from_numpy(o) for o in operands]
        return lambda: f(*there), lambda r: r.numpy()

    return {name: program(*row) for name, row in table.items()}, torch.__version__


def tensorflow_rows(in_session):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    table = rows(tf.matmul, lambda x, y: tf.add_n([x, y]), tf.sqrt, lambda x: tf.maximum(x, 0.0), tf.nn.relu, tf.nn.softmax)

    def function(f, operands):
        there = [tf.constant(o) for o in operands]
        graph = tf.function(f)
        return lambda: graph(*there), lambda r: r.numpy()

    def session(f, operands):
        v1 = tf.compat.v1
        with tf.Graph().as_default():
            symbols = [v1.placeholder(tf.float32, o.shape) for o in operands]
            result = f(*symbols)
            sess = v1.Session(config=v1.ConfigProto(intra_op_parallelism_threads=THREADS, inter_op_parallelism_threads=THREADS))
        feeds = dict(zip(symbols, operands))
        return lambda: sess.run(result, feeds), np.asarray

    return {name: (session if in_session else function)(*row) for name, row in table.items()}, tf.__version__


def main():
    """Answers until nobody asks any more."""
    table, version = {"numpy": numpy_rows, "jax": jax_rows, "torch": lambda: torch_rows(False), "torch.compile": lambda: torch_rows(True),
                      "tf.function": lambda: tensorflow_rows(False), "tf.Session": lambda: tensorflow_rows(True)}[LIBRARY]()
    print(version, flush=True)
    for line in sys.stdin:
        what, _, rest = line.rstrip("\n").partition(" ")
        name, _, runs = rest.partition("\t")
        if name not in table:
            print("none", flush=True)
            continue
        run, to_numpy = table[name]
        if what == "check":
            print(repr(float(np.asarray(to_numpy(run()), np.float64).sum())), flush=True)
            continue
        start, worked = time.perf_counter(), time.process_time()
        for _ in range(int(runs)):
            run()
        taken, processors = time.perf_counter() - start, time.process_time() - worked
        print(taken / int(runs), processors / int(runs), flush=True)


if __name__ == "__main__":
    main()
