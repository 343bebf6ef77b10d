// SPDX-License-Identifier: BSL-1.0
// Layer norm of rows, with a gain and an offset for each column, and the same of what it gives.
#include <onto/onto.hpp>

#include <cmath>
#include <iostream>

using namespace onto;

constexpr int width = 48;

inline constexpr auto x = placeholder<"x", float, dyn, width>;
inline constexpr auto gain = placeholder<"gain", float, width>;
inline constexpr auto offset = placeholder<"offset", float, width>;

auto layer_norm(auto t) {
  const auto middle = mean<1>(t, keep_extents);
  const auto variance = mean<1>(square(t - middle), keep_extents);
  return (t - middle) * rsqrt(variance + 1e-5f) * gain + offset;
}

int main() {
  const int rows = 20;
  tensor<float, dyn, width> in({rows, width});
  tensor<float, width> gains, offsets;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j) in(i, j) = std::sin(static_cast<float>(i * j)) * static_cast<float>(i + 1) + 3.f;
  for (int j = 0; j < width; ++j) {
    gains(j) = 1.f + 0.01f * static_cast<float>(j);
    offsets(j) = 0.1f * static_cast<float>(j % 5);
  }

  session sess;
  const auto out = layer_norm(x);
  std::cout << sess.run(slice<range<1, 5>, range<0, 6>>(out), x = in, gain = gains, offset = offsets) << '\n';
  std::cout << sess.run(slice<range<1, 5>, range<0, 6>>(layer_norm(out)), x = in, gain = gains, offset = offsets)
            << '\n';
  std::cout << "mean " << float(sess.run(mean(out), x = in, gain = gains, offset = offsets)) << '\n';
}
