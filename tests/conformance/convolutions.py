#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes convolutions.tsv with PyTorch: convolutions, transposed ones and pooling of random shapes, and their gradients. A line
# is what is computed, the numbers of the options in the order of `window_options`, the shapes of the image (of a transposed
# convolution: of its operand), of the filter (of pooling: -) and of the result, and the values of the result, of the gradient
# by the image and of that by the filter, for the gradient of the result that the rule below gives. Element k of array s is
# (37 k + 11 s) mod 7 - 3; arrays 0, 1 and 2 are the image, the filter and the result's gradient. The values of an image that is
# pooled are (37 k) mod 101. Means are multiplied by 36.
import pathlib
import random

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
LAYOUTS, RULES = ("nhwc", "nchw"), ("valid", "same", "numbers")
random.seed(14)


def values(shape, salt, modulus=7, low=3):
    n = 1
    for e in shape:
        n *= e
    return torch.tensor([(37 * k + 11 * salt) % modulus - low for k in range(n)], dtype=torch.float64).reshape(shape)


def to_torch(x, layout):
    return x.movedim(-1, 1).contiguous() if layout == "nhwc" else x


def from_torch(x, layout):
    return x.movedim(1, -1) if layout == "nhwc" else x


def filter_to_torch(w, layout, depthwise):
    if layout == "nchw":
        return w
    if depthwise:  # (height, width, channels, times)
        return w.permute(2, 3, 0, 1).reshape(-1, 1, *w.shape[:2])
    return w.movedim((-1, -2), (0, 1))


def pads(rule, image, window, stride, dilation, numbers):
    found = []
    for n, k, s, d, given in zip(image, window, stride, dilation, numbers):
        reach = (k - 1) * d + 1
        if rule == "same":
            total = max((-(-n // s) - 1) * s + reach - n, 0)
            found.append((total // 2, total - total // 2))
        else:
            found.append(given if rule == "numbers" else (0, 0))
    return found


def padded(x, pad, value=0.0):
    return F.pad(x, [n for p in reversed(pad) for n in p], value=value)


def options(layout, rule, axes, stride, dilation, numbers, groups, window=(), more=()):
    def two(v, none):
        return [none] * (2 - len(v)) + list(v)

    numbers = numbers if rule == "numbers" else [(0, 0)] * axes
    return [LAYOUTS.index(layout), RULES.index(rule), axes, *two(stride, 1), *two(dilation, 1), *two([p[0] for p in numbers], 0),
            *two([p[1] for p in numbers], 0), groups, *two(window, 0), *two(more, 0)]


def text(x):
    return " ".join(str(int(v)) if v == int(v) else repr(float(v)) for v in x.flatten().tolist())


def line(what, numbers, x, w, y, scale=1):
    g = values(y.shape, 2)
    leaves = [x] if w is None else [x, w]
    gradients = torch.autograd.grad((y * g).sum(), leaves)
    shapes = [" ".join(map(str, t.shape)) if t is not None else "" for t in (x, w, y)]
    found = [text(torch.round(t * scale * 1e6) / 1e6) for t in (y, *gradients)] + ([""] if w is None else [])
    return "\t".join([what, " ".join(map(str, numbers)), *(s or "-" for s in (*shapes, *found))])


def some(axes, layout, extents, channels):
    return [2, *extents, channels] if layout == "nhwc" else [2, channels, *extents]


lines = [f"# Written by convolutions.py with PyTorch {torch.__version__.split('+')[0]}."]
while len(lines) < 41:
    what = ("convolution", "depthwise", "transposed", "max", "mean")[len(lines) % 5 if len(lines) > 15 else 0]
    pooling = what in ("max", "mean")
    axes = 2 if pooling or what == "depthwise" else random.choice((1, 2, 2))
    layout, rule = random.choice(LAYOUTS), random.choice(RULES)
    extents = [random.randint(2, 7) for _ in range(axes)]
    window = [random.randint(1, 3) for _ in range(axes)]
    stride = [random.randint(1, 3) for _ in range(axes)]
    dilation = [1 if pooling else random.choice((1, 1, 2)) for _ in range(axes)]
    numbers = [(random.randint(0, k - 1), random.randint(0, k - 1)) for k in window]
    if what in ("transposed", "mean"):  # which PyTorch has with equal padding on both sides alone
        numbers = [(n[0] // 2, n[0] // 2) for n in numbers]
    groups = random.choice((1, 1, 2)) if what in ("convolution", "transposed") else 1
    conv = F.conv1d if axes == 1 else F.conv2d
    if pooling:
        if what == "mean" and rule == "same":
            rule = "valid"
        x = values(some(axes, layout, extents, 2), 0, 101, 0).requires_grad_()
        pad = pads(rule, extents, window, stride, dilation, numbers)
        if any(n + sum(p) < k for n, p, k in zip(extents, pad, window)):
            continue
        if what == "max":
            y = F.max_pool2d(padded(to_torch(x, layout), pad, -float("inf")), window, stride)
        else:
            if any(p[0] * 2 > k for p, k in zip(pad, window)):
                continue
            y = F.avg_pool2d(to_torch(x, layout), window, stride, [p[0] for p in pad], count_include_pad=False)
        lines.append(line(what, options(layout, rule, axes, stride, dilation, pad, 1, window), x, None, from_torch(y, layout),
                          36 if what == "mean" else 1))
        continue
    into, out = random.randint(1, 3), random.randint(1, 3)
    if what == "depthwise":
        channels, times = random.randint(2, 3), random.randint(1, 2)
        x = values(some(axes, layout, extents, channels), 0).requires_grad_()
        shape = [*window, channels, times] if layout == "nhwc" else [channels * times, 1, *window]
        groups = channels
    else:
        x = values(some(axes, layout, extents, (out if what == "transposed" else into) * groups), 0).requires_grad_()
        shape = [*window, into, out * groups] if layout == "nhwc" else [out * groups, into, *window]
    w = values(shape, 1).requires_grad_()
    in_torch = filter_to_torch(w, layout, what == "depthwise").contiguous()
    if what == "transposed":
        rule = random.choice(("valid", "numbers"))
        more = [random.randint(0, s - 1) for s in stride]
        numbers = numbers if rule == "numbers" else [(0, 0)] * axes
        if any((n - 1) * s + (k - 1) * d + 1 - 2 * p[0] + m < 1
               for n, s, k, d, p, m in zip(extents, stride, window, dilation, numbers, more)):
            continue
        turned = F.conv_transpose1d if axes == 1 else F.conv_transpose2d
        y = turned(to_torch(x, layout), in_torch, None, stride, [p[0] for p in numbers], more, groups, dilation)
        lines.append(line(what, options(layout, rule, axes, stride, dilation, numbers, groups, (), more), x, w,
                          from_torch(y, layout)))
        continue
    pad = pads(rule, extents, window, stride, dilation, numbers)
    if any(n + sum(p) < (k - 1) * d + 1 for n, p, k, d in zip(extents, pad, window, dilation)):
        continue
    y = conv(padded(to_torch(x, layout), pad), in_torch, None, stride, 0, dilation, groups)
    lines.append(line(what, options(layout, rule, axes, stride, dilation, numbers, 0 if what == "depthwise" else groups), x, w,
                      from_torch(y, layout)))
(HERE / "convolutions.tsv").write_text("\n".join(lines) + "\n")
