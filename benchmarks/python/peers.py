# SPDX-License-Identifier: BSL-1.0
# The rows of ./run bench python in one of Python's array libraries, each written as its documents say. benchmarks/beside asks.
"""usage: peers.py LIBRARY THREADS, where LIBRARY is numpy, jax, torch, torch.compile, tf.function or tf.Session"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "beside"))
from library import answer, numbers, take_threads  # noqa: E402

LIBRARY, THREADS = sys.argv[1], int(sys.argv[2])
take_threads(THREADS)

import numpy as np  # noqa: E402


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

    def row(run, to_numpy):
        return lambda: (run, lambda: np.asarray(to_numpy(run()), np.float64).sum())

    answer({name: row(*there) for name, there in table.items()}, version)


if __name__ == "__main__":
    main()
