#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes scans.tsv with NumPy (2 or later): its cumulative sums, products and extremes of a random array of each type. A line
# is the type of the operand, what is computed along which axis ("-": from its end), the result's type, and the values in
# row-major order. The numbers of floating-point types are powers of two, whose sums and products are exact. Sums and products
# of int32 are asked for in int32, as onto has them; NumPy's own type for them is the platform's long.
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SHAPE = (2, 3, 4)
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
SUMS = {"cumsum": np.cumsum, "cumprod": np.cumprod}  # choose the type of the result
EXTREMES = {"cummin": np.minimum.accumulate, "cummax": np.maximum.accumulate}
SCANS = ("cumsum 0", "cumsum -1", "cumsum 2", "cumprod -0", "cumprod 2", "cummin 0", "cummin -1", "cummax 1", "cummax -2")


def word(value):
    return repr(float(value)) if isinstance(value, np.floating) else str(int(value))


def operand(dtype, random):
    if dtype.kind == "f":
        x = random.choice([0.5, 1, 2, -1, -2], SHAPE).astype(dtype)
        x[0, 1, 2], x[1, 2, 0] = np.nan, -np.inf
        return x
    info = np.iinfo(dtype)
    x = random.integers(info.min, info.max, SHAPE, dtype=dtype, endpoint=True)
    x.flat[:3] = info.max, info.min, 1
    return x


def scan(operation, axis, x):
    along, backwards = int(axis.lstrip("-")), axis.startswith("-")
    if backwards:
        x = np.flip(x, along)
    if operation in EXTREMES:
        y = EXTREMES[operation](x, axis=along)
    else:
        y = SUMS[operation](x, axis=along, dtype=np.int32 if x.dtype == np.int32 else None)
    return np.flip(y, along) if backwards else y


lines = [f"# Written by scans.py with NumPy {np.__version__}."]
with np.errstate(all="ignore"):
    for seed, name in enumerate(TYPES):
        x = operand(np.dtype(name), np.random.default_rng(seed))
        for what in ("x", *SCANS):
            y = x if what == "x" else scan(*what.split(), x)
            lines.append("\t".join((name, what, y.dtype.name, " ".join(word(v) for v in y.flat))))
(HERE / "scans.tsv").write_text("\n".join(lines) + "\n")
