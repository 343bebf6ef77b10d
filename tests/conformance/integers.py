#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes integers.tsv with NumPy (2 or later): what it computes from random arrays of each integer type. A line is the
# type of the operands, the name of an array or of an operation, the type of its result, and the values in row-major order.
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROWS, COLUMNS = 4, 6
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
OTHERS = ("float32", "float64", "float16", "bool")
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mod": np.remainder,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
lines = [f"# Written by integers.py with NumPy {np.__version__}."]


def word(value):
    return repr(float(value)) if isinstance(value, np.floating) else str(int(value))


def write(operands, name, array):
    array = np.asarray(array)
    lines.append("\t".join((operands, name, array.dtype.name, " ".join(word(v) for v in array.flat))))


def quotient(a, b):
    """Cut off towards 0: NumPy's own is rounded down."""
    return np.floor_divide(a - np.fmod(a, b), b)


def floats(dtype, info, random):
    """Numbers between those that convert into the integers' range, the edges and fractions among them."""
    low, high = dtype(max(info.min, float(np.finfo(dtype).min))), dtype(min(info.max, float(np.finfo(dtype).max)))
    if int(high) > info.max:
        high = np.nextafter(high, dtype(0))
    x = random.uniform(0, 1, (ROWS, COLUMNS)).astype(dtype)
    x = low * (1 - x) + high * x
    x.flat[:8] = [low, high, 0, -0.0, 0.75, 1.5, high / 2, low / 2]
    if info.min < 0:
        x.flat[8:11] = [-0.75, -1.5, -1]
    return np.clip(x, low, high)


with np.errstate(all="ignore"):
    for seed, name in enumerate(TYPES):
        random = np.random.default_rng(seed)
        dtype, info = np.dtype(name), np.iinfo(name)
        a, b = (random.integers(info.min, info.max, (ROWS, COLUMNS), dtype, endpoint=True) for _ in range(2))
        a.flat[:6] = [info.min, info.max, info.min, info.max, 0, info.max]
        b.flat[:6] = [info.max, info.max, dtype.type(-1) if info.min < 0 else 1, 0, 0, 1]
        a.flat[10], a[1, 5] = b.flat[10], a[1, 4]
        e = random.integers(0, 12, (ROWS, COLUMNS), dtype)
        for key, array in (("a", a), ("b", b), ("e", e)):
            write(name, key, array)
        for key, operation in BINARY.items():
            write(name, key, operation(a, b))
        write(name, "div", quotient(a, b))
        write(name, "pow", np.power(a, e))
        write(name, "neg", np.negative(a))
        write(name, "abs", np.abs(a))
        write(name, "sign", np.sign(a))
        write(name, "square", np.square(a))
        write(name, "relu", np.maximum(a, 0))
        write(name, "where", np.where(a < b, a, b))
        write(name, "scalar", a * 3 + 5)
        write(name, "iota", np.arange(20, dtype=dtype))
        for other in TYPES + OTHERS:
            write(name, "to_" + other, a.astype(other))
        for other in (np.float32, np.float64, np.float16):
            x = floats(other, info, random)
            write(name, x.dtype.name, x)
            write(name, "from_" + x.dtype.name, x.astype(name))
        # The one that does not become wider: docs/adr/0026-integers.md.
        kept = {"dtype": "int32"} if name == "int32" else {}
        for axis, of in ((None, ""), (0, "_0"), (1, "_1")):
            write(name, "sum" + of, a.sum(axis, **kept))
            write(name, "prod" + of, a.prod(axis, **kept))
            write(name, "min" + of, a.min(axis))
            write(name, "max" + of, a.max(axis))
            write(name, "argmin" + of, a.argmin(axis))
            write(name, "argmax" + of, a.argmax(axis))
        if info.bits > 16:
            write(name, "matmul", a @ b.T)

(HERE / "integers.tsv").write_text("\n".join(lines) + "\n")
