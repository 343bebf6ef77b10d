#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Random programs beside NumPy: words of every kind over tensors of rank 1 to 5, of extents about the borders of packs, some known
# to the compiler and some not, on the CPU with one thread and with three, on simulated GPUs, prepared, and without a session. Each
# is computed by NumPy in doubles, too. Then gradients of such programs beside differences of their losses.
"""usage: random_programs.py [--seed N] [--programs N] [--gradients N] [--keep] [--emulated FOLDER]

NumPy is that of build/python, where check.py leaves it, or ONTO_PYTHON's. The C++ programs are compiled together, by $CXX (g++), in build/scratch/random_programs; --keep runs them again as they
are. With --emulated they run on emulated GPUs, where what is placed nowhere goes, too: the tree in that folder compiles them. A program that fails is printed."""
import argparse
import math
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
try:
    import numpy as np
except ImportError:
    other = os.environ.get("ONTO_PYTHON") or str(ROOT / "build" / "python" / "bin" / "python")
    if os.path.exists(other) and os.path.abspath(sys.executable) != os.path.abspath(other):
        os.execv(other, [other, *sys.argv])
    print("skipped: NumPy is not in build/python")
    print("random programs beside NumPy: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)

FOLDER = ROOT / "build" / "scratch" / "random_programs"
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 33, 40, 64, 65, 100, 129, 257]
ELEMENT = {"float32": "float", "float64": "double", "int32": "std::int32_t"}
MOST_ELEMENTS = 100_000
TOLERANCE = {"float32": 2e-3, "float64": 1e-9, "int32": 0}


class Node:
    """A symbol or an expression: its name in C++, what it is written as, its value, whether the value is free of rounding, so that it
    may be compared and sorted, and whether the compiler knows its extents."""

    def __init__(self, name, code, value, exact, static):
        self.name, self.code, self.value, self.exact, self.static = name, code, value, exact, static
        self.shape = value.shape


class Program:
    def __init__(self, dice, number, gradient):
        self.dice, self.number, self.gradient = dice, number, gradient
        self.type = "float64" if gradient else dice.choice(["float32"] * 6 + ["float64"] * 2 + ["int32"])
        self.integers = self.type == "int32"
        self.most = 4000 if gradient else MOST_ELEMENTS
        self.nodes = []
        self.base = [dice.choice(EXTENTS) for _ in range(4)] if dice.random() < .6 else [dice.choice(EXTENTS)] * 4  # operands of the result's shape
        self.symbols = [self.symbol(k) for k in range(dice.randint(2, 4))]
        wanted = dice.randint(5, 12)
        for _ in range(300):
            if len(self.nodes) - len(self.symbols) >= wanted:
                break
            self.grow()
        made = self.nodes[len(self.symbols):]
        self.fetched = made[-1:]
        read = {name for n in made for name in re.findall(r"\bn\d+\b", n.code)}
        unread = [n for n in made[:-1] if n.name not in read]
        self.fetched += dice.sample(unread, min(dice.choice([0, 1, 1, 2]), len(unread)))
        self.used = self.needed()

    def symbol(self, k):
        rank = self.dice.choice([1, 2, 2, 3, 3, 3, 4])
        while True:
            shape = tuple(self.dice.choice([b, b, b, 1, self.dice.choice(EXTENTS)]) for b in self.base[4 - rank:])
            if math.prod(shape) <= self.most:
                break
            self.base[self.dice.randrange(4)] = self.dice.choice(EXTENTS[:9])
        values = np.random.RandomState(self.dice.randrange(1 << 30))
        if self.gradient:
            value = values.randn(*shape)  # no ties, and nothing on an edge
        elif self.integers:
            value = values.randint(-9, 10, size=shape).astype("int32")
        else:
            value = values.randint(-24, 25, size=shape) / 8.0
        open_all = self.dice.random() < .5
        dims = ["dyn" if open_all and self.dice.random() < .7 else str(d) for d in shape]
        node = Node(f"p{k}", f"placeholder<\"p{k}\", {ELEMENT[self.type]}, {', '.join(dims)}>", value, not self.gradient, "dyn" not in dims)
        node.dims = ", ".join(dims)
        self.nodes.append(node)
        return node

    def pick(self, fits=lambda n: True):
        """A node, of the latest five more often than not."""
        those = [n for n in self.nodes if fits(n)]
        if not those:
            return None
        return self.dice.choice(those[-5:] if self.dice.random() < .7 else those)

    def axis(self, node):
        """An axis, and as it is written: from the front or from the back."""
        k = self.dice.randrange(node.value.ndim)
        return k, k if self.dice.random() < .7 else k - node.value.ndim

    def grow(self):
        word = self.dice.choice(WORDS)
        x = self.pick()
        try:
            with np.errstate(all="ignore"):
                made = word(self, x, x.value)
        except (ValueError, IndexError):  # shapes that do not fit
            return
        if made is None:
            return
        code, value, exact, operands = made
        value = np.asarray(value)
        if value.dtype != x.value.dtype:
            value = value.astype(x.value.dtype)
        if not 0 < value.size <= self.most or value.ndim > 5 or not np.isfinite(value).all() or np.abs(value).max() > (100 if self.gradient else 1e6):
            return
        if not self.gradient and self.dice.random() < .12:
            code = f"on<gpu<{self.dice.randrange(2)}>>([&] {{ return {code}; }})"
        static = all(n.static for n in operands)
        self.nodes.append(Node(f"n{len(self.nodes)}", code, value, exact and all(n.exact for n in operands), static))

    def needed(self):
        named = {n.name: n for n in self.nodes}
        names, pending = set(), [n.name for n in self.fetched]
        while pending:
            name = pending.pop()
            if name not in names:
                names.add(name)
                pending += re.findall(r"\b[pn]\d+\b", named[name].code) if name[0] == "n" else []
        return names

    def feeds(self, changed=None, by=None):
        return ", ".join(f"{s.name} = {by if s is changed else 'v' + s.name}" for s in self.symbols if s.name in self.used)

    def source(self):
        lines = [f"void program_{self.number}() {{"]
        for s in self.symbols:
            if s.name in self.used:
                np.save(FOLDER / f"{self.number}_{s.name}.npy", s.value.astype(self.type))
                lines.append(f"  const auto v{s.name} = load_npy<{ELEMENT[self.type]}, {s.dims}>(folder + \"{self.number}_{s.name}.npy\");")
                lines.append(f"  constexpr auto {s.name} = {s.code};")
        lines += [f"  const auto {n.name} = {n.code};" for n in self.nodes[len(self.symbols):] if n.name in self.used]
        lines += self.differences() if self.gradient else self.runs()
        return "\n".join(lines + ["}"])

    def runs(self):
        feeds = self.feeds()
        lines = [f"  const auto program = fetches({', '.join(n.name for n in self.fetched)});",
                 "  for (const session_options& o : machines()) {",
                 "    session sess{o};",
                 f"    const auto once = sess.run(program, {feeds});",
                 "    const auto step = sess.prepare(program);",
                 f"    step({feeds});",
                 f"    const auto again = step({feeds});"]
        for k in range(len(self.fetched)):
            lines.append(f"    keep(std::get<{k}>(once), \"{self.number}_{k}\");")
            lines.append(f"    keep(std::get<{k}>(again), \"{self.number}_{k}\");")
        lines.append("  }")
        if len(self.fetched) == 1 and not any("on<" in n.code for n in self.nodes):
            lines.append(f"  keep(evaluate({self.fetched[0].name}, {feeds}), \"{self.number}_0\");")
        return lines

    def differences(self):
        """The gradient along a random direction beside the difference of two losses on it."""
        by = [s for s in self.symbols if s.name in self.used]
        lines = ["  const auto loss = " + " + ".join(f"mean(sin({n.name} * 0.7 + 0.1))" for n in self.fetched) + ";",
                 "  session sess;",
                 f"  const auto found = sess.run(gradients(loss, {', '.join(s.name for s in by)}), {self.feeds()});"]
        for k, s in enumerate(by):
            lines.append(f"  compare(\"{self.number} by {s.name}\", v{s.name}, std::get<{k}>(found), "
                         f"[&](const auto& at) {{ return double(sess.run(loss, {self.feeds(s, 'at')})); }});")
        return lines


WORDS = []


def word(weight):
    def add(function):
        WORDS.extend([function] * weight)
        return function
    return add


def broadcasts(*nodes):
    try:
        return math.prod(np.broadcast_shapes(*(n.shape for n in nodes))) <= MOST_ELEMENTS
    except ValueError:
        return False


@word(6)
def binary(p, x, v):
    y = p.pick(lambda n: broadcasts(x, n))
    name = p.dice.choice(["+", "-", "*", "maximum", "minimum"])
    f = {"+": np.add, "-": np.subtract, "*": np.multiply, "maximum": np.maximum, "minimum": np.minimum}[name]
    return f"{x.name} {name} {y.name}" if len(name) == 1 else f"{name}({x.name}, {y.name})", f(v, y.value), name != "*", [x, y]


@word(2)
def with_number(p, x, v):
    c = p.dice.choice([1, 2, 3, -1])
    code, value = p.dice.choice([(f"{x.name} + {c}", v + c), (f"{c} - {x.name}", c - v), (f"{x.name} * {c}", v * c)])
    return code, value, "*" not in code, [x]


@word(4)
def elementwise(p, x, v):
    x_, choices = x.name, [("-{}", -v, True), ("abs({})", abs(v), True), ("relu({})", np.maximum(v, 0), True), ("square({})", v * v, False)]
    if not p.integers:
        choices += [("tanh({})", np.tanh(v), False), ("sqrt(abs({}) + 1)", np.sqrt(abs(v) + 1), False), ("atan({})", np.arctan(v), False),
                    ("sigmoid({})", 1 / (1 + np.exp(-v)), False), ("log1p(abs({}))", np.log1p(abs(v)), False),
                    ("softplus({})", np.log1p(np.exp(-abs(v))) + np.maximum(v, 0), False), ("rsqrt(square({}) + 2)", 1 / np.sqrt(v * v + 2), False)]
        if v.max() < 8:
            choices += [("exp({})", np.exp(v), False), ("expm1({})", np.expm1(v), False)]
        if abs(v).max() < 100:
            choices += [("sin({})", np.sin(v), False), ("cos({})", np.cos(v), False)]
        if x.exact:
            choices += [("floor({})", np.floor(v), True)]
    code, value, exact = p.dice.choice(choices)
    return code.format(x_), value, exact, [x]


@word(7)
def reduction(p, x, v):
    r = v.ndim
    count = p.dice.choice([0, 1, 1, 1, 1, 2])
    axes = tuple(sorted(p.dice.sample(range(r), count))) if 0 < count <= r else tuple(range(r))
    def norm(a, axis, keepdims):
        return np.sqrt((a * a).sum(axis=axis, keepdims=keepdims))
    def logsumexp(a, axis, keepdims):
        return np.log(np.exp(a).sum(axis=axis, keepdims=keepdims))
    words = {"sum": np.sum, "max": np.max, "min": np.min}
    if not p.integers:
        words |= {"mean": np.mean, "var": np.var}
        if not p.gradient:  # at a row of zeros there is no derivative
            words |= {"stddev": np.std, "norm": norm}
        if math.prod(x.shape[k] for k in axes) < 9:
            words["prod"] = np.prod
        if abs(v).max() < 60:
            words["logsumexp"] = logsumexp
    name = p.dice.choice(sorted(words))
    keep = name != "logsumexp" and p.dice.random() < .35
    written = f"<{', '.join(str(k if p.dice.random() < .7 else k - r) for k in axes)}>" if 0 < count <= r else ""
    return (f"{name}{written}({x.name}{', keep_extents' if keep else ''})", words[name](v, axis=axes, keepdims=keep), name in ("max", "min"), [x])


@word(3)
def softmax(p, x, v):
    if p.integers:
        return None
    k, written = p.axis(x)
    less = v - v.max(axis=k, keepdims=True)
    total = np.exp(less).sum(axis=k, keepdims=True)
    name = p.dice.choice(["softmax", "log_softmax"])
    return f"{name}<{written}>({x.name})", np.exp(less) / total if name == "softmax" else less - np.log(total), False, [x]


@word(2)
def normalized(p, x, v):
    if p.integers:
        return None
    k, written = p.axis(x)
    centered = v - v.mean(axis=k, keepdims=True)
    return (f"({x.name} - mean<{written}>({x.name}, keep_extents)) * rsqrt(var<{written}>({x.name}, keep_extents) + 1)",
            centered / np.sqrt((centered ** 2).mean(axis=k, keepdims=True) + 1), False, [x])


@word(1)
def rolled_beside_rows(p, x, v):
    if p.integers:
        return None
    k, written = p.axis(x)
    r, along = p.axis(x)
    by = p.dice.choice([1, -1, 2])
    roll, rolled = f"roll<{by}, {along}>({x.name})", np.roll(v, by, r)
    of, folded = p.dice.choice([(roll, rolled), (x.name, v)])
    return f"{roll} - mean<{written}>({of}, keep_extents)", rolled - folded.mean(axis=k, keepdims=True), False, [x]


@word(1)
def sum_of_squares(p, x, v):
    k, written = p.axis(x)
    return f"sum<{written}>({x.name} * {x.name})", (v * v).sum(axis=k), False, [x]


@word(2)
def scan(p, x, v):
    k, written = p.axis(x)
    name, f = p.dice.choice([("cumsum", np.cumsum), ("cummax", np.maximum.accumulate), ("cummin", np.minimum.accumulate)])
    if p.dice.random() < .3:
        return f"{name}<{written}>({x.name}, reverse)", np.flip(f(np.flip(v, k), axis=k), k), name != "cumsum", [x]
    return f"{name}<{written}>({x.name})", f(v, axis=k), name != "cumsum", [x]


@word(2)
def product(p, x, v):
    if p.dice.random() < .5:
        y = p.pick()
        return f"matmul({x.name}, {y.name})", np.matmul(v, y.value), False, [x, y]
    axes = list(range(v.ndim))
    axes[-2:] = axes[:-3:-1]
    return (f"matmul({x.name}, permute<{', '.join(map(str, axes))}>({x.name}))", np.matmul(v, v.transpose(axes)), False, [x]) if v.ndim > 1 else None


@word(2)
def affine(p, x, v):
    """A product with a vector, on either side, and what is added to it there: one for all, one for each, or one number."""
    if v.ndim < 2 or v.dtype.kind != "f":
        return None
    left = p.dice.random() < .4
    others = [k for k in range(v.ndim) if k != v.ndim - (2 if left else 1)]
    vector, vector_value = f"mean<{', '.join(map(str, others))}>({x.name})", v.mean(axis=tuple(others))
    product = f"matmul({vector}, {x.name})" if left else f"matmul({x.name}, {vector})"
    axis = -2 if left else -1
    added, value = p.dice.choice([
        (f"mean<{axis}>({x.name})", v.mean(axis=axis)), (f"max<{axis}>({x.name})", v.max(axis=axis)),
        (f"mean<{', '.join(str(k) for k in range(v.ndim) if k - v.ndim != -3 - axis)}>({x.name})",
         v.mean(axis=tuple(k for k in range(v.ndim) if k - v.ndim != -3 - axis))), (f"mean({x.name})", v.mean())])
    if p.dice.random() < .3:
        by = p.dice.choice([1, -1, 2])
        product, v = product.replace(x.name, f"roll<{by}, {v.ndim - 1}>({x.name})"), np.roll(v, by, -1)
        vector_value = v.mean(axis=tuple(others))
    if value.ndim == 1 and p.dice.random() < .3:
        added, value = f"roll<1>({added})", np.roll(value, 1)
    made = np.matmul(vector_value, v) if left else np.matmul(v, vector_value)
    if p.dice.random() < .5:
        return f"{product} - {added}", made - value, False, [x]
    return f"{added} + {product}", value + made, False, [x]


@word(1)
def rolled_layer(p, x, v):
    """A product of what is rolled, or with a rolled addend, and a relu in its kernel."""
    if v.ndim != 2 or v.dtype.kind != "f" or v.shape[0] * v.shape[0] > MOST_ELEMENTS:
        return None
    by, other = p.dice.choice([1, -1, 2]), p.dice.randint(0, 1)
    of, turned = p.dice.choice([(f"roll<{by}, {other}>({x.name})", np.roll(v, by, other)), (x.name, v)])
    added, value = p.dice.choice([(f"roll<{by}>(max<1>({x.name}))", np.roll(v.max(axis=1), by)), ("0.5", .5)])
    return f"relu(matmul({of}, transpose({x.name})) + {added})", np.maximum(turned @ v.T + value, 0), False, [x]


@word(1)
def parts_of_what_was_flat(p, x, v):
    """Parts of a vector in several axes, within another concatenation."""
    if v.ndim < 2 or not 2 <= v.size <= MOST_ELEMENTS // 2:
        return None
    half, (k, written) = v.size // 2, p.axis(x)
    flat = f"reshape<dyn>({x.name})"
    turned = f"reshape<{', '.join(map(str, v.shape))}>(concat<0>(slice<{half}, to_end>({flat}), slice<0, {half}>({flat})))"
    value = np.roll(v.reshape(-1), -half).reshape(v.shape)
    return f"concat<{written}>({turned}, {x.name})", np.concatenate((value, v), k), True, [x]


@word(1)
def outer(p, x, v):
    y = p.pick(lambda n: n.value.ndim == 1)
    return (f"outer({x.name}, {y.name})", np.outer(v, y.value), False, [x, y]) if y and v.ndim == 1 else None


@word(2)
def axes_in_another_order(p, x, v):
    axes = list(range(v.ndim))
    p.dice.shuffle(axes)
    return f"permute<{', '.join(map(str, axes))}>({x.name})", v.transpose(axes), True, [x]


@word(1)
def transposed(p, x, v):
    return f"transpose({x.name})", v.T, True, [x]


@word(1)
def reshaped(p, x, v):
    def divisor(n):
        return p.dice.choice([d for d in range(1, n + 1) if n % d == 0])
    a = divisor(v.size)
    b = divisor(v.size // a)
    dims = p.dice.choice([(v.size,), (a, v.size // a), (a, b, v.size // a // b)])
    return f"reshape<{', '.join(map(str, dims))}>({x.name})", v.reshape(dims), True, [x]


@word(3)
def sliced(p, x, v):
    written, taken = [], []
    for extent in x.shape[:p.dice.randint(1, v.ndim)]:
        step = p.dice.choice([1, 1, 1, 2, 3, -1, -2])
        begin = p.dice.randrange(extent)
        if p.dice.random() < .25:
            written.append("range<>")
            taken.append(slice(None))
        elif step < 0:
            written.append(f"range<{begin}, to_begin, {step}>")
            taken.append(slice(begin, None, step))
        else:
            end = p.dice.randint(begin + 1, extent)
            written.append(f"range<{begin}, {'to_end' if end == extent else end}, {step}>")
            taken.append(slice(begin, end, step))
    return f"slice<{', '.join(written)}>({x.name})", v[tuple(taken)], True, [x]


@word(2)
def rearranged(p, x, v):
    k, written = p.axis(x)
    by = p.dice.choice([1, -1, 2, 3, -5])
    return p.dice.choice([(f"flip<{written}>({x.name})", np.flip(v, k), True, [x]),
                          (f"roll<{by}, {written}>({x.name})", np.roll(v, by, k), True, [x]),
                          (f"repeat<2, {written}>({x.name})", np.repeat(v, 2, k), True, [x]),
                          (f"expand_dims<{k}>({x.name})", np.expand_dims(v, k), True, [x])])


@word(1)
def padded(p, x, v):
    around = [(p.dice.randint(0, 3), p.dice.randint(0, 3)) for _ in range(p.dice.randint(1, v.ndim))]
    value = p.dice.choice([0, 0, 2])
    return (f"pad<{', '.join(f'padding<{a}, {b}>' for a, b in around)}>({x.name}{f', {value}' if value else ''})",
            np.pad(v, around + [(0, 0)] * (v.ndim - len(around)), constant_values=value), True, [x])


@word(1)
def repeated(p, x, v):
    times = [p.dice.randint(1, 3) for _ in range(p.dice.randint(1, v.ndim))]
    if p.dice.random() < .5:
        return f"tile<{', '.join(map(str, times))}>({x.name})", np.tile(v, times), True, [x]
    shape = (p.dice.choice([2, 3, 5]),) + x.shape
    return f"broadcast_to<{', '.join(map(str, shape))}>({x.name})", np.broadcast_to(v, shape).copy(), True, [x]


@word(2)
def joined(p, x, v):
    k, written = p.axis(x)
    if p.dice.random() < .5:
        y = p.pick(lambda n: n.shape == x.shape)
        if v.ndim < 5 and p.dice.random() < .5:
            return (f"stack<{k}>(stack<-1>({x.name}, {y.name}), stack<-1>({y.name}, {x.name}))",
                    np.stack((np.stack((v, y.value), -1), np.stack((y.value, v), -1)), k), True, [x, y])
        return f"stack<{k}>({x.name}, {y.name})", np.stack((v, y.value), k), True, [x, y]
    y = p.pick(lambda n: n.value.ndim == v.ndim and n.shape[:k] == x.shape[:k] and n.shape[k + 1:] == x.shape[k + 1:])
    return f"concat<{written}>({x.name}, {y.name})", np.concatenate((v, y.value), k), True, [x, y]


@word(1)
def part(p, x, v):
    k, written = p.axis(x)
    fits = [n for n in (2, 3, 4, 5) if x.shape[k] % n == 0]
    if not fits:
        return None
    n = p.dice.choice(fits)
    which = p.dice.randrange(n)
    return f"std::get<{which}>(split<{n}, {written}>({x.name}))", np.split(v, n, k)[which], True, [x]


@word(2)
def chosen(p, x, v):
    if p.dice.random() < .3:
        return f"clip({x.name}, -1, 2)", np.clip(v, -1, 2), True, [x]
    c = x if p.gradient else p.pick(lambda n: n.exact and broadcasts(x, n))  # no gradient goes through a condition
    y = p.pick(lambda n: c is not None and broadcasts(x, n, c))
    if c is None or y is None:
        return None
    than = p.dice.choice([0, 1, -1])
    written, f = p.dice.choice([(">", np.greater), ("<=", np.less_equal), ("!=", np.not_equal)])
    return f"where({c.name} {written} {than}, {x.name}, {y.name})", np.where(f(c.value, than), v, y.value), c.exact, [x, y, c]


@word(2)
def taken(p, x, v):
    k, written = p.axis(x)
    which = [p.dice.randrange(x.shape[k]) for _ in range(p.dice.choice([1, 2, 5, 9, 17]))]
    return f"take<{written}>({x.name}, constant({{{', '.join(map(str, which))}}}))", np.take(v, which, axis=k), True, [x]


@word(1)
def added_by_number(p, x, v):
    to = [p.dice.randrange(x.shape[0]) for _ in range(p.dice.choice([1, 3, 8]))]
    value = v.copy()
    np.add.at(value, to, np.take(v, [0] * len(to), axis=0))
    first = ", ".join("0" * len(to))
    return (f"scatter_add({x.name}, constant({{{', '.join(map(str, to))}}}), take<0>({x.name}, constant({{{first}}})))", value, False, [x])


@word(2)
def part_at_a_place(p, x, v):
    if v.ndim == 0:
        return None
    if p.dice.random() < .5:
        extents = [p.dice.randint(1, d) for d in x.shape]
        begin = [p.dice.randint(0, d - e) for d, e in zip(x.shape, extents)]
        return (f"dynamic_slice<{', '.join(map(str, extents))}>({x.name}, constant({{{', '.join(map(str, begin))}}}))",
                v[tuple(slice(b, b + e) for b, e in zip(begin, extents))], True, [x])
    y = p.pick(lambda n: n.value.ndim == v.ndim and all(a <= b for a, b in zip(n.shape, x.shape)))
    begin = [p.dice.randint(0, d - e) for d, e in zip(x.shape, y.shape)]
    value = v.copy()
    value[tuple(slice(b, b + e) for b, e in zip(begin, y.shape))] = y.value
    return f"update_slice({x.name}, {y.name}, constant({{{', '.join(map(str, begin))}}}))", value, True, [x, y]


@word(1)
def triangle(p, x, v):
    if v.ndim < 2:
        return None
    name = p.dice.choice(["tril", "triu"])
    return f"{name}({x.name})", getattr(np, name)(v), True, [x]


@word(2)
def ordered(p, x, v):
    k, written = p.axis(x)
    if p.gradient:
        return None
    which = p.dice.randrange(3)
    if which == 0:
        return f"sort<{written}>({x.name})", np.sort(v, axis=k), True, [x]
    if which == 1 and x.static:
        n = p.dice.randint(1, x.shape[k])
        return f"top_k<{n}, {written}>({x.name}).values", np.take(np.flip(np.sort(v, axis=k), k), range(n), axis=k), True, [x]
    if not x.exact:
        return None
    return f"take_along_axis<{written}>({x.name}, argsort<{written}>({x.name}))", np.sort(v, axis=k), True, [x]


@word(1)
def place_of_extreme(p, x, v):
    if not x.exact:
        return None
    k, written = p.axis(x)
    name = p.dice.choice(["argmax", "argmin"])
    return f"cast<{ELEMENT[p.type]}>({name}<{written}>({x.name}))", getattr(np, name)(v, axis=k), True, [x]


@word(3)
def of_other_types(p, x, v):
    """Truth values and narrow integers between elements of the program's type."""
    if p.gradient or not x.exact:
        return None
    y = p.pick(lambda n: n.exact and broadcasts(x, n))
    back = f"cast<{ELEMENT[p.type]}>"
    which = p.dice.randrange(5)
    if which == 0:
        return f"{back}({x.name} < {y.name})", v < y.value, True, [x, y]
    if which == 1:
        return f"{back}(({x.name} > 1 && {y.name} != 2) || !({x.name} >= -1))", ((v > 1) & (y.value != 2)) | ~(v >= -1), True, [x, y]
    if which == 2:
        narrow = p.dice.choice(["std::int8_t", "std::int16_t", "int"])
        return f"{back}(cast<{narrow}>(clip({x.name}, -100, 100)))", np.trunc(np.clip(v, -100, 100)), True, [x]
    if which == 3:
        return f"{back}({x.name} == {y.name}) * {x.name}", (v == y.value) * v, False, [x, y]
    return f"where(({x.name} > 0) != ({y.name} > 0), {x.name}, -1)", np.where((v > 0) != (y.value > 0), v, -1), True, [x, y]


@word(1)
def masked(p, x, v):
    if p.integers or not x.exact or p.gradient:
        return None
    k, written = p.axis(x)
    m = np.where(v > -1, v, -1e9)
    e = np.exp(m - m.max(axis=k, keepdims=True))
    return f"softmax<{written}>(where({x.name} > -1, {x.name}, -1e9))", e / e.sum(axis=k, keepdims=True), False, [x]


@word(1)
def power(p, x, v):
    if p.integers or abs(v).max() > 50:
        return None
    by = p.dice.choice([0.5, 1.5, -1.5, 2, 3, -0.5, -2, 2.3])
    return f"pow(abs({x.name}) + 1, {by})", (abs(v) + 1) ** by, False, [x]


@word(1)
def quantile(p, x, v):
    if p.integers:
        return None
    k, written = p.axis(x)
    by = p.dice.choice([0.5, 0.25, 0.9, 0, 1])
    keep = p.dice.random() < .3
    word = f"median<{written}>({x.name}" if by == 0.5 else f"quantile<{written}>({x.name}, {by}"
    return f"{word}{', keep_extents' if keep else ''})", np.quantile(v, by, axis=k, keepdims=keep), False, [x]


@word(1)
def summed_by_number(p, x, v):
    to = [p.dice.randrange(4) for _ in range(x.shape[0])]
    if len(to) > 40:
        return None
    value = np.zeros((4,) + x.shape[1:], v.dtype)
    np.add.at(value, to, v)
    word = "segment_sum"
    if len(set(to)) == 4:  # where none is empty
        word = p.dice.choice([word, "segment_max", "segment_min"])
        for k in range(4) if word != "segment_sum" else ():
            value[k] = (np.max if word == "segment_max" else np.min)(v[[n == k for n in to]], axis=0)
    return f"{word}<4>({x.name}, constant({{{', '.join(map(str, to))}}}))", value, False, [x]


HEAD = """#include <onto/onto.hpp>

#include <onto/indexing.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <cmath>
#include <cstdio>
#include <map>

using namespace onto;

namespace {

std::string folder;

std::vector<session_options> machines() {
#if defined(ONTO_CUDA_EMULATION)
  return {{.allow_soft_placement = true}};
#else
  session_options one{.allow_soft_placement = true, .cpu_threads = 1};
  session_options three{.allow_soft_placement = true, .cpu_threads = 3};
  session_options gpus{.allow_soft_placement = true, .simulated_gpus = 2};  // not every operation has a kernel there
  return {one, three, gpus};
#endif
}

/// Results of one number are files of their own.
template <class T>
void keep(const T& t, const std::string& name) {
  static std::map<std::string, int> times;
  save_npy(folder + name + "_is_" + std::to_string(times[name]++) + ".npy", t);
}

template <class T, class Loss>
void compare(const char* name, const T& at, const T& gradient, Loss loss) {
  T above = at, below = at;
  double along = 0;
  unsigned k = 7;
  const double h = 1e-6;
  for (std::size_t i = 0; i < at.size(); ++i) {
    k = k * 1103515245u + 12345u;
    const double d = (k >> 16) % 2000 / 1000.0 - 1;
    along += d * gradient.data()[i];
    above.data()[i] += h * d;
    below.data()[i] -= h * d;
  }
  const double difference = (loss(above) - loss(below)) / (2 * h);
  const bool close = std::abs(difference - along) <= 5e-6 * (1 + std::abs(along));
  std::printf("%s %s: the gradient is %.9g, the difference %.9g\\n", close ? "close" : "FAR", name, along, difference);
}
"""


def generate(seed, programs, gradients):
    made = []
    number = 0
    while len(made) < programs + gradients:
        number += 1
        p = Program(random.Random(seed * 1_000_003 + number), number, len(made) >= programs)
        if len(p.nodes) - len(p.symbols) >= 3 and any(s.name in p.used for s in p.symbols):
            p.text = p.source()
            made.append(p)
    return made


def build(made, emulated):
    source = HEAD + "\n".join(p.text for p in made) + "\n\n}  // namespace\n\nint main(int, char** a) {\n  folder = a[1];\n"
    for p in made:
        source += (f"  try {{\n    program_{p.number}();\n  }} catch (const std::exception& e) {{\n"
                   f"    std::printf(\"THREW {p.number}: %s\\n\", e.what());\n  }}\n")
    (FOLDER / "programs.cpp").write_text(source + "}\n")
    if emulated:
        done = subprocess.run(["cmake", "--build", emulated, "--target", "emulated_random_programs"], capture_output=True, text=True, check=False)
        if done.returncode:
            print("FAIL the programs do not compile:\n" + (done.stdout + done.stderr)[-6000:])
        return done.returncode == 0
    (FOLDER / "runtime.cpp").write_text("#include <onto/compiled.hpp>\n")
    compiler = os.environ.get("CXX") or "g++"
    command = [compiler, "-std=c++20", "-O1", "-DONTO_COMPILED", f"-I{ROOT / 'include'}", str(FOLDER / "programs.cpp"), str(FOLDER / "runtime.cpp"),
               "-o", str(FOLDER / "programs"), "-pthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print("FAIL the programs do not compile:\n" + done.stderr[:6000])
    return done.returncode == 0


def wrong(p, times):
    """What is wrong with the results of a program, or nothing; each was computed so many times at least."""
    for k, node in enumerate(p.fetched):
        results = sorted(FOLDER.glob(f"{p.number}_{k}_is_*.npy"))
        if len(results) < times:
            return f"result {k} was computed {len(results)} times"
        for file in results:
            got = np.load(file)
            if got.shape != node.shape or got.dtype != p.type:
                return f"{node.name} is {got.dtype}{list(got.shape)} where NumPy has {p.type}{list(node.shape)}, {file.name}"
            distance = np.abs(got.astype("f8") - node.value).max()
            if not distance <= TOLERANCE[p.type] * max(1, np.abs(node.value).max()):
                return f"{node.name} is off by {distance}, {file.name}"
    return None


def main():
    global FOLDER, MOST_ELEMENTS
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--programs", type=int, default=12)
    arguments.add_argument("--gradients", type=int, default=6)
    arguments.add_argument("--keep", action="store_true")
    arguments.add_argument("--emulated", metavar="FOLDER")
    a = arguments.parse_args()
    if a.emulated:
        FOLDER, MOST_ELEMENTS = pathlib.Path(a.emulated).resolve() / "random_programs", 20_000
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.npy"):
        old.unlink()
    made = generate(a.seed, a.programs, a.gradients)
    if not a.keep and not build(made, a.emulated):
        return 1
    done = subprocess.run([FOLDER / "programs", f"{FOLDER}/"], capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    if done.returncode:
        print(f"FAIL the programs ended with {done.returncode}: {done.stderr[-2000:]}")
    failed = int(done.returncode != 0)
    for p in made:
        bad = [line for line in said if line.split()[0] in ("FAR", "THREW") and line.split()[1].rstrip(":") == str(p.number)]
        if p.gradient and not bad and not any(line.startswith(f"close {p.number} ") for line in said):
            bad = ["no gradient was compared"]
        if not p.gradient and not bad:
            found = wrong(p, 2 if a.emulated else 6)
            bad = [found] if found else []
        if bad:
            failed += 1
            print(f"FAIL seed {a.seed}, program {p.number}: {'; '.join(bad)}\n{p.text}")
    where = "on emulated GPUs " if a.emulated else ""
    print(f"random programs {where}beside NumPy: {len(made) - failed} passed, {failed} failed, 0 skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
