#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes training.tsv: what PyTorch's optimizers and losses make of a few numbers, in double.

Python 3 with PyTorch: `python3 tests/conformance/training.py`. A row is a name and numbers.
"""
import math
import pathlib

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def table(f, *shape):
    count = math.prod(shape)
    return torch.tensor([f(k) for k in range(count)]).reshape(shape)


x = table(lambda k: math.sin(1 + 3 * k), 16, 2)
t = x[:, :1] * x[:, 1:]
STEPS = 100


def start():
    parts = [
        table(lambda k: 0.5 * math.sin(k + 1), 2, 8),
        table(lambda k: 0.1 * math.cos(k), 8),
        table(lambda k: 0.5 * math.cos(k + 1), 8, 1),
        torch.zeros(1),
    ]
    return [p.requires_grad_() for p in parts]


def loss_of(p):
    return torch.mean((torch.tanh(x @ p[0] + p[1]) @ p[2] + p[3] - t) ** 2)


rows = []


def trajectory(name, make, rate=None, clip=None, average=None):
    p = start()
    optimizer = make(p)
    base = optimizer.param_groups[0]["lr"]
    losses = []
    shadow = p[0].detach().clone()
    for k in range(STEPS):
        if rate:
            optimizer.param_groups[0]["lr"] = base * rate(k)
        optimizer.zero_grad()
        loss = loss_of(p)
        losses.append(loss.item())
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(p, clip)
        optimizer.step()
        if average:
            decay = min(average, (2 + k) / (11 + k))
            shadow -= (1 - decay) * (shadow - p[0].detach())
    numbers = [losses[k] for k in (0, 1, 2, 9, 49, 99)]
    numbers += (shadow if average else p[0].detach()).flatten().tolist()
    rows.append((name, numbers))


o = torch.optim
trajectory("sgd", lambda p: o.SGD(p, lr=0.1))
trajectory("sgd momentum", lambda p: o.SGD(p, lr=0.05, momentum=0.9))
trajectory("sgd nesterov", lambda p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01))
trajectory("sgd weight_decay", lambda p: o.SGD(p, lr=0.1, weight_decay=0.01))
trajectory("adam", lambda p: o.Adam(p, lr=0.02))
trajectory("adam weight_decay", lambda p: o.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1))
trajectory("adamw", lambda p: o.AdamW(p, lr=0.02))
trajectory("rmsprop", lambda p: o.RMSprop(p, lr=0.005))
trajectory("rmsprop momentum", lambda p: o.RMSprop(p, lr=0.002, momentum=0.9))
trajectory("rmsprop centered",
           lambda p: o.RMSprop(p, lr=0.002, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.01, eps=1e-6))
trajectory("adagrad", lambda p: o.Adagrad(p, lr=0.1))
trajectory("adagrad decay",
           lambda p: o.Adagrad(p, lr=0.1, lr_decay=0.01, initial_accumulator_value=0.1, weight_decay=0.01))
trajectory("exponential", lambda p: o.SGD(p, lr=0.1, momentum=0.9), lambda k: 0.5 ** (k / 20))
trajectory("staircase", lambda p: o.SGD(p, lr=0.1, momentum=0.9), lambda k: 0.5 ** (k // 20))
trajectory("cosine", lambda p: o.Adam(p, lr=0.05),
           lambda k: 0.9 * 0.5 * (1 + math.cos(math.pi * min(1, k / 80))) + 0.1)
trajectory("warm_up", lambda p: o.Adam(p, lr=0.05), lambda k: min(1, (k + 1) / 10))
trajectory("clip", lambda p: o.SGD(p, lr=0.5, momentum=0.9), clip=0.1)
trajectory("average", lambda p: o.SGD(p, lr=0.1), average=0.95)

# Losses: the value, then the gradient by the scores, of 4 rows of 5.
scores = table(lambda k: 3 * math.sin(2 * k + 1), 4, 5)
labels = torch.tensor([0, 3, 4, 1])
shares = torch.softmax(table(lambda k: math.cos(k), 4, 5), 1)
targets = table(lambda k: 0.5 + 0.5 * math.sin(k), 4, 5)


def value_and_gradient(name, f, at=scores):
    s = at.clone().requires_grad_()
    value = f(s)
    value.backward()
    rows.append((name, [value.item()] + s.grad.flatten().tolist()))


f = torch.nn.functional
value_and_gradient("softmax_cross_entropy indices", lambda s: f.cross_entropy(s, labels))
value_and_gradient("softmax_cross_entropy shares", lambda s: f.cross_entropy(s, shares))
value_and_gradient("sigmoid_cross_entropy", lambda s: f.binary_cross_entropy_with_logits(s, targets))
value_and_gradient("sigmoid_cross_entropy far", lambda s: f.binary_cross_entropy_with_logits(s, targets), scores * 400)
value_and_gradient("mean_squared_error", lambda s: f.mse_loss(s, targets))
value_and_gradient("huber", lambda s: f.huber_loss(s, targets))
value_and_gradient("huber delta", lambda s: f.huber_loss(s, targets, delta=0.7))

# Normalization, weighted so that the gradient is not 0.
weights = table(lambda k: math.cos(3 * k), 4, 5)
gain = table(lambda k: 1 + 0.1 * k, 5)
shift = table(lambda k: 0.2 * k - 0.3, 5)
value_and_gradient("layer_norm", lambda s: (weights * f.layer_norm(s, (5,), gain, shift)).sum())
mean, var = torch.zeros(5), torch.ones(5)
value_and_gradient("batch_norm",
                   lambda s: (weights * f.batch_norm(s, mean, var, gain, shift, training=True, momentum=0.1)).sum())
rows.append(("batch_norm statistics", mean.tolist() + var.tolist()))
value_and_gradient("batch_norm inference",
                   lambda s: (weights * f.batch_norm(s, mean, var, gain, shift, training=False)).sum())
# TensorFlow's rule does not divide alpha by the window: PyTorch's alpha is 5 times it for a window of 5.
image = table(lambda k: 2 * math.sin(k), 1, 2, 2, 7)
lrn_weights = table(lambda k: math.cos(3 * k), 1, 2, 2, 7)
value_and_gradient("local_response_norm",
                   lambda s: (lrn_weights * f.local_response_norm(
                       s.permute(0, 3, 1, 2), 5, alpha=0.1 * 5, beta=0.75, k=2.0).permute(0, 2, 3, 1)).sum(), image)

out = pathlib.Path(__file__).with_name("training.tsv")
out.write_text("".join(f"{name}\t{' '.join(repr(float(v)) for v in numbers)}\n" for name, numbers in rows))
