// SPDX-License-Identifier: BSL-1.0
// Gradients beside central differences in double, with extents that the compiler knows and with extents of the run.
#pragma once

#include <onto/onto.hpp>

#include <cstdint>

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

/// The gradient of `loss` by the symbol `s` at `at`, beside differences.
template <class Loss, class Symbol, class Tensor>
void check(const Loss& loss, const Symbol& s, const Tensor& at, double tolerance = 1e-6) {
  session run;
  const auto g = run.run(gradient(loss, s), s = at);
  REQUIRE(g.size() == at.size());
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(at.size()); ++k) {
    constexpr double step = 1e-5;
    Tensor above = at, below = at;
    above.data()[k] += step;
    below.data()[k] -= step;
    const double wanted =
        (static_cast<double>(run.run(loss, s = above)) - static_cast<double>(run.run(loss, s = below))) / (2 * step);
    INFO("element " << k);
    CHECK(g.data()[k] == Approx(wanted).margin(tolerance).epsilon(tolerance));
  }
}

/// Both with extents in the type and with extents of the run. `f` gives any expression; the loss is a sum of its
/// squares with other weights for its elements.
template <class F>
void check_both(const char* text, F f, double low = 0.3, double high = 0.9) {
  INFO(text);
  const auto t = points(low, high);
  const auto loss = [&](const auto& e) { return sum(square(e) + exp(e * c<0.5>)); };
  check(loss(f(x)), x, t);
  tensor<double, dyn, dyn> d({4, 3});
  for (int k = 0; k < 12; ++k) d.data()[k] = t.data()[k];
  check(loss(f(u)), u, d);
}

#define CHECK_BOTH(...) check_both(#__VA_ARGS__, [](const auto& e) { return __VA_ARGS__; })
#define CHECK_BETWEEN(low, high, ...) \
  check_both(                         \
      #__VA_ARGS__, [](const auto& e) { return __VA_ARGS__; }, low, high)

}  // namespace onto_test
