// SPDX-License-Identifier: BSL-1.0
// Logistic regression by gradient descent: which of two clouds of points is a point from?
#include <onto/onto.hpp>

#include <cstdio>
#include <random>
#include <vector>

using namespace onto;

constexpr int points = 400;

inline constexpr auto x = placeholder<"x", float, dyn, 2>;
inline constexpr auto y = placeholder<"y", float, dyn, 1>;

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  tensor<float, dyn, 2> xs({points, 2});
  tensor<float, dyn, 1> ys({points, 1});
  for (int k = 0; k < points; ++k) {
    const float side = k % 2 == 0 ? 1.f : -1.f;
    xs(k, 0) = normal(random) + side;
    xs(k, 1) = normal(random) + 0.5f * side;
    ys(k, 0) = k % 2 == 0 ? 1.f : 0.f;
  }

  constexpr auto w = variable<"w", float, 2, 1>(zeros<float, 2, 1>());
  constexpr auto b = variable<"b", float, 1>(zeros<float, 1>());
  constexpr auto p = sigmoid(matmul(x, w) + b);
  const auto loss = -mean(y * log(p) + (1.f - y) * log(1.f - p));
  const auto right = mean(cast<float>((p > 0.5f) == (y > 0.5f)));
  const auto miss = p - y;
  const float rate = 0.5f;
  const auto next_w = assign_sub(w, rate / points * matmul(transpose(x), miss));
  const auto next_b = assign_sub(b, rate * mean<0>(miss));

  session sess;
  sess.run(initialize(w, b));
  auto step = sess.prepare(fetches(loss, right, next_w, next_b));
  for (int k = 0; k <= 200; ++k) {
    const auto [now, accuracy, new_w, new_b] = step(x = xs, y = ys);
    if (k % 50 == 0) std::printf("step %d: loss %.4f, accuracy %.3f\n", k, double(now), double(accuracy));
  }
  const auto [weights, offset] = sess.run(fetches(w, b));
  std::printf("w = %.4f %.4f, b = %.4f\n", double(weights(0, 0)), double(weights(1, 0)), double(offset(0)));
}
