// SPDX-License-Identifier: BSL-1.0
// A line is fitted to points by gradient descent: variables hold what is learned, a run is one step.
#include <onto/onto.hpp>

#include <cstdio>

using namespace onto;

constexpr int points = 256;

inline constexpr auto x = placeholder<"x", float, points, 2>;
inline constexpr auto y = placeholder<"y", float, points, 1>;

int main() {
  // [model]
  constexpr auto w = variable<"w", float, 2, 1>(zeros<float, 2, 1>());
  constexpr auto b = variable<"b", float, 1>(zeros<float, 1>());

  constexpr auto miss = named<"miss">(matmul(x, w) + b - y);
  constexpr auto loss = mean(square(miss));
  const float rate = 0.1f;
  const auto next_w = assign_sub(w, rate * gradient(loss, w));
  const auto next_b = assign_sub(b, rate * gradient(loss, b));
  // [model]

  // Points on y = 2 x0 - 3 x1 + 0.5.
  session sess{{.allow_soft_placement = true}};
  const auto xs = sess.run(random_normal<float, points, 2>(1));
  const auto ys = sess.run(matmul(x, constant({{2.f}, {-3.f}})) + 0.5f, x = xs);

  // [loop]
  sess.run(initialize(w, b));
  auto step = sess.prepare(fetches(loss, next_w, next_b));
  for (int k = 0; k <= 100; ++k) {
    const float now = std::get<0>(step(x = xs, y = ys));  // the loss before this step
    if (k == 0 || k == 10 || k == 100) std::printf("step %3d: loss %.4f\n", k, static_cast<double>(now));
  }
  const auto [slope, offset] = sess.run(fetches(w, b));
  // [loop]
  std::printf("y = %.2f x0 + %.2f x1 + %.2f\n", static_cast<double>(slope(0, 0)), static_cast<double>(slope(1, 0)),
              static_cast<double>(offset(0)));
}
