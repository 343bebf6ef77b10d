#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes words.tsv with NumPy (2 or later): what its functions make of random arrays. A line is the type of the operand, the
# word as a program of onto writes it, the type and shape of the result, and its values in row-major order. The test reads
# the words from its own text (tests/unit/session/words*.cpp): a word that stands in one of the two alone is an error.
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def word(value):
    return repr(float(value)) if isinstance(value, np.floating) else str(int(value))


def random_array(dtype, shape, random, special):
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        x = random.normal(size=shape).astype(dtype)
        if special:
            x.flat[1], x.flat[4] = np.nan, -np.inf
        return x
    info = np.iinfo(dtype)
    x = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    x.flat[:3] = info.max, info.min, 1
    return x


def moved(x, y):
    """Of every type: elements in other places."""
    return {
        "x": x,
        "y": y,
        "flip(x)": np.flip(x),
        "flip<0>(x)": np.flip(x, 0),
        "flip<-1>(x)": np.flip(x, -1),
        "slice<range<to_end, to_begin, -2>, range<1, 3>>(x)": x[::-2, 1:3],
        "slice<range<>, range<-2, 0, -2>>(x)": x[:, -2:0:-2],
        "broadcast_to<2, dyn, dyn>(x)": np.broadcast_to(x, (2, 3, 4)),
        "repeat<2, 0>(x)": np.repeat(x, 2, 0),
        "repeat<3, -1>(x)": np.repeat(x, 3, -1),
        "repeat<2>(x)": np.repeat(x, 2),
        "tile<2>(x)": np.tile(x, 2),
        "tile<2, 3>(x)": np.tile(x, (2, 3)),
        "tile<2, 1, 2>(x)": np.tile(x, (2, 1, 2)),
        "roll<1, 0>(x)": np.roll(x, 1, 0),
        "roll<-6, 1>(x)": np.roll(x, -6, 1),
        "roll<5>(x)": np.roll(x, 5),
        "stack(x, y)": np.stack((x, y)),
        "stack<-1>(x, y)": np.stack((x, y), -1),
        "get<1>(split<2, 1>(x))": np.split(x, 2, 1)[1],
        "get<2>(split<3>(x))": np.split(x, 3)[2],
        "pad<padding<1>>(x)": np.pad(x, ((1, 1), (0, 0))),
        "pad<padding<1, 2>, padding<0, 1>>(x, one)": np.pad(x, ((1, 2), (0, 1)), constant_values=1),
        "pad<padding<2, 0>, padding<1>>(x)": np.pad(x, ((2, 0), (1, 1))),
        "pad<padding<1>, padding<0, 2>, padding<2>>(stack(x, y), one)": np.pad(np.stack((x, y)), ((1, 1), (0, 2), (2, 2)), constant_values=1),
        "tril(x)": np.tril(x),
        "tril<-1>(stack(x, y))": np.tril(np.stack((x, y)), -1),
        "triu<1>(x)": np.triu(x, 1),
        "triu(x)": np.triu(x),
        "full_like(x, one)": np.full_like(x, 1),
        "eye<T, 3, 4, -1>()": np.eye(3, 4, -1, dtype=x.dtype),
    }


def clipped(x, y):
    """Of numbers."""
    return {
        "clip(x, one, 100)": np.clip(x, np.ones((), x.dtype), np.full((), 100, x.dtype)),
        "clip(x, minimum(x, y), y)": np.clip(x, np.minimum(x, y), y),
        "outer(x, slice<0, 1>(y))": np.outer(x, y[0:1]),
    }


def indexed(x):
    """Of integers."""
    return {"one_hot<5, double>(mod(x, 7))": (np.where(x == x, x % 7, 0)[..., None] == np.arange(5)).astype(np.float64)}


def computed(x, y):
    """Of floating point, in double."""
    a, b, t = x.astype(np.float64), y.astype(np.float64), x.dtype
    lse = lambda v, axis, keep=False: np.log(np.sum(np.exp(v), axis=axis, keepdims=keep))
    results = {
        "var(x)": np.var(a),
        "var<0>(x)": np.var(a, 0),
        "var<-1>(x, keep_extents)": np.var(a, -1, keepdims=True),
        "stddev(x)": np.std(a),
        "stddev<1>(x)": np.std(a, 1),
        "norm(x)": np.linalg.norm(a),
        "norm<0>(x, keep_extents)": np.linalg.norm(a, axis=0, keepdims=True),
        "logsumexp(x)": lse(a, None),
        "logsumexp<0>(x)": lse(a, 0),
        "logsumexp<1>(x, keep_extents)": lse(a, 1, True),
        "linspace<T, 7>(-1, 2)": np.linspace(-1, 2, 7),
        "linspace<T, 1>(3, 4)": np.linspace(3, 4, 1),
    }
    return {k: np.asarray(v).astype(t) for k, v in results.items()}


def multiplied(x, y):
    a, b, t = x.astype(np.float64), y.astype(np.float64), x.dtype
    rows, columns = np.ones(3), a[0]
    results = {
        "matmul(x, row(y))": a @ b[0],
        "matmul(row(transpose(x)), y)": a.T[0] @ b,
        "matmul(row(x), row(y))": a[0] @ b[0],
        "dot(row(x), row(y))": np.dot(a[0], b[0]),
        "dot(x, transpose(y))": np.dot(a, b.T),
        "matmul(stack(x, y), row(y))": np.stack((a, b)) @ b[0],
        "matmul(row(transpose(x)), stack(x, y))": a.T[0] @ np.stack((a, b)),
    }
    return {k: np.asarray(v).astype(t) for k, v in results.items()}


def by_number(x, y, n):
    """Of numbers `n` of elements, which are -2 to 2; those of segments are their absolute values."""
    added, replaced = x.copy(), x.copy()
    np.add.at(added, n, y)
    for k, i in enumerate(n):
        replaced[i] = y[k]
    total = np.zeros((3, 4), {"i": np.int64, "u": np.uint64}.get(x.dtype.kind, np.float64))
    np.add.at(total, np.abs(n), y)
    least, most = (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max) if x.dtype.kind in "iu" else (-np.inf, np.inf)
    greatest, smallest = np.full((3, 4), least, x.dtype), np.full((3, 4), most, x.dtype)
    np.maximum.at(greatest, np.abs(n), y)
    np.minimum.at(smallest, np.abs(n), y)
    started = x.copy()
    started[1:3, 2:4] = y[:2, :2]
    return {
        "x": x,
        "y": y,
        "n": n,
        "take<0>(x, n)": np.take(x, n, 0),
        "take<-1>(x, reshape<1, 3>(n))": np.take(x, n.reshape(1, 3), -1),
        "take(x, n)": np.take(x, n),
        "gather(x, n)": x[n],
        "embedding(transpose(x), n)": x.T[n],
        "take_along_axis<0>(x, expand_dims<1>(n))": np.take_along_axis(x, n[:, None], 0),
        "take_along_axis<1>(x, expand_dims<1>(n))": np.take_along_axis(x, n[:, None], 1),
        "scatter(x, n, y)": replaced,
        "scatter_add(x, n, y)": added,
        "segment_sum<3>(y, abs(n))": total if x.dtype.kind in "iu" else total.astype(x.dtype),
        "segment_max<3>(y, abs(n))": greatest,
        "segment_min<3>(y, abs(n))": smallest,
        "bincount<2>(n)": np.bincount(n[n >= 0], minlength=2)[:2],
        "searchsorted(row(x), y)": np.searchsorted(x[0], y),
        "searchsorted(row(x), x, right_side)": np.searchsorted(x[0], x, side="right"),
        "dynamic_slice<2, 2>(x, start)": x[1:3, 2:4],
        "update_slice(x, slice<range<0, 2>, range<0, 2>>(y), start)": started,
        "extent<1>(x)": np.int64(4),
    }


def ordered(x):
    """Of elements of which some are equal. Of a descending order NumPy has no word: equal elements keep their order, NaN is first."""
    down = lambda v, axis: v.shape[axis] - 1 - np.flip(np.argsort(np.flip(v, axis), axis, kind="stable"), axis)
    values, counts = np.unique(x, return_counts=True)
    room = 20 - values.size
    return {
        "x": x,
        "sort(x)": np.sort(x),
        "sort<0>(x, descending)": np.flip(np.sort(x, 0), 0),
        "argsort(x)": np.argsort(x, kind="stable"),
        "argsort<0>(x, descending)": down(x, 0),
        "top_k<3>(x).values": np.take_along_axis(x, down(x, 1)[:, :3], 1),
        "top_k<2, 0>(x).indices": down(x, 0)[:2],
        "unique<2>(x).values": values[:2],
        "unique<20>(x).values": np.concatenate((values, np.full(room, values[0]))),
        "unique<20>(x).counts": np.concatenate((counts, np.zeros(room, np.int64))),
        "unique<20>(x).found": np.int64(values.size),
    }


def quantiles(x, y):
    """Of floating point, in double; y has what is not finite."""
    parts = np.array([0, 0.125, 0.5, 0.8, 1])
    y = y.copy()
    y[0] = (np.inf, -np.inf, np.inf, np.inf)
    y[1, 2], y[2] = np.nan, (1, 4, 2, 2.5)
    results = {
        "median(x)": np.median(x.astype(np.float64)),
        "median<0>(x)": np.median(x.astype(np.float64), 0),
        "median<-1>(x, keep_extents)": np.median(x.astype(np.float64), -1, keepdims=True),
        "median(x, keep_extents)": np.median(x.astype(np.float64), keepdims=True),
        "quantile(x, 0.3)": np.quantile(x.astype(np.float64), 0.3),
        "quantile<1>(x, 0.9_c)": np.quantile(x.astype(np.float64), 0.9, 1),
        "quantile<0>(x, 1.0 / 3)": np.quantile(x.astype(np.float64), 1 / 3, 0),
        "quantile<1>(x, 0, keep_extents)": np.min(x.astype(np.float64), 1, keepdims=True),
        "quantile(x, q)": np.quantile(x.astype(np.float64), parts),
        "quantile<0>(x, q)": np.quantile(x.astype(np.float64), parts, 0),
        "quantile<1>(x, q)": np.quantile(x.astype(np.float64), parts, 1),
        "quantile<1>(x, q, keep_extents)": np.quantile(x.astype(np.float64), parts, 1, keepdims=True),
        "quantile(x, q, keep_extents)": np.quantile(x.astype(np.float64), parts, keepdims=True),
        "median<1>(y)": np.array([np.inf, np.nan, np.median(y[2].astype(np.float64))]),
        "median(y)": np.float64(np.nan),
    }
    return {"x": x, "y": y, "q": parts} | {k: np.asarray(v).astype(x.dtype) for k, v in results.items()}


def few_values(dtype, random):
    if dtype.kind == "b":
        return random.integers(0, 2, (3, 6)).astype(dtype)
    if dtype.kind == "f":
        return random.choice([1.5, -2, -np.inf, np.inf, np.nan, 0.25], (3, 6)).astype(dtype)
    info = np.iinfo(dtype)
    return random.choice([info.min, info.max, 1, 2, info.max // 2 + 1], (3, 6)).astype(dtype)


def summed(x, y):
    """Sums of products, of (3, 4), (3, 4) and (2, 3, 4)."""
    a, b, t = x.astype(np.float64), y.astype(np.float64), x.dtype
    s = np.stack((a, b))
    results = {f'einsum<"{text}">({of})': np.einsum(text, *(dict(x=a, y=b, s=s)[o] for o in of.split(", "))) for text, of in (
        ("ij->ji", "x"), ("ij->j", "x"), ("ij->", "x"), ("ba", "x"), ("ij,kj->ik", "x, y"), ("ij,ik", "x, y"),
        ("ij,ij->", "x, y"), ("ij,ij->i", "x, y"), ("ij,ij->ji", "x, y"), ("ij,kl->ljki", "x, y"), ("ij,kl->jl", "x, y"),
        ("bij,ij->b", "s, x"), ("bij,bik->bjk", "s, s"), ("ij,bkj->ibk", "x, s"), ("ij,bij->jb", "x, s"), ("aij,bij->ab", "s, s"),
        ("aij,bik->jbka", "s, s"), ("bij,cij->bci", "s, s"), ("ij,kj,kl->il", "x, y, x"),
        ("ij,bij,bkj->ik", "x, s, s"), ("i j, k j -> k", "x, y"))}
    return {k: np.asarray(v).astype(t) for k, v in results.items()}


lines = [f"# Written by words.py with NumPy {np.__version__}."]


def add(name, values):
    for what, y in values.items():
        y = np.asarray(y)
        shape = ", ".join(str(e) for e in y.shape)
        lines.append("\t".join((name, what, f"{y.dtype.name}[{shape}]", " ".join(word(v) for v in y.flat))))


def arrays(dtype, random, special):
    return random_array(dtype, (3, 4), random, special), random_array(dtype, (3, 4), random, False)


with np.errstate(all="ignore"):
    for seed, name in enumerate(("bool", "uint8", "int64", "float16", "float32", "float64")):
        dtype, random = np.dtype(name), np.random.default_rng(seed)
        x, y = arrays(dtype, random, True)
        add(name, moved(x, y))
        if dtype.kind != "b":
            add(name, clipped(x, y))
        if dtype.kind in "iu":
            add(name, indexed(x))
        if dtype.kind != "b":
            x, y = arrays(dtype, random, False)
            x[0] = np.sort(x[0])
            add("by number " + name, by_number(x, y, random.integers(-2, 3, 3)))
        if dtype.kind == "f":
            x, y = arrays(dtype, random, False)
            add("einsum " + name, {"x": x, "y": y} | summed(x, y))
            add("quantiles " + name, quantiles(x, y))
            add("histogram " + name, {"x": x, "y": y, "histogram<4>(x, -1, 1)": np.histogram(x, 4, (-1, 1))[0]})
            add("computed " + name, {"x": x, "y": y} | computed(x, y) | multiplied(x, y))
    for seed, name in enumerate(("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")):
        dtype = np.dtype(name)
        add("ordered " + name, ordered(few_values(dtype, np.random.default_rng(100 + seed))))
(HERE / "words.tsv").write_text("\n".join(lines) + "\n")
