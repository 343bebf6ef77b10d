// SPDX-License-Identifier: BSL-1.0
// One model on two devices: each tower takes half of the batch, their losses and gradients are averaged.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdio>

using namespace onto;

constexpr int batch = 64, half_batch = batch / 2, inputs = 12;

inline constexpr auto x = placeholder<"x", float, batch, inputs>;
inline constexpr auto y = placeholder<"y", float, batch, 1>;
inline constexpr auto w = placeholder<"w", float, inputs, 1>;

template <int Half>
auto tower() {
  const auto mine = slice<Half * half_batch, (Half + 1) * half_batch>(x);
  const auto target = slice<Half * half_batch, (Half + 1) * half_batch>(y);
  const auto guess = tanh(matmul(mine, w));
  const auto miss = guess - target;
  const auto gradient = matmul(transpose(mine), 2.f / half_batch * miss * (1.f - square(guess)));
  return std::tuple(mean(square(miss)), gradient);
}

int main() {
  tensor<float, batch, inputs> xs;
  tensor<float, batch, 1> ys;
  tensor<float, inputs, 1> weights;
  for (int i = 0; i < batch; ++i) {
    float total = 0.f;
    for (int j = 0; j < inputs; ++j) {
      xs(i, j) = std::sin(static_cast<float>(i + 3 * i * j));
      total += xs(i, j) * (j % 2 == 0 ? 0.5f : -0.3f);
    }
    ys(i, 0) = std::tanh(total);
  }

  const auto [loss0, gradient0] = on<gpu<0>>(tower<0>);
  const auto [loss1, gradient1] = on<gpu<1>>(tower<1>);
  const auto loss = on<cpu<0>>(add_n(loss0, loss1) / 2.f);
  const auto next = on<cpu<0>>(w - 0.5f * (gradient0 + gradient1));

  session sess{{.allow_soft_placement = true}};
  auto step = sess.prepare(fetches(loss, next));
  for (int k = 0; k <= 60; ++k) {
    const auto [now, after] = step(x = xs, y = ys, w = weights);
    weights = after;
    if (k % 15 == 0) std::printf("step %d: loss %.5f\n", k, double(now));
  }
  for (int j = 0; j < inputs; j += 3) std::printf("%.3f\n", weights(j, 0));
}
