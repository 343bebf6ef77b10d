#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes random programs as C++ (gradients.hpp) and, with JAX in double precision, their losses and gradients
# (gradients.tsv). A line of the table is a number of a program, what the values are, and the values in row-major order.
import pathlib
import random

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS, STEPS = 16, 11
INPUTS = {"x": (4, 3), "y": (3,), "w": (3, 5)}
UNARY = {
    "tanh({})": jnp.tanh,
    "sigmoid({})": jax.nn.sigmoid,
    "sin({})": jnp.sin,
    "exp({} * 0.3_c)": lambda a: jnp.exp(a * 0.3),
    "log(square({}) + 1.5_c)": lambda a: jnp.log(a * a + 1.5),
    "sqrt(square({}) + 0.5_c)": lambda a: jnp.sqrt(a * a + 0.5),
    "relu({})": jax.nn.relu,
    "abs({})": jnp.abs,
    "clip({}, -0.4_c, 0.4_c)": lambda a: jnp.clip(a, -0.4, 0.4),
    "-{} * 0.7_c": lambda a: -a * 0.7,
    "{} + stop_gradient(tanh({}))": lambda a: a + jax.lax.stop_gradient(jnp.tanh(a)),
    "recompute(tanh({} * 0.5_c))": lambda a: jnp.tanh(a * 0.5),
}
BINARY = {
    "{} + {}": lambda a, b: a + b,
    "{} - {}": lambda a, b: a - b,
    "{} * {}": lambda a, b: a * b,
    "{} / (square({}) + 1.0_c)": lambda a, b: a / (b * b + 1),
    "maximum({}, {})": jnp.maximum,
    "minimum({}, {})": jnp.minimum,
    "where({0} > {1}, sin({0}), {1} * {1})": lambda a, b: jnp.where(a > b, jnp.sin(a), b * b),
    "atan2({}, square({}) + 1.0_c)": lambda a, b: jnp.arctan2(a, b * b + 1),
}
OF_AXIS = {
    "sum<{k}>({})": lambda a, k: jnp.sum(a, k),
    "mean<{k}>({}, keep_extents)": lambda a, k: jnp.mean(a, k, keepdims=True),
    "max<{k}>({}, keep_extents)": lambda a, k: jnp.max(a, k, keepdims=True),
    "min<{k}>({})": lambda a, k: jnp.min(a, k),
    "prod<{k}>({}, keep_extents)": lambda a, k: jnp.prod(a, k, keepdims=True),
    "logsumexp<{k}>({}, keep_extents)": lambda a, k: jax.nn.logsumexp(a, k, keepdims=True),
    "softmax<{k}>({})": lambda a, k: jax.nn.softmax(a, k),
    "log_softmax<{k}>({})": lambda a, k: jax.nn.log_softmax(a, k),
    "cumsum<{k}>({})": lambda a, k: jnp.cumsum(a, k),
    "cumsum<{k}>({}, reverse)": lambda a, k: jnp.flip(jnp.cumsum(jnp.flip(a, k), k), k),
    "cumprod<{k}>({})": lambda a, k: jnp.cumprod(a, k),
    "cummax<{k}>({})": lambda a, k: jax.lax.cummax(a, k),
    "sort<{k}>({})": lambda a, k: jnp.sort(a, k),
    "sort<{k}>({}, descending)": lambda a, k: -jnp.sort(-a, k),
    "take<{k}>({}, constant({{1, 0, 1}}))": lambda a, k: jnp.take(a, jnp.array([1, 0, 1]), k),
    "flip<{k}>({})": lambda a, k: jnp.flip(a, k),
}


class Program:
    """Values made one after the other, each from those before: (name, C++ text, function of all values, shape)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = [(name, None, None, shape) for name, shape in INPUTS.items()]
        for _ in range(STEPS):
            self.add()

    def add(self):
        while True:
            made = self.random.choice((self.unary, self.binary, self.binary, self.of_axis, self.of_axis, self.product,
                                       self.view, self.put_together))()
            if made and np.prod(made[2], dtype=int) <= 200 and len(made[2]) <= 3:
                self.values.append((f"v{len(self.values)}", *made))
                return

    def pick(self):
        # The newest the most often: programs become deep.
        n = len(self.values)
        return self.random.choices(range(n), weights=[1 + 2 * k for k in range(n)])[0]

    def make(self, text, function, operands, **fields):
        names = [self.values[k][0] for k in operands]
        if len(names) == 1:
            names *= text.count("{}") or 1
        shape = jax.eval_shape(function, *[jnp.zeros(self.values[k][3]) for k in operands]).shape
        return text.format(*names, **fields), (function, operands), shape

    def unary(self):
        return self.make(*self.random.choice(list(UNARY.items())), [self.pick()])

    def binary(self):
        a, b = self.pick(), self.pick()
        if a == b:
            return None
        try:
            np.broadcast_shapes(self.values[a][3], self.values[b][3])
        except ValueError:
            return None
        return self.make(*self.random.choice(list(BINARY.items())), [a, b])

    def of_axis(self):
        a = self.pick()
        axes = [k for k, n in enumerate(self.values[a][3]) if n > 1]
        if not axes:
            return None
        k = self.random.choice(axes)
        text, function = self.random.choice(list(OF_AXIS.items()))
        return self.make(text, lambda v: function(v, k), [a], k=k)

    def product(self):
        a, b = self.pick(), self.pick()
        s, t = self.values[a][3], self.values[b][3]
        if len(s) < 2 or len(t) != 2:
            return None
        if s[-1] == t[0]:
            return self.make("matmul({}, {}) * 0.4_c", lambda p, q: p @ q * 0.4, [a, b])
        if s[-1] == t[1]:
            return self.make("matmul({}, transpose({})) * 0.4_c", lambda p, q: p @ q.T * 0.4, [a, b])
        return None

    def view(self):
        a = self.pick()
        shape = self.values[a][3]
        if len(shape) == 2 and self.random.random() < 0.4:
            return self.make("transpose({})", jnp.transpose, [a])
        if not shape or shape[0] < 2:
            return None
        return self.make(*self.random.choice((
            ("slice<1, to_end>({})", lambda v: v[1:]),
            ("slice<0, -1>({})", lambda v: v[:-1]),
            ("expand_dims<0>({})", lambda v: v[None]),
        )), [a])

    def put_together(self):
        a, b = self.pick(), self.pick()
        s, t = self.values[a][3], self.values[b][3]
        if len(s) != len(t) or not s or s[1:] != t[1:]:
            return None
        return self.make("concat<0>({}, {})", lambda p, q: jnp.concatenate([p, q]), [a, b])

    def loss(self, x, y, w):
        found = [x, y, w]
        for _, _, (function, operands), _ in self.values[3:]:
            found.append(function(*[found[k] for k in operands]))
        used = {k for _, _, made, _ in self.values[3:] for k in made[1]}
        return sum(jnp.mean(jnp.sin(v)) for k, v in enumerate(found) if k not in used or k < 3)

    def text(self, number):
        lines = [f"template <>\nstruct gradient_program<{number}> {{",
                 "  static constexpr auto loss(const auto& x, const auto& y, const auto& w, const auto& put) {"]
        lines += [f"    const auto {name} = put(number<{name[1:]}>, {text});" for name, text, _, _ in self.values[3:]]
        used = {k for _, _, made, _ in self.values[3:] for k in made[1]}
        ends = [name for k, (name, *_) in enumerate(self.values) if k not in used or k < 3]
        lines += ["    return " + " + ".join(f"mean(sin({name}))" for name in ends) + ";", "  }", "};"]
        return "\n".join(lines)


generator = np.random.default_rng(7)
table = [f"# Written by gradients.py with JAX {jax.__version__}."]
code = ["""// SPDX-License-Identifier: BSL-1.0
// Written by gradients.py: random programs, whose losses and gradients are in gradients.tsv.
#pragma once

#include <onto/sort.hpp>

#include <type_traits>

namespace onto_test {

using namespace onto;

template <int N>
struct gradient_program;

/// Values have numbers, by which whoever takes a program puts each somewhere.
template <int K>
inline constexpr std::integral_constant<int, K> number{};
"""]
number, seed = 0, 0
while number < PROGRAMS:
    seed += 1
    program = Program(seed)
    at = [generator.uniform(-1, 1, shape) for shape in INPUTS.values()]
    loss, gradients = jax.value_and_grad(program.loss, argnums=(0, 1, 2))(*at)
    if not all(np.isfinite(g).all() and np.abs(g).max() > 1e-3 for g in gradients):
        continue
    code.append(program.text(number) + "\n")
    rows = {"loss": loss}
    for name, value, gradient in zip(INPUTS, at, gradients):
        rows[name], rows["by " + name] = value, gradient
    for what, value in rows.items():
        table.append("\t".join((str(number), what, " ".join(repr(float(v)) for v in np.asarray(value).flat))))
    number += 1
code.append(f"inline constexpr int gradient_programs = {PROGRAMS};\n\n}}  // namespace onto_test\n")
(HERE / "gradients.hpp").write_text("\n".join(code))
(HERE / "gradients.tsv").write_text("\n".join(table) + "\n")
