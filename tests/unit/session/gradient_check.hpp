// SPDX-License-Identifier: BSL-1.0
// Gradients beside central differences in double, with extents that the compiler knows and with extents of the run.
#pragma once

#include <onto/onto.hpp>

#include <vector>

#include "../catch.hpp"

namespace onto_test {

using namespace onto;

inline constexpr auto x = placeholder<"x", double, 4, 3>;
inline constexpr auto u = placeholder<"x", double, dyn, dyn>;

inline tensor<double, 4, 3> points(double low, double high) {
  tensor<double, 4, 3> t;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) t(i, j) = low + (high - low) * (((i * 3 + j) * 5 % 12) + 0.5) / 12;
  return t;
}

/// The central differences of `loss` at `at`.
template <class Loss, class Symbol, class Tensor>
std::vector<double> differences(session& run, const Loss& loss, const Symbol& s, const Tensor& at) {
  std::vector<double> wanted;
  for (std::size_t k = 0; k < at.size(); ++k) {
    constexpr double step = 1e-5;
    Tensor above = at, below = at;
    above.data()[k] += step;
    below.data()[k] -= step;
    wanted.push_back((static_cast<double>(run.run(loss, s = above)) - static_cast<double>(run.run(loss, s = below))) /
                     (2 * step));
  }
  return wanted;
}

/// A gradient beside what it should be.
template <class Tensor>
void compare(const Tensor& g, const std::vector<double>& wanted, double tolerance = 1e-6) {
  REQUIRE(g.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    INFO("element " << k);
    CHECK(g.data()[k] == Approx(wanted[k]).margin(tolerance).epsilon(tolerance));
  }
}

/// The gradient of `loss` by the symbol `s` at `at`, beside differences.
template <class Loss, class Symbol, class Tensor>
void check(const Loss& loss, const Symbol& s, const Tensor& at, double tolerance = 1e-6) {
  session run;
  compare(run.run(gradient(loss, s), s = at), differences(run, loss, s, at), tolerance);
}

/// Both with extents in the type and with extents of the run. `f` gives any expression; the loss is a sum of its
/// squares with other weights for its elements.
template <class F>
void check_both(const char* text, F f, double low = 0.3, double high = 0.9) {
  INFO(text);
  const auto t = points(low, high);
  const auto loss = [&](const auto& e) { return sum(square(e) + exp(e * c<0.5>)); };
  session run;
  const auto wanted = differences(run, loss(f(x)), x, t);
  compare(run.run(gradient(loss(f(x)), x), x = t), wanted);
  tensor<double, dyn, dyn> d({4, 3});
  for (int k = 0; k < 12; ++k) d.data()[k] = t.data()[k];
  compare(run.run(gradient(loss(f(u)), u), u = d), wanted);
}

#define CHECK_BOTH(...) check_both(#__VA_ARGS__, [](const auto& e) { return __VA_ARGS__; })
#define CHECK_BETWEEN(low, high, ...) \
  check_both(                         \
      #__VA_ARGS__, [](const auto& e) { return __VA_ARGS__; }, low, high)

}  // namespace onto_test
