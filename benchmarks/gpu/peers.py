#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# The rows of the GPU benchmarks in PyTorch (eager and compiled), JAX and CuPy, as far as they are installed. A line of
# JSON on standard output for each, as the programs beside this write them.
import importlib
import json
import math
import re
import statistics
import sys
import time

ROUNDS = 11


def report(row, who, seconds, error=None, note=""):
    quartiles = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else [seconds[0]] * 3
    print(json.dumps({**row, "who": who, "us": statistics.median(seconds) * 1e6, "low": quartiles[0] * 1e6,
                      "high": quartiles[2] * 1e6, "error": error, "note": note}), flush=True)


def skip(row, who, why):
    lines = str(why).strip().splitlines()
    # A compiler's sentence without the path of the file that was made for it.
    reason = re.sub(r"\S*/(?=[^/\s]+)", "", lines[0]) if lines else type(why).__name__
    reason = re.sub(r"^[0-9a-f]{16,}\.[\w.]+\(\d+\): ", "", reason)
    print(json.dumps({**row, "who": who, "skip": reason}), flush=True)


def sets_for(size):
    if size < 4e6 or size >= 256e6:
        return 1
    return min(8, math.ceil(256e6 / size))


def describe(family, name, shape, size, moved, flops=0, kind="float32"):
    return {"family": family, "row": name, "shape": shape, "type": kind, "size": size, "bytes": moved, "flops": flops}


def element_rows():
    """Row, the shapes of its operands, and what to call with them."""
    for m, n in ((100000, 1000), (10000, 1000), (100, 1000)):
        size = m * n
        both = f"{m}x{n}"
        for name, inputs in (("a + s*b", 2), ("8 operations", 4), ("exp", 1), ("tanh", 1), ("gelu", 1)):
            yield describe("maps", name, both, size, 4 * size * (inputs + 1)), [(m, n)] * inputs
        yield describe("maps", "broadcast add and relu", both, size, 8 * size + 4 * n), [(m, n), (n,)]
        yield describe("maps", "transpose(a) + b", both, size, 12 * size), [(m, n), (n, m)]
        yield describe("maps", "pairs of rows added", both, size, 6 * size), [(m, n)]
        yield describe("reductions", "sum of (a - b)^2", both, size, 8 * size), [(m, n)] * 2
        yield describe("reductions", "max", both, size, 4 * size), [(m, n)]
        yield describe("reductions", "argmax", both, size, 4 * size), [(m, n)]
        yield describe("reductions", "sums of columns", both, size, 4 * size + 4 * n), [(m, n)]
    for m, n in ((4096, 1024), (32768, 1024), (4096, 8192)):
        yield describe("rows", "softmax", f"{m}x{n}", m * n, 8 * m * n), [(m, n)]
        yield describe("rows", "layer normalization", f"{m}x{n}", m * n, 8 * m * n + 8 * n), [(m, n), (n,), (n,)]


def product_rows():
    for n in (8192, 4096, 2048, 1024, 256):
        for kind, width in (("float32", 4), ("tf32", 4), ("float16", 2)):
            yield describe("matmul", "relu(a @ b + bias)", str(n), n * n, width * (3 * n * n + n), 2 * n ** 3, kind)


def word_rows():
    """Row, the shapes of its operands, and how many numbers there are of those that are numbers of rows."""
    for n in (10000000, 100000):
        for name, width in (("sort(v)", 8), ("argsort(v)", 12), ("top_k<10>(v)", 4), ("cumsum(v)", 8)):
            yield describe("words", name, str(n), n, width * n), [(n,)], 0
    for m, n in ((4096, 1024), (100000, 32)):
        yield describe("words", "sort(m)", f"{m}x{n}", m * n, 8 * m * n), [(m, n)], 0
    yield describe("words", "take<0>(m, numbers)", "65536 of 100000x256", 65536 * 256, 8 * 65536 * 256), [(100000, 256), (65536,)], 100000
    for m, n, segments in ((65536, 256, 1000), (10000000, 1, 16)):
        yield describe("words", "segment_sum(m, numbers)", f"{m}x{n} to {segments}", m * n, 4 * (m + segments) * n), [(m, n), (m,)], segments
    n = 10000000
    yield describe("words", "bincount<1024>(numbers)", str(n), n, 8 * n), [(n,)], 1024
    yield describe("words", "histogram<64>(v, -1, 1)", str(n), n, 4 * n), [(n,)], 0
    for name in ("var<1>(m)", "logsumexp<1>(m)", "argmax<1>(m)"):
        yield describe("words", name, "4096x8192", 4096 * 8192, 4 * 4096 * 8192), [(4096, 8192)], 0
    yield describe("words", "random_normal", str(n), n, 4 * n), [], 0


def run_words(who, make, make_numbers, function_of, measure, release):
    """`function_of(name, count)`: what to call with the operands, of which the last are numbers below `count` where that is not 0."""
    for row, shapes, count in word_rows():
        try:
            sets = min(4, sets_for(row["bytes"]))
            operands = [[make_numbers(s, 10 * k + i, count) if count and i == len(shapes) - 1 else make(s, 10 * k + i)
                         for i, s in enumerate(shapes)] for k in range(sets)]
            f = function_of(row["row"], count)
            report(row, who, measure(lambda k: f(*operands[k]), sets))
        except Exception as e:
            skip(row, who, e)
        operands = None
        release()


def functions(x, gelu, softmax, layer_norm):
    """What the rows compute; `x` is the library's module, which has NumPy's names."""
    return {
        "a + s*b": lambda a, b: a + 1.5 * b,
        "8 operations": lambda a, b, c, d: x.sqrt(a * a + b * b) * c - d / (a + 1) + x.maximum(b, b * 0),
        "exp": x.exp,
        "tanh": x.tanh,
        "gelu": gelu,
        "broadcast add and relu": lambda a, v: x.maximum(a + v, v[:1] * 0),
        "transpose(a) + b": lambda a, b: a.T + b,
        "pairs of rows added": lambda a: a[0::2] + a[1::2],
        "sum of (a - b)^2": lambda a, b: ((a - b) ** 2).sum(),
        "max": lambda a: a.max(),
        "argmax": lambda a: a.argmax(),
        "sums of columns": lambda a: a.sum(0),
        "softmax": softmax,
        "layer normalization": layer_norm,
    }


def host_seconds(call, wait, rounds):
    seconds = []
    for _ in range(2):
        wait(call())
    for _ in range(rounds):
        begin = time.perf_counter()
        wait(call())
        seconds.append(time.perf_counter() - begin)
    return seconds


def by_events(event, elapsed_ms, synchronize):
    """A timer of calls made one after the other on the GPU."""

    def measure(call, sets):
        for k in range(2 * sets):
            call(k % sets)
        synchronize()
        begin = time.perf_counter()
        for k in range(sets):
            call(k)
        synchronize()
        once = max((time.perf_counter() - begin) / sets, 1e-6)
        count = sets * max(1, min(200 // sets, int(3e-3 / once / sets)))
        seconds = []
        for _ in range(ROUNDS):
            first, last = event(), event()
            first.record()
            for k in range(count):
                call(k % sets)
            last.record()
            last.synchronize()
            seconds.append(elapsed_ms(first, last) * 1e-3 / count)
        return seconds

    return measure


def run_rows(who, make, function_of, exact, measure, release, least=0, exact_error=1e-4):
    """The rows of elements: `make(shape, seed)`, `function_of(name)`, `exact(name, operands, result)` an error."""
    for row, shapes in element_rows():
        if row["size"] < least:
            continue
        try:
            sets = sets_for(row["bytes"])
            scale = 4 if row["family"] == "rows" else 1
            operands = [[make(s, 10 * k + i, scale if i == 0 else 1) for i, s in enumerate(shapes)] for k in range(sets)]
            f = function_of(row["row"])
            result = f(*operands[0])
            if row["row"] == "argmax":  # of several greatest any will do
                error = 0.0 if bool(operands[0][0].ravel()[result] == operands[0][0].max()) else 1.0
            else:
                error = exact(row["row"], operands[0], result)
            result = None
            if not error <= exact_error:
                skip(row, who, f"the result is wrong by {error:.2e}")
                continue
            report(row, who, measure(lambda k: f(*operands[k]), sets), error)
        except Exception as e:  # another row may do
            skip(row, who, e)
        operands = None
        release()


# ---- PyTorch ---------------------------------------------------------------------------------------------------------


def run_torch(torch):
    nn = torch.nn.functional
    generator = torch.Generator("cuda")

    def make(shape, seed, scale=1, kind=torch.float32):
        generator.manual_seed(seed)
        return ((torch.rand(shape, device="cuda", generator=generator) * 2 - 1) * scale).to(kind)

    table = functions(torch, nn.gelu, lambda a: torch.softmax(a, -1),
                      lambda a, g, b: nn.layer_norm(a, a.shape[-1:], g, b, 1e-5))
    table["8 operations"] = lambda a, b, c, d: torch.sqrt(a * a + b * b) * c - d / (a + 1) + torch.relu(b)
    table["broadcast add and relu"] = lambda a, v: torch.relu(a + v)
    measure = by_events(lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b),
                        torch.cuda.synchronize)

    def exact(name, operands, result):
        expected = table[name](*[x.double() for x in operands])
        scale = expected.double().norm().item() or 1
        return (result.double() - expected.double()).norm().item() / scale

    # One compiled function each, made anew for other shapes.
    compiled = {}

    def compile_of(name):
        torch._dynamo.reset()
        compiled[name] = torch.compile(table[name])
        return compiled[name]

    run_rows("torch", make, table.__getitem__, exact, measure, torch.cuda.empty_cache)

    def word(name, count):
        return {
            "sort(v)": lambda v: torch.sort(v).values,
            "argsort(v)": lambda v: torch.argsort(v, stable=True),
            "top_k<10>(v)": lambda v: torch.topk(v, 10).values,
            "cumsum(v)": lambda v: torch.cumsum(v, 0),
            "sort(m)": lambda m: torch.sort(m, -1).values,
            "take<0>(m, numbers)": lambda m, at: torch.index_select(m, 0, at),
            "segment_sum(m, numbers)": lambda m, at: torch.zeros(count, m.shape[1], device="cuda").index_add_(0, at, m),
            "bincount<1024>(numbers)": lambda at: torch.bincount(at, minlength=1024),
            "histogram<64>(v, -1, 1)": lambda v: torch.histc(v, 64, -1, 1),
            "var<1>(m)": lambda m: torch.var(m, 1, correction=0),
            "logsumexp<1>(m)": lambda m: torch.logsumexp(m, 1),
            "argmax<1>(m)": lambda m: torch.argmax(m, 1),
            "random_normal": lambda: torch.randn(10000000, device="cuda"),
        }[name]

    def make_numbers(shape, seed, count):
        generator.manual_seed(seed)
        return torch.randint(0, count, shape, device="cuda", generator=generator)

    run_words("torch", make, make_numbers, word, measure, torch.cuda.empty_cache)

    def layer(a, b, bias):
        return torch.relu(torch.addmm(bias, a, b))

    for row in product_rows():
        n, kind = int(row["shape"]), torch.float16 if row["type"] == "float16" else torch.float32
        torch.backends.cuda.matmul.allow_tf32 = row["type"] == "tf32"
        sets = min(4, sets_for(row["bytes"]))
        try:
            operands = [[make((n, n), 20 + k, 1, kind), make((n, n), 30 + k, 1, kind), make((n,), 3, 1, kind)]
                        for k in range(sets)]
            expected = layer(*[x.double() for x in operands[0]]) if n <= 4096 else None
            torch._dynamo.reset()
            for who, f in (("torch", layer), ("torch.compile", torch.compile(layer))):
                result = f(*operands[0])
                error = None if expected is None else ((result - expected).norm() / expected.norm()).item()
                if error is not None and not error <= 5e-3:
                    skip(row, who, f"the result is wrong by {error:.2e}")
                    continue
                report(row, who, measure(lambda k: f(*operands[k]), sets), error)
        except Exception as e:
            skip(row, "torch", e)
    torch.backends.cuda.matmul.allow_tf32 = False

    def pairs(v, row):
        for _ in range(50):
            v = (v[:, None] * row).sum(1)
        return v

    row = describe("tiny", "100 tiny operations", "8", 8, 0)
    values, factors = torch.arange(1, 9).float(), 0.25 + 0.01 * (torch.arange(8).float() - 8)
    values, factors = values.pin_memory(), factors.pin_memory()
    torch._dynamo.reset()
    for who, f in (("torch", pairs), ("torch.compile", torch.compile(pairs, mode="reduce-overhead"))):
        try:
            call = lambda: f(values.cuda(non_blocking=True), factors.cuda(non_blocking=True)).cpu()
            error = ((call().double() - pairs(values.double(), factors.double())).norm() / call().norm()).item()
            report(row, who, host_seconds(call, lambda r: r, 300), error)
        except Exception as e:
            skip(row, who, e)

    for n, rounds in ((4096, 7), (10000, 3)):
        row = describe("headline", "A^10 + B^10", str(n), n * n, 12 * n * n, 36 * n ** 3)
        try:
            spread = math.sqrt(3 / n)
            a, b = (make((n, n), seed, spread).cpu().pin_memory() for seed in (1, 2))

            def power(m):
                p = m
                for _ in range(9):
                    p = m @ p
                return p

            def headline():
                x, y = a.cuda(non_blocking=True), b.cuda(non_blocking=True)
                return power(x).cpu() + power(y).cpu()

            report(row, "torch", host_seconds(headline, lambda r: r, rounds))
        except Exception as e:
            skip(row, "torch", e)
        torch.cuda.empty_cache()

    # Last, since compiling takes long; not where a launch takes longer than the work.
    run_rows("torch.compile", make, compile_of, exact, measure, torch.cuda.empty_cache, least=4e6)


# ---- CuPy ------------------------------------------------------------------------------------------------------------


def run_cupy(cupy):
    special = importlib.import_module("cupyx.scipy.special")

    def make(shape, seed, scale=1, kind="float32"):
        state = cupy.random.RandomState(seed)
        return ((state.random_sample(shape, dtype=cupy.float32) * 2 - 1) * cupy.float32(scale)).astype(kind)

    def gelu(x):
        return 0.5 * x * (1 + special.erf(x * 0.7071067811865476))

    def softmax(a):
        e = cupy.exp(a - a.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def layer_norm(a, g, b):
        d = a - a.mean(-1, keepdims=True)
        return d / cupy.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b

    # Its own way to one kernel.
    table = functions(cupy, gelu, softmax, layer_norm)
    fused = {name: cupy.fuse(table[name]) for name in ("a + s*b", "8 operations")}
    fused["gelu"] = cupy.fuse(gelu)
    measure = by_events(cupy.cuda.Event, cupy.cuda.get_elapsed_time, cupy.cuda.Device().synchronize)

    def exact(name, operands, result):
        expected = table[name](*[x.astype("float64") for x in operands])
        scale = float(cupy.linalg.norm(expected.astype("float64").ravel())) or 1
        return float(cupy.linalg.norm((result.astype("float64") - expected).ravel())) / scale

    run_rows("cupy", make, lambda name: fused.get(name, table[name]), exact, measure,
             cupy.get_default_memory_pool().free_all_blocks)


# ---- JAX -------------------------------------------------------------------------------------------------------------


def run_jax(jax):
    jax.config.update("jax_enable_x64", True)  # for the references; operands are made as float32
    jnp = jax.numpy
    if jax.default_backend() not in ("gpu", "cuda"):
        raise RuntimeError(f"it runs on {jax.default_backend()}")

    def make(shape, seed, scale=1, kind=jnp.float32):
        key = jax.random.PRNGKey(seed)
        return (jax.random.uniform(key, shape, dtype=jnp.float32, minval=-1, maxval=1) * scale).astype(kind)

    def layer_norm(a, g, b):
        d = a - a.mean(-1, keepdims=True)
        return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b

    table = functions(jnp, lambda x: jax.nn.gelu(x, approximate=False), lambda a: jax.nn.softmax(a, -1), layer_norm)

    def measure(call, sets):
        for k in range(2 * sets):
            jax.block_until_ready(call(k % sets))
        begin = time.perf_counter()
        jax.block_until_ready([call(k) for k in range(sets)])
        once = max((time.perf_counter() - begin) / sets, 1e-6)
        # Results that wait take memory: not too many at a time.
        count = sets * max(1, min(32 // sets, int(3e-3 / once / sets)))
        seconds = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            last = None
            for k in range(count):
                last = call(k % sets)  # in order: when the last is there, all are
            jax.block_until_ready(last)
            seconds.append((time.perf_counter() - begin) / count)
        return seconds

    def exact(name, operands, result):
        expected = table[name](*[x.astype(jnp.float64) for x in operands])
        scale = float(jnp.linalg.norm(expected.astype(jnp.float64).ravel())) or 1
        return float(jnp.linalg.norm((result.astype(jnp.float64) - expected).ravel())) / scale

    run_rows("jax", make, lambda name: jax.jit(table[name]), exact, measure, lambda: None)

    def word(name, count):
        return jax.jit({
            "sort(v)": jnp.sort,
            "argsort(v)": lambda v: jnp.argsort(v, stable=True),
            "top_k<10>(v)": lambda v: jax.lax.top_k(v, 10)[0],
            "cumsum(v)": jnp.cumsum,
            "sort(m)": jnp.sort,
            "take<0>(m, numbers)": lambda m, at: jnp.take(m, at, axis=0),
            "segment_sum(m, numbers)": lambda m, at: jax.ops.segment_sum(m, at, count),
            "bincount<1024>(numbers)": lambda at: jnp.bincount(at, length=1024),
            "histogram<64>(v, -1, 1)": lambda v: jnp.histogram(v, 64, (-1, 1))[0],
            "var<1>(m)": lambda m: jnp.var(m, 1),
            "logsumexp<1>(m)": lambda m: jax.nn.logsumexp(m, 1),
            "argmax<1>(m)": lambda m: jnp.argmax(m, 1),
            "random_normal": lambda: jax.random.normal(jax.random.PRNGKey(7), (10000000,), jnp.float32),
        }[name])

    def make_numbers(shape, seed, count):
        return jax.random.randint(jax.random.PRNGKey(seed), shape, 0, count, jnp.int64)

    run_words("jax", make, make_numbers, word, measure, lambda: None)

    for row in product_rows():
        n, kind = int(row["shape"]), jnp.float16 if row["type"] == "float16" else jnp.float32
        sets = min(4, sets_for(row["bytes"]))
        try:
            with jax.default_matmul_precision("tensorfloat32" if row["type"] == "tf32" else "highest"):
                operands = [[make((n, n), 20 + k, 1, kind), make((n, n), 30 + k, 1, kind), make((n,), 3, 1, kind)]
                            for k in range(sets)]
                f = jax.jit(lambda a, b, bias: jnp.maximum(a @ b + bias, jnp.zeros((), kind)))
                report(row, "jax", measure(lambda k: f(*operands[k]), sets))
        except Exception as e:
            skip(row, "jax", e)

    @jax.jit
    def pairs(v, row):
        for _ in range(50):
            v = (v[:, None] * row).sum(1)
        return v

    row = describe("tiny", "100 tiny operations", "8", 8, 0)
    try:
        import numpy
        values = numpy.arange(1, 9).astype("float32")
        factors = (0.25 + 0.01 * (numpy.arange(8) - 8)).astype("float32")
        report(row, "jax", host_seconds(lambda: numpy.asarray(pairs(values, factors)), lambda r: r, 300))
    except Exception as e:
        skip(row, "jax", e)


def main():
    for module, run in (("jax", run_jax), ("cupy", run_cupy), ("torch", run_torch)):
        if sys.argv[1:] and module not in sys.argv[1:]:
            continue
        row = describe("peers", module, "", 0, 0)
        try:
            run(importlib.import_module(module))
        except Exception as e:
            skip(row, module, f"{type(e).__name__}: {e}")


main()
