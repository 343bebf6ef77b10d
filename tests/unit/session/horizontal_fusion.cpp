// SPDX-License-Identifier: BSL-1.0
// Kernels with several results in a session: what they compute, how they are counted, what guards leave of them, and
// results that lie where operands did.
#include <onto/onto.hpp>

#include <cmath>
#include <vector>

#include "../catch.hpp"
#include "machines.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 37, 50>;
constexpr auto y = placeholder<"y", float, 37, 50>;
constexpr auto square_x = placeholder<"square_x", float, 37, 37>;
constexpr auto h = placeholder<"h", half, 37, 50>;
constexpr auto w = variable<"w", float, 37, 50>;
constexpr auto first = variable<"first", float, 37, 50>;
constexpr auto second = variable<"second", float, 37, 50>;

template <class T = float, int Rows = 37, int Columns = 50>
tensor<T, Rows, Columns> values(int seed) {
  tensor<T, Rows, Columns> t;
  int k = seed;
  for (T& e : t) e = static_cast<T>(static_cast<float>((k = (k * 31 + 17) % 1009)) / 504.0f - 1.0f);
  return t;
}

std::uint64_t kernels_of(session& sess) {
  std::uint64_t sum = 0;
  for (const device_info& d : sess.devices()) sum += static_cast<std::uint64_t>(sess.statistics(d.name).kernels);
  return sum;
}

template <class A, class B>
void check_near(const A& got, const B& expected) {
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 50; ++j)
      REQUIRE(static_cast<double>(got(i, j)) == Approx(static_cast<double>(expected(i, j))).margin(1e-5));
}

}  // namespace

TEST_CASE("several results of one kernel, on every kind of device", "[session][merged]") {
  const auto a = values(1), b = values(2);
  const auto program = fetches(exp(x + y), (x + y) * y, x - y, tanh(y));
  for (int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    const std::uint64_t before = kernels_of(sess);
    const auto [e, p, d, t] = sess.run(program, x = a, y = b);
    CHECK(kernels_of(sess) - before == 1);
    const auto step = sess.prepare(program);
    for (int run = 0; run < 4; ++run) {
      const auto [e2, p2, d2, t2] = step(x = a, y = b);
      CHECK((e2 == e && p2 == p && d2 == d && t2 == t));
    }
    for (int i = 0; i < 37; ++i)
      for (int j = 0; j < 50; ++j) {
        const float u = a(i, j), v = b(i, j);
        REQUIRE(e(i, j) == Approx(std::exp(u + v)).epsilon(1e-5));
        REQUIRE(p(i, j) == Approx((u + v) * v).margin(1e-6));
        REQUIRE(d(i, j) == u - v);
        REQUIRE(t(i, j) == Approx(std::tanh(v)).margin(1e-6));
      }
  }
}

TEST_CASE("results of type half beside each other", "[session][merged]") {
  const auto a = values<half>(3);
  const auto program = fetches(h * h, exp(h), cast<float>(h));
  for (int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    const auto [s, e, f] = sess.run(program, h = a);
    for (int i = 0; i < 37; ++i)
      for (int j = 0; j < 50; ++j) {
        const float v = a(i, j);
        REQUIRE(s(i, j).bits() == half(v * v).bits());
        REQUIRE(static_cast<float>(e(i, j)) == Approx(std::exp(v)).epsilon(1e-3));
        REQUIRE(f(i, j) == v);
      }
  }
}

TEST_CASE("a step of Adam is one kernel, and all three variables have their new values", "[session][merged]") {
  const auto moment = assign(first, 0.9f * first + 0.1f * x);
  const auto spread = assign(second, 0.75f * second + 0.25f * square(x));
  const auto update = assign_sub(w, 0.125f * moment / (sqrt(spread) + 1e-3f));
  for (int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    const auto w0 = values(4), g = values(5);
    sess.run(fetches(assign(w, x), assign(first, x * 0.0f), assign(second, x * 0.0f)), x = w0);
    const auto step = sess.prepare(update);
    tensor<float, 37, 50> weight = w0, m, v;
    for (int k = 0; k < 5; ++k) {
      for (int i = 0; i < 37; ++i)
        for (int j = 0; j < 50; ++j) {
          m(i, j) = 0.9f * m(i, j) + 0.1f * g(i, j);
          v(i, j) = 0.75f * v(i, j) + 0.25f * g(i, j) * g(i, j);
          weight(i, j) -= 0.125f * m(i, j) / (std::sqrt(v(i, j)) + 1e-3f);
        }
      const std::uint64_t before = kernels_of(sess);
      check_near(step(x = g), weight);
      CHECK(kernels_of(sess) - before == (gpus == 0 ? 2 : 1));  // on the host, a copy of what is fetched
    }
    const auto [w1, m1, v1] = sess.run(fetches(w, first, second));
    check_near(w1, weight);
    check_near(m1, m);
    check_near(v1, v);
  }
}

TEST_CASE("where guards put what was merged on two devices, each kernel runs as it was before", "[session][merged]") {
  const auto a = values(6), b = values(7);
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  REQUIRE(sess.devices().size() == 3);
  const auto left = [&] {
    device_guard g{gpu<0>{}};
    return exp(x + y) * y;
  }();
  const auto right = [&] {
    device_guard g{gpu<1>{}};
    return tanh(x - y) + x;
  }();
  const std::uint64_t before = kernels_of(sess);
  const auto [l, r] = sess.run(fetches(left, right), x = a, y = b);
  CHECK(kernels_of(sess) - before == 2);
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 50; ++j) {
      REQUIRE(l(i, j) == Approx(std::exp(a(i, j) + b(i, j)) * b(i, j)).margin(1e-5));
      REQUIRE(r(i, j) == Approx(std::tanh(a(i, j) - b(i, j)) + a(i, j)).margin(1e-5));
    }
  // Under one guard they are one again.
  const auto together = [&] {
    device_guard g{gpu<1>{}};
    return fetches(exp(x + y) * y, tanh(x - y) + x);
  }();
  const std::uint64_t then = kernels_of(sess);
  check_near(std::get<0>(sess.run(together, x = a, y = b)), l);
  CHECK(kernels_of(sess) - then == 1);
}

TEST_CASE("a result that takes over its operand's memory is right", "[session][merged]") {
  const auto a = values(8), b = values(9);
  const auto s = values<float, 37, 37>(10);
  for (int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    // Piece by piece, with memory of its own for each.
    const auto p = sess.run(softmax(x), x = a);
    const auto q = sess.run(tanh(x) * y, x = p, y = b);
    const auto product = sess.run(2.0f * matmul(square_x, y) - 3.0f * x, square_x = s, x = q, y = b);
    const auto expected = sess.run(log_softmax<0>(x), x = product);
    const auto chain = log_softmax<0>(2.0f * matmul(square_x, y) - 3.0f * (tanh(named<"p">(softmax(x))) * y));
    const auto step = sess.prepare(chain);
    for (int run = 0; run < 4; ++run) check_near(step(square_x = s, x = a, y = b), expected);
    // Two results over two operands, each read by both.
    const auto left = softmax(x);
    const auto right = softmax<0>(y);
    const auto both = fetches(transpose(left * right), transpose(left - right));
    const auto [t, d] = sess.run(both, x = a, y = b);
    const auto u = sess.run(softmax(x), x = a);
    const auto v = sess.run(softmax<0>(y), y = b);
    for (int i = 0; i < 37; ++i)
      for (int j = 0; j < 50; ++j) {
        REQUIRE(t(j, i) == Approx(u(i, j) * v(i, j)).margin(1e-6));
        REQUIRE(d(j, i) == Approx(u(i, j) - v(i, j)).margin(1e-6));
      }
  }
}
