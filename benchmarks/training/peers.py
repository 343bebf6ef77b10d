# SPDX-License-Identifier: BSL-1.0
# The rows of ./run bench training in PyTorch and JAX, each written as its documents say. benchmarks/beside asks.
"""usage: peers.py LIBRARY THREADS, where LIBRARY is torch, torch.compile or jax. THREADS is a number, or gpu: then each step brings its batch from the
host's memory to the GPU, as onto's feeds come, and computes in full floats."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "beside"))
from library import answer, numbers, take_gpu, take_threads  # noqa: E402

LIBRARY, ON_GPU = sys.argv[1], sys.argv[2] == "gpu"
THREADS = 0 if ON_GPU else int(sys.argv[2])
if ON_GPU:
    take_gpu()
else:
    take_threads(THREADS)

import numpy as np  # noqa: E402

COMPARED_STEPS = 5
SEQUENCES, LENGTH, WIDTH, HEADS = 4, 128, 256, 4


def zeros(*shape):
    return np.zeros(shape, np.float32)


def labels(n):
    k = np.arange(n)
    return ((k * 7 + k // 10) % 10).astype(np.int32)


def problems():
    """{row: (parameters, inputs)}; filters are (height, width, in, out)."""
    width, inner = WIDTH, 4 * WIDTH
    return {
        "tiny perceptron": lambda: ([numbers((2, 8), 3, 2), zeros(8), numbers((8, 1), 4, 2), zeros(1)], [numbers((4, 2), 1, 2), numbers((4, 1), 2)]),
        "perceptron": lambda: ([numbers((784, 512), 2, 0.1), zeros(512), numbers((512, 512), 3, 0.1), zeros(512), numbers((512, 10), 4, 0.1), zeros(10)],
                               [numbers((128, 784), 1), labels(128)]),
        "digits": lambda: ([numbers((3, 3, 1, 16), 2, 1.6), zeros(16), numbers((3, 3, 16, 32), 3, 0.4), zeros(32), numbers((512, 64), 4, 0.2), zeros(64),
                            numbers((64, 10), 5, 0.5), zeros(10)],
                           [(np.float32(8.5) + numbers((32, 8, 8), 1, 16)).astype(np.uint8), labels(32)]),
        "cifar10": lambda: ([numbers((5, 5, 3, 64), 2, 0.17), zeros(64), numbers((5, 5, 64, 64), 3, 0.17), np.full(64, 0.1, np.float32),
                             numbers((2304, 384), 4, 0.14), np.full(384, 0.1, np.float32), numbers((384, 192), 5, 0.14), np.full(192, 0.1, np.float32),
                             numbers((192, 10), 6, 0.018), zeros(10)],
                            [numbers((128, 24, 24, 3), 1, 3.4), labels(128)]),
        "transformer block": lambda: ([numbers((width, width), 3 + k, 0.2) for k in range(4)] +
                                      [numbers((width, inner), 7, 0.2), zeros(inner), numbers((inner, width), 8, 0.1), zeros(width)] +
                                      [np.ones(width, np.float32), zeros(width), np.ones(width, np.float32), zeros(width)],
                                      [numbers((SEQUENCES * LENGTH, width), 1, 2), numbers((SEQUENCES * LENGTH, width), 2, 2)]),
    }


def torch_table(compiled):
    import torch
    import torch.nn.functional as F
    if ON_GPU:
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    else:
        torch.set_num_threads(THREADS)
    device = torch.device("cuda" if ON_GPU else "cpu")

    def perceptron(p, x, y):
        hidden = F.relu(F.linear(F.relu(F.linear(x, p[0], p[1])), p[2], p[3]))
        return F.cross_entropy(F.linear(hidden, p[4], p[5]), y)

    def tiny(p, x, y):
        return F.mse_loss(torch.sigmoid(F.linear(torch.tanh(F.linear(x, p[0], p[1])), p[2], p[3])), y)

    def digits(p, x, y):
        first = F.relu(F.conv2d(x.unsqueeze(1).float() * (1 / 16), p[0], p[1], padding="same"))
        second = F.max_pool2d(F.relu(F.conv2d(first, p[2], p[3], padding="same")), 2)
        dense = F.relu(F.linear(second.permute(0, 2, 3, 1).reshape(-1, 512), p[4], p[5]))
        return F.cross_entropy(F.linear(dense, p[6], p[7]), y)

    def normalized(x):
        return F.local_response_norm(x, 9, alpha=0.001, beta=0.75, k=1.0)

    def cifar10(p, x, y):
        first = normalized(F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1], padding="same")), 3, 2, ceil_mode=True))
        second = F.max_pool2d(normalized(F.relu(F.conv2d(first, p[2], p[3], padding="same"))), 3, 2, ceil_mode=True)
        local3 = F.relu(F.linear(second.permute(0, 2, 3, 1).reshape(-1, 2304), p[4], p[5]))
        local4 = F.relu(F.linear(local3, p[6], p[7]))
        decay = (p[4].square().sum() + p[6].square().sum()) * 0.002
        return F.cross_entropy(F.linear(local4, p[8], p[9]), y) + decay

    def transformer(p, x, y):
        def in_heads(t):
            return t.view(SEQUENCES, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)
        t = F.layer_norm(x, (WIDTH,), p[8], p[9])
        mixed = F.scaled_dot_product_attention(*(in_heads(F.linear(t, p[k])) for k in range(3)))
        middle = x + F.linear(mixed.transpose(1, 2).reshape(-1, WIDTH), p[3])
        return F.mse_loss(middle + F.linear(F.gelu(F.linear(F.layer_norm(middle, (WIDTH,), p[10], p[11]), p[4], p[5])), p[6], p[7]), y)

    losses = {"tiny perceptron": tiny, "perceptron": perceptron, "digits": digits, "cifar10": cifar10, "transformer block": transformer}

    def parameter(a):  # as its modules hold them: (out, in), (out, in, height, width) with channels last
        t = torch.from_numpy(np.ascontiguousarray(a.transpose(3, 2, 0, 1) if a.ndim == 4 else a.T))
        return (t.to(memory_format=torch.channels_last) if a.ndim == 4 else t).to(device).requires_grad_()

    def data(a):
        t = torch.from_numpy(a)
        return t.permute(0, 3, 1, 2) if a.ndim == 4 else t.long() if a.dtype == np.int32 else t

    def row(name, problem):
        def make():
            values, inputs = problem()
            parameters, inputs = [parameter(v) for v in values], [data(i) for i in inputs]
            loss_of, optimizer = losses[name], (torch.optim.Adam(parameters, lr=1e-3) if name == "digits" else torch.optim.SGD(parameters, lr=0.01))
            update = optimizer.step
            if compiled:
                torch._dynamo.reset()
                loss_of, update = torch.compile(loss_of), torch.compile(update)

            def step():
                optimizer.zero_grad()
                loss = loss_of(parameters, *(i.to(device) for i in inputs))
                loss.backward()
                update()
                return loss.item()
            return step, lambda: [step() for _ in range(COMPARED_STEPS)][-1]
        return make

    return {name: row(name, problem) for name, problem in problems().items()}, torch.__version__


def jax_table():
    import jax
    import jax.numpy as jnp
    from jax import lax, nn
    if ON_GPU:
        jax.config.update("jax_default_matmul_precision", "highest")

    def cross_entropy(scores, y):
        return -jnp.mean(jnp.take_along_axis(nn.log_softmax(scores), y[:, None], axis=1))

    def conv(x, f):
        return lax.conv_general_dilated(x, f, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def max_pool(x, window, stride):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, window, window, 1), (1, stride, stride, 1), "SAME")

    def perceptron(p, x, y):
        return cross_entropy(nn.relu(nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]) @ p[4] + p[5], y)

    def tiny(p, x, y):
        return jnp.mean(jnp.square(nn.sigmoid(jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3]) - y))

    def digits(p, x, y):
        first = nn.relu(conv(x[..., None].astype(jnp.float32) * (1 / 16), p[0]) + p[1])
        second = max_pool(nn.relu(conv(first, p[2]) + p[3]), 2, 2)
        return cross_entropy(nn.relu(second.reshape(-1, 512) @ p[4] + p[5]) @ p[6] + p[7], y)

    def normalized(x):
        sums = lax.reduce_window(x * x, 0.0, lax.add, (1, 1, 1, 9), (1, 1, 1, 1), "SAME")
        return x * (1 + (0.001 / 9) * sums) ** -0.75

    def cifar10(p, x, y):
        first = normalized(max_pool(nn.relu(conv(x, p[0]) + p[1]), 3, 2))
        second = max_pool(normalized(nn.relu(conv(first, p[2]) + p[3])), 3, 2)
        local4 = nn.relu(nn.relu(second.reshape(-1, 2304) @ p[4] + p[5]) @ p[6] + p[7])
        return cross_entropy(local4 @ p[8] + p[9], y) + 0.002 * (jnp.sum(p[4]**2) + jnp.sum(p[6]**2))

    def layer_norm(x, gain, shift):
        d = x - jnp.mean(x, axis=-1, keepdims=True)
        return d * lax.rsqrt(jnp.mean(d * d, axis=-1, keepdims=True) + 1e-5) * gain + shift

    def transformer(p, x, y):
        t = layer_norm(x, p[8], p[9])
        q, k, v = ((t @ p[n]).reshape(SEQUENCES, LENGTH, HEADS, WIDTH // HEADS) for n in range(3))
        middle = x + nn.dot_product_attention(q, k, v).reshape(-1, WIDTH) @ p[3]
        return jnp.mean((middle + nn.gelu(layer_norm(middle, p[10], p[11]) @ p[4] + p[5], approximate=False) @ p[6] + p[7] - y) ** 2)

    losses = {"tiny perceptron": tiny, "perceptron": perceptron, "digits": digits, "cifar10": cifar10, "transformer block": transformer}

    def sgd(p, grads, state):
        return [w - 0.01 * g for w, g in zip(p, grads)], state

    def adam(p, grads, state):
        ms, vs, t = state
        t = t + 1
        ms = [m + 0.1 * (g - m) for m, g in zip(ms, grads)]
        vs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, grads)]
        by = 1e-3 / (1 - 0.9**t)
        return [w - by * m / (jnp.sqrt(v) / jnp.sqrt(1 - 0.999**t) + 1e-8) for w, m, v in zip(p, ms, vs)], (ms, vs, t)

    def row(name, problem):
        def make():
            values, inputs = problem()
            parameters = [jnp.asarray(v) for v in values]
            inputs = inputs if ON_GPU else [jnp.asarray(i) for i in inputs]
            update = adam if name == "digits" else sgd
            kept = ([jnp.zeros_like(v) for v in parameters], [jnp.zeros_like(v) for v in parameters], jnp.float32(0))
            held = [parameters, kept if name == "digits" else ()]

            def whole(p, state, *data):
                loss, grads = jax.value_and_grad(losses[name])(p, *data)
                return loss, *update(p, grads, state)
            whole = jax.jit(whole, donate_argnums=(0, 1))

            def step():
                loss, held[0], held[1] = whole(held[0], held[1], *inputs)
                return float(loss)
            return step, lambda: [step() for _ in range(COMPARED_STEPS)][-1]
        return make

    return {name: row(name, problem) for name, problem in problems().items()}, jax.__version__


if __name__ == "__main__":
    answer(*{"torch": lambda: torch_table(False), "torch.compile": lambda: torch_table(True), "jax": jax_table}[LIBRARY]())
