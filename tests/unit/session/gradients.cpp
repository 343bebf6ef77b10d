// SPDX-License-Identifier: BSL-1.0
// Gradients beside central differences in double: every operation that has a derivative, with extents that the compiler
// knows and with extents that only the run knows.
#include <onto/scan.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "gradient_check.hpp"

using namespace onto;
using namespace onto_test;

namespace {

// [own]
struct gaussian : elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Gaussian";
  template <class T>
  static T apply(T v) {
    return std::exp(-v * v);
  }
  /// By operand 0: `g` is the gradient of the result, which is `y`, and `v` the operand.
  template <int>
  static constexpr auto derivative(auto g, auto y, auto v) {
    return g * y * v * -2;
  }
};
// [own]

/// Below 0 times a slope; the derivative chooses, and counts truth values as numbers.
struct leaky : elementwise<floating_elements> {
  static constexpr std::string_view name = "Leaky";
  template <class T>
  static T apply(T v, T slope) {
    return v > T(0) ? v : slope * v;
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto v, auto slope) {
    if constexpr (K == 0)
      return where(v > 0, g, g * slope);
    else
      return g * v * (v <= 0);
  }
};
/// The words of its rule are those of expressions.
struct wordy : elementwise<floating_elements> {
  static constexpr std::string_view name = "Wordy";
  template <class T>
  static T apply(T v) {
    return v > T(0) ? v * v : v;
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto v) {
    return g * where(v > 0 && !(v > 1000), 2, 0) * v + g * cast<double>(v <= 0) + zeros_like(v) +
           (call<gaussian>(v) - call<gaussian>(v)) * ones_like(v) + full_like(v, 0);
  }
};

}  // namespace

TEST_CASE("functions of one tensor have their derivatives", "[gradient]") {
  CHECK_BETWEEN(-0.9, 0.8, abs(e));
  CHECK_BOTH(square(e));
  CHECK_BOTH(sqrt(e));
  CHECK_BOTH(rsqrt(e));
  CHECK_BOTH(expm1(exp(e)));
  CHECK_BOTH(log(e) + log1p(e));
  CHECK_BOTH(sin(e) * cos(e) - tan(e));
  CHECK_BOTH(asin(e) + acos(e) * atan(e));
  CHECK_BOTH(sinh(e) * cosh(e) / tanh(e));
  CHECK_BETWEEN(-0.9, 0.9, erf(e) - sigmoid(e) + gelu(e));
  CHECK_BETWEEN(-0.9, 0.8, relu(e));
  CHECK_BOTH(-e + floor(e) + sign(e) + round(e));
}

TEST_CASE("an operation of one's own has the derivative that it gives", "[gradient]") {
  CHECK_BOTH(call<gaussian>(e) * e);
  CHECK_BETWEEN(-0.9, 0.8, call<leaky>(e, e * 0.5) + call<leaky>(-e, 0.25));
  CHECK_BETWEEN(-0.9, 0.8, call<wordy>(e) * e);
}

TEST_CASE("functions of two tensors have theirs, through broadcasting too", "[gradient]") {
  CHECK_BOTH(e * e + e / (e + 1.0) - e);
  CHECK_BOTH(pow(e, e * 2.0) + atan2(e, 1.0 - e));
  CHECK_BOTH(maximum(e, 0.6) * minimum(e, 1.1 - e));
  CHECK_BOTH(mod(e * 3.0, 1.0 + e));
  CHECK_BOTH(add_n(e, e * 2.0, square(e)));
  CHECK_BOTH(where(e > 0.5, e * 3.0, square(e)));
  CHECK_BOTH(e * sum<0>(e) - mean<1>(e, keep_extents) * e);
  CHECK_BOTH(e + slice<0, 1>(e) * 2.0);
  CHECK_BOTH(clip(e, 0.4, 0.8));
  CHECK_BOTH(cast<double>(cast<float>(e) * 2.f) * 0.0 + e);
}

TEST_CASE("reductions have theirs", "[gradient]") {
  CHECK_BOTH(sum(e));
  CHECK_BOTH(sum<0>(e) * 2.0);
  CHECK_BOTH(mean<1>(e));
  CHECK_BOTH(mean(e) + sum(e, keep_extents));
  CHECK_BOTH(max<0>(e) + min<0>(e));
  CHECK_BOTH(max(e) * min(e));
  CHECK_BOTH(prod<1>(e));
  CHECK_BOTH(prod(e, keep_extents));
  CHECK_BOTH(softmax(e) * log_softmax<0>(e));
  CHECK_BOTH(log_softmax(e));
  CHECK_BOTH(var<0>(e) + stddev<0>(e));
  CHECK_BOTH(logsumexp<1>(e));
}

TEST_CASE("a product with zeros has the derivative of the others", "[gradient]") {
  const auto values = [](const tensor<double, 3>& t) {
    static constexpr auto v = placeholder<"v", double, 3>;
    session s;
    return s.run(gradient(prod(v), v), v = t);
  };
  CHECK(values({0, 2, 3})(0) == 6);
  CHECK(values({0, 2, 3})(1) == 0);
  CHECK(values({0, 0, 3})(0) == 0);
  CHECK(values({5, 2, 3})(1) == 15);
}

TEST_CASE("matrix products have theirs, batches and vectors too", "[gradient]") {
  CHECK_BOTH(matmul(e, transpose(e)));
  CHECK_BOTH(matmul(transpose(e) * 2.0, e));
  CHECK_BOTH(matmul(e, slice<0, 1>(e) * transpose(slice<0, 3>(e))));
  CHECK_BOTH(outer(e, e));
  check([] { return sum(square(matmul(reshape<2, 2, 3>(x), reshape<3, 2>(slice<0, 2>(x))))); }(), x, points(0.3, 0.9));
  check([] { return sum(square(matmul(reshape<2, 2, 3>(x), reshape<2, 3, 2>(x)))); }(), x, points(0.3, 0.9));
  check([] { return sum(square(matmul(reshape<2, 3>(slice<0, 2>(x)), reshape<2, 3, 2>(x)))); }(), x, points(0.3, 0.9));
}

TEST_CASE("views and what is put together have theirs", "[gradient]") {
  CHECK_BOTH(transpose(e) * 2.0);
  CHECK_BOTH(reshape<dyn>(e));
  CHECK_BOTH(slice<1, 3>(e) * 2.0);
  CHECK_BOTH(slice<range<1>, range<0, -1>>(e));
  CHECK_BOTH(flip<0>(e) * e);
  CHECK_BOTH(concat<0>(ones<double, 2, 3>(), e, zeros<double, 1, 3>()) * 2.0);
  CHECK_BOTH(expand_dims<1>(e) + expand_dims<0>(e));
  CHECK_BOTH(stop_gradient(e) * 0.0 + e);
  CHECK_BOTH(cumsum<0>(e) * cumsum<1>(e, reverse));
  const auto t = points(0.3, 0.9);
  check(sum(square(slice<0, 4, 2>(x))), x, t);
  check(sum(square(slice<range<>, range<to_end, to_begin, -2>>(x)) * 2.0), x, t);
  check(sum(square(concat<0>(x, x * 2.0, slice<0, 1>(x)))), x, t);
  check(sum(square(reshape<6, 2>(x)) * reshape<6, 1>(slice<0, 2>(x))), x, t);
  check(sum(square(pad<padding<1, 2>, padding<0, 1>>(x)) * 3.0), x, t);
  check(sum(square(tril(matmul(x, transpose(x))))), x, t);
  check(sum(square(broadcast_to<5, 4, 3>(x))), x, t);
}

TEST_CASE("a gradient without a session is the same, to the bit", "[gradient]") {
  const auto t = points(0.3, 0.9);
  session s;
  const auto same = [&](const auto& e) {
    const auto in_session = s.run(e, x = t), in_line = evaluate(e, x = t);
    for (std::size_t k = 0; k < in_line.size(); ++k) CHECK(in_session.data()[k] == in_line.data()[k]);
  };
  same(gradient(sum(exp(x)), x));
  same(gradient(mean(square(x) * 3.0), x));
  same(gradient(sum(softmax(matmul(x, transpose(x)))) + sum(log(x)), x));
}

TEST_CASE("numbers that differ under equal types are told apart in the gradient, too", "[gradient]") {
  static constexpr auto v = placeholder<"v", double, 4>;
  const tensor<double, 4> at{1, 2, 3, 4};
  const auto part = [](double a) { return tanh(v * a); };
  const auto g = session().run(gradient(sum(part(0.1) * part(0.3)), v), v = at);
  const auto same = session().run(gradient(sum(part(0.2) * part(0.2)), v), v = at);
  for (int k = 0; k < 4; ++k) {
    const auto slope = [&](double a) { return a * (1 - std::tanh(at(k) * a) * std::tanh(at(k) * a)); };
    const auto value = [&](double a) { return std::tanh(at(k) * a); };
    CHECK(g(k) == Approx(slope(0.1) * value(0.3) + value(0.1) * slope(0.3)));
    CHECK(same(k) == Approx(2 * slope(0.2) * value(0.2)));
  }
}

TEST_CASE("a gradient runs where its loss does, by scopes and by guards", "[gradient]") {
  static constexpr auto v = placeholder<"v", float, 64, 64>;
  constexpr auto loss = on<gpu<1>>(sum(square(matmul(v, v))));
  constexpr auto there = plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(gradient(loss, v));
  static_assert(there.transfers == 2);  // v to the GPU, its gradient back
  session s{{.simulated_gpus = 2}};
  tensor<float, 64, 64> at;
  for (std::size_t k = 0; k < at.size(); ++k) at.data()[k] = static_cast<float>(k % 7) - 3.f;
  const auto by_scope = s.run(gradient(loss, v), v = at);
  const auto on_cpu = evaluate(gradient(sum(square(matmul(v, v))), v), v = at);
  const device_guard guard{"/gpu:0"};
  const auto guarded = sum(square(matmul(v, v)));
  const auto by_guard = s.run(gradient(guarded, v), v = at);
  for (std::size_t k = 0; k < at.size(); k += 97) {
    CHECK(by_scope.data()[k] == by_guard.data()[k]);
    CHECK(by_scope.data()[k] == Approx(on_cpu.data()[k]));
  }
  const auto report = s.placement(gradient(guarded, v));
  for (const auto& n : report.nodes) CHECK(n.assigned.to_string().find("GPU:0") != std::string::npos);
}

TEST_CASE("gradients of gradients", "[gradient]") {
  const auto t = points(0.3, 0.9);
  check(sum(square(gradient(sum(exp(x) * x * x), x))), x, t);
  check(sum(gradient(sum(square(matmul(x, transpose(x)))), x) * 2.0), x, t);
  check(sum(square(gradient(sum(softmax(x) * x), x))), x, t, 1e-5);
}

TEST_CASE("of a where only what was taken counts, and no NaN leaks from the other side", "[gradient]") {
  static constexpr auto v = placeholder<"v", float, 4>;
  session s;
  const auto at = tensor<float, 4>{0, 1, -2, 4};
  const auto g = s.run(gradient(sum(where(v > 0, log(sqrt(v) * 2.f), v * 3.f)), v), v = at);
  CHECK(g(0) == 3);
  CHECK(g(1) == Approx(0.5));
  CHECK(g(2) == 3);
  CHECK(g(3) == Approx(0.125));
  const auto nested = s.run(gradient(sum(where(v >= 0, where(v > 0, log(v), v), 0.f)), v), v = at);
  CHECK(nested(0) == 1);
  CHECK(nested(1) == 1);
  CHECK(nested(2) == 0);
}

TEST_CASE("no NaN leaks from a value that wheres with other conditions use, nor into second derivatives",
          "[gradient]") {
  static constexpr auto v = placeholder<"v", double, 3>;
  const auto by = [](auto e) { return gradient(sum(e), v); };
  const tensor<double, 3> at{0, 1, 4};
  const auto root = sqrt(v);
  CHECK(evaluate(by(where(v > 0, root, 0.) + where(v > 1, root, 0.)), v = at) == tensor<double, 3>{0, 0.5, 0.5});
  CHECK(evaluate(by(where(v > 0, where(v < 3, root, 0.) + root, 0.)), v = at) == tensor<double, 3>{0, 1, 0.25});
  CHECK(evaluate(by(where(v <= 0, 0., root) + where(v > 0, root, 1.)), v = at) == tensor<double, 3>{0, 1, 0.5});
  CHECK(evaluate(by(where(v > 0, root, v) + root), v = {1, 4, 0})(2) == std::numeric_limits<double>::infinity());
  CHECK(evaluate(by(where(v > 0, recompute(root), 0.)), v = at) == tensor<double, 3>{0, 0.5, 0.25});

  // What a value gets from both sides counts everywhere.
  const auto error = v * 2_c - 1_c;
  const auto huber = by(where(abs(error) < 1_c, square(error), abs(error)));
  CHECK(evaluate(huber, v = {-2, 0.75, 3}) == tensor<double, 3>{-2, 2, 2});
  CHECK(plan_of(huber).text().find("LogicalOr") == std::string::npos);

  const tensor<double, 3> large{1000, 0, 1000}, zero{0, 1, 0};
  CHECK(evaluate(by(by(where(v < 100, square(exp(v)), v))), v = large) == tensor<double, 3>{0, 4, 0});
  CHECK(evaluate(by(by(where(v < 100, exp(v) * exp(v), v))), v = large) == tensor<double, 3>{0, 4, 0});
  CHECK(evaluate(by(by(where(v > 0, square(1. / v), v))), v = zero) == tensor<double, 3>{0, 6, 0});
  CHECK(evaluate(by(by(where(v > 0, sqrt(v) * log(v), v))), v = zero) == tensor<double, 3>{0, 0, 0});

  // A condition that is the same along an axis stays where a gradient is summed over that, whatever else holds.
  static constexpr auto u = placeholder<"u", double, 2, 3>;
  const auto one = prod<0>(tanh(v), keep_extents);
  const auto chosen = where(one > 0.2, rsqrt(one), log1p(abs(v + u)));
  const auto g = evaluate(by(sin(gradient(sum(chosen * sin(chosen)), u))), v = {0.5, -0.3, 0.7},
                          u = {{-0.4, -0.3, -0.2}, {-0.1, 0.1, 0.2}});
  const auto value = [&](double first) {
    return evaluate(sum(sin(gradient(sum(chosen * sin(chosen)), u))), v = {first, -0.3, 0.7},
                    u = {{-0.4, -0.3, -0.2}, {-0.1, 0.1, 0.2}})();
  };
  CHECK(g(0) == Approx((value(0.5 + 1e-6) - value(0.5 - 1e-6)) / 2e-6).epsilon(1e-6));
}

TEST_CASE("ties are JAX's", "[gradient]") {
  static constexpr auto v = placeholder<"v", float, 4>;
  session s;
  const tensor<float, 4> at{2, 2, 1, 2}, zeros{0, 0, 0, 0};
  const auto greatest = s.run(gradient(max(v), v), v = at);
  CHECK(greatest(0) == Approx(1.f / 3));
  CHECK(greatest(2) == 0);
  CHECK(s.run(gradient(sum(maximum(v, 2.f)), v), v = at)(0) == 0.5f);
  CHECK(s.run(gradient(sum(relu(v)), v), v = zeros)(0) == 0);
  CHECK(s.run(gradient(sum(abs(v)), v), v = zeros)(0) == 1);
  CHECK(std::isinf(s.run(gradient(sum(sqrt(v)), v), v = zeros)(0)));
}

TEST_CASE("a power that no longer depends on its base has the derivative 0", "[gradient]") {
  static constexpr auto v = placeholder<"v", double, 4>;
  const auto by = [](auto e) { return gradient(sum(e), v); };
  const tensor<double, 4> at{0, 1, -1, 3}, zeros{0, 0, 0, 0};
  CHECK(evaluate(by(pow(v, 0.0)), v = at) == zeros);
  CHECK(evaluate(by(by(pow(v, 1_c))), v = at) == zeros);
  CHECK(evaluate(by(by(pow(v, 1.0))), v = at) == zeros);
  CHECK(evaluate(by(by(by(pow(v, 2_c))) + v * v), v = at) == tensor<double, 4>{0, 2, -2, 6});
  CHECK(evaluate(by(by(pow(v, constant({1., 2., 3., 4.})))), v = zeros) == tensor<double, 4>{0, 2, 0, 0});
  CHECK(evaluate(by(pow(v, -1.0)), v = {1, 2, 4, -1}) == tensor<double, 4>{-1, -0.25, -0.0625, -1});
}

TEST_CASE("what is computed again gives the same gradient, to the bit", "[gradient]") {
  constexpr auto w = placeholder<"w", float, 5, 5>;
  constexpr auto b = placeholder<"b", float, 3, 5>;
  const auto block = [&](const auto& e) { return tanh(matmul(relu(matmul(e, w)), w)); };
  const auto kept = sum(square(block(block(b))));
  const auto again = sum(square(recompute(block(recompute(block(b))))));
  tensor<float, 5, 5> data;
  tensor<float, 3, 5> rows;
  for (int k = 0; k < 25; ++k) data.data()[k] = 0.05f * static_cast<float>(k % 7 - 3);
  for (int k = 0; k < 15; ++k) rows.data()[k] = 0.2f * static_cast<float>(k % 4) - 0.3f;
  session run;
  CHECK(run.run(gradient(again, w), w = data, b = rows) == run.run(gradient(kept, w), w = data, b = rows));
  CHECK(evaluate(gradient(again, b), w = data, b = rows) == evaluate(gradient(kept, b), w = data, b = rows));
}

TEST_CASE("a concatenation of parts whose extents only the run knows is taken apart", "[gradient]") {
  check(sum(exp(concat<0>(u, square(u), u))), u, tensor<double, dyn, dyn>{{0.1, 0.2}, {0.3, 0.4}, {0.5, 0.6}});
  check(sum(exp(concat<1>(u, transpose(slice<0, 3>(transpose(square(u)))), sin(u)))), u,
        tensor<double, dyn, dyn>{{0.1, 0.2, 0.5, 0.3}, {0.3, 0.4, 0.9, 0.1}});
}
