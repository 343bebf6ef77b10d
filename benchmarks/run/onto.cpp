// SPDX-License-Identifier: BSL-1.0
// onto, as its documents say: programs that are prepared once and then repeated. Every result is a tensor of its own.
// With BENCH_FORMS set, maps, folds and what is tiny by `evaluate` and `evaluate_to` too, as peers of their own.
#include "bench.hpp"

#include <onto/onto.hpp>

#include <cstdlib>
#include <span>
#include <tuple>

namespace {

using bench::input;
using bench::problem;
using onto::dyn;
using onto::range;
using onto::to_end;

using vector = onto::tensor_ref<float, dyn>;
using matrix = onto::tensor_ref<float, dyn, dyn>;

constexpr auto a = onto::placeholder<"a", float, dyn>;
constexpr auto b = onto::placeholder<"b", float, dyn>;
constexpr auto c = onto::placeholder<"c", float, dyn>;
constexpr auto d = onto::placeholder<"d", float, dyn>;
constexpr auto x = onto::placeholder<"x", float, dyn, dyn>;
constexpr auto y = onto::placeholder<"y", float, dyn, dyn>;

constexpr auto in = onto::placeholder<"in", float, dyn, 784>;
constexpr auto w1 = onto::placeholder<"w1", float, 784, 512>;
constexpr auto w2 = onto::placeholder<"w2", float, 512, 512>;
constexpr auto w3 = onto::placeholder<"w3", float, 512, 10>;
constexpr auto wide = onto::placeholder<"wide", float, 512>;
constexpr auto narrow = onto::placeholder<"narrow", float, 10>;
constexpr auto s = onto::placeholder<"s", float, 8>;
constexpr auto t = onto::placeholder<"t", float, 8>;
constexpr auto m0 = onto::placeholder<"m0", float, 4, 4>;
constexpr auto m1 = onto::placeholder<"m1", float, 4, 4>;
constexpr auto m2 = onto::placeholder<"m2", float, 4, 4>;
constexpr auto m3 = onto::placeholder<"m3", float, 4, 4>;

/// A session that uses so many threads, kept for the next timing.
onto::session& session_of(int threads) {
  const auto make = [](int count) {
    onto::session_options o;
    o.cpu_threads = count;
    return new onto::session{o};
  };
  static onto::session& one = *make(1);
  if (threads == 1) return one;
  static onto::session& all = *make(threads);
  return all;
}

/// A vector or matrix of the problem, from input `k`.
vector row(int k, std::int64_t n) { return {input(k, n), {static_cast<int>(n)}}; }
matrix grid(int k, std::int64_t rows, std::int64_t cols) {
  return {input(k, rows * cols), {static_cast<int>(rows), static_cast<int>(cols)}};
}

/// A case without a session. `feeds(problem)` is the tuple of what it is fed.
template <class E, class Feeds>
void add_forms(const char* name, const E& e, const Feeds& feeds) {
  if (!std::getenv("BENCH_FORMS")) return;
  bench::add("onto_evaluate", name, [=](const problem& p) {
    return [e, all = feeds(p)] { return std::apply([&](const auto&... f) { return evaluate(e, f...); }, all); };
  });
  if constexpr (std::is_same_v<typename E::element_type, float>)
    bench::add("onto_evaluate_to", name, [=](const problem& p) {
      const auto count = static_cast<std::size_t>(bench::result_count(p));
      return [e, all = feeds(p), out = std::span<float>(bench::output(bench::result_count(p)), count)] {
        std::apply([&](const auto&... f) { evaluate_to(out, e, f...); }, all);
      };
    });
}

/// A case over `a`, over `a` and `b`, ...
template <class E>
void add1(const char* name, const E& e) {
  add_forms(name, e, [](const problem& p) { return std::tuple{a = row(0, p.n())}; });
  bench::add("onto", name, [e](const problem& p) {
    return [step = session_of(p.threads).prepare(e), u = row(0, p.n())] { return step(a = u); };
  });
}
template <class E>
void add2(const char* name, const E& e) {
  add_forms(name, e, [](const problem& p) { return std::tuple{a = row(0, p.n()), b = row(1, p.n())}; });
  bench::add("onto", name, [e](const problem& p) {
    return
        [step = session_of(p.threads).prepare(e), u = row(0, p.n()), v = row(1, p.n())] { return step(a = u, b = v); };
  });
}

/// A case over the square matrices `x` and `y`.
template <class E>
void add_squares(const char* name, const E& e) {
  bench::add("onto", name, [e](const problem& p) {
    return [step = session_of(p.threads).prepare(e), u = grid(0, p.rows, p.cols), v = grid(1, p.rows, p.cols)] {
      return step(x = u, y = v);
    };
  });
}

template <int N>
constexpr auto matpow(auto m) {
  if constexpr (N == 1)
    return m;
  else
    return matmul(m, matpow<N - 1>(m));
}

void add_maps() {
  add2("triad", a + 1.5f * b);
  bench::add("onto", "chain", [](const problem& p) {
    return [step = session_of(p.threads).prepare(sqrt(a * a + b * b) * c - d / (a + 1) + maximum(b, 0)),
            ra = row(0, p.n()), rb = row(1, p.n()), rc = row(2, p.n()),
            rd = row(3, p.n())] { return step(a = ra, b = rb, c = rc, d = rd); };
  });
  add_forms("chain", sqrt(a * a + b * b) * c - d / (a + 1) + maximum(b, 0), [](const problem& p) {
    return std::tuple{a = row(0, p.n()), b = row(1, p.n()), c = row(2, p.n()), d = row(3, p.n())};
  });
  add1("exp", exp(a));
  add1("tanh", tanh(a));
  add1("gelu", 0.5f * a * (tanh(0.7978845608f * (a + 0.044715f * a * a * a)) + 1));
  bench::add("onto", "rowadd", [](const problem& p) {
    return [step = session_of(p.threads).prepare(relu(x + b)), u = grid(0, p.rows, p.cols), v = row(1, p.cols)] {
      return step(x = u, b = v);
    };
  });
  add_forms("rowadd", relu(x + b), [](const problem& p) {
    return std::tuple{x = grid(0, p.rows, p.cols), b = row(1, p.cols)};
  });
  add_forms("sliced", onto::slice<range<>, range<0, to_end, 2>>(x) + y, [](const problem& p) {
    return std::tuple{x = grid(0, p.rows, 2 * p.cols), y = grid(1, p.rows, p.cols)};
  });
  bench::add("onto", "sliced", [](const problem& p) {
    return [step = session_of(p.threads).prepare(onto::slice<range<>, range<0, to_end, 2>>(x) + y),
            u = grid(0, p.rows, 2 * p.cols), v = grid(1, p.rows, p.cols)] { return step(x = u, y = v); };
  });
  add_squares("transposed", x + transpose(y));
  add_forms("transposed", x + transpose(y), [](const problem& p) {
    return std::tuple{x = grid(0, p.rows, p.cols), y = grid(1, p.rows, p.cols)};
  });
}

void add_reductions() {
  add2("sqdiff", sum(square(a - b)));
  add1("argmax", argmax(a));
  bench::add("onto", "softmax", [](const problem& p) {
    return [step = session_of(p.threads).prepare(softmax(x)), u = grid(0, p.rows, p.cols)] { return step(x = u); };
  });
  bench::add("onto", "layernorm", [](const problem& p) {
    const auto centered = x - onto::mean<1>(x, onto::keep_extents);
    const auto scale = rsqrt(onto::mean<1>(square(centered), onto::keep_extents) + 1e-5f);
    return [step = session_of(p.threads).prepare(centered * scale * b + c), u = grid(0, p.rows, p.cols),
            v = row(1, p.cols), w = row(2, p.cols)] { return step(x = u, b = v, c = w); };
  });
}

void add_products() {
  add_squares("matmul", matmul(x, y));
  add_squares("matmul_tn", matmul(transpose(x), y));
  add_squares("matmul_nt", matmul(x, transpose(y)));
  add_squares("matmul_tt", matmul(transpose(x), transpose(y)));
  bench::add("onto", "matmul_bias_relu", [](const problem& p) {
    return [step = session_of(p.threads).prepare(relu(matmul(x, y) + b)), u = grid(0, p.rows, p.cols),
            v = grid(1, p.rows, p.cols), w = row(2, p.cols)] { return step(x = u, y = v, b = w); };
  });
  add_squares("headline", matpow<10>(x) + matpow<10>(y));
  bench::add("onto", "perceptron", [](const problem& p) {
    const auto hidden = relu(matmul(relu(matmul(in, w1) + wide), w2) + wide);
    using fixed1 = onto::tensor_ref<float, 784, 512>;
    using fixed2 = onto::tensor_ref<float, 512, 512>;
    using fixed3 = onto::tensor_ref<float, 512, 10>;
    return [step = session_of(p.threads).prepare(softmax(matmul(hidden, w3) + narrow)),
            u = onto::tensor_ref<float, dyn, 784>(input(0, 256 * 784), {256, 784}),
            m1 = fixed1(input(1, 784 * 512), {784, 512}), m2 = fixed2(input(2, 512 * 512), {512, 512}),
            m3 = fixed3(input(3, 512 * 10), {512, 10}), b1 = onto::tensor_ref<float, 512>(input(4, 512), {512}),
            b3 = onto::tensor_ref<float, 10>(input(4, 512), {10})] {
      return step(in = u, w1 = m1, w2 = m2, w3 = m3, wide = b1, narrow = b3);
    };
  });
}

void add_tiny() {
  bench::add("onto", "tiny_triad", [](const problem& p) {
    using vector8 = onto::tensor_ref<float, 8>;
    return [step = session_of(p.threads).prepare(s + 1.5f * t), u = vector8(input(0, 8), {8}),
            v = vector8(input(1, 8), {8})] { return step(s = u, t = v); };
  });
  bench::add("onto", "tiny_matmul", [](const problem& p) {
    const auto fixed = [](int k) { return onto::tensor_ref<float, 4, 4>(input(k, 16), {4, 4}); };
    return [step = session_of(p.threads).prepare(matmul(matmul(matmul(m0, m1), m2), m3)), f0 = fixed(0), f1 = fixed(1),
            f2 = fixed(2), f3 = fixed(3)] { return step(m0 = f0, m1 = f1, m2 = f2, m3 = f3); };
  });
}

/// What is tiny.
void add_static_forms() {
  using vector8 = onto::tensor_ref<float, 8>;
  add_forms("tiny_triad", s + 1.5f * t, [](const problem&) {
    return std::tuple{s = vector8(input(0, 8), {8}), t = vector8(input(1, 8), {8})};
  });
  add_forms("tiny_matmul", matmul(matmul(matmul(m0, m1), m2), m3), [](const problem&) {
    const auto fixed = [](int k) { return onto::tensor_ref<float, 4, 4>(input(k, 16), {4, 4}); };
    return std::tuple{m0 = fixed(0), m1 = fixed(1), m2 = fixed(2), m3 = fixed(3)};
  });
}

void register_cases() {
  add_maps();
  add_reductions();
  add_products();
  add_tiny();
  add_static_forms();
}
const bench::peer registered(register_cases);

}  // namespace
