// SPDX-License-Identifier: BSL-1.0
// Causal attention of several heads: each position looks at itself and at those before it.
#include <Eigen/Dense>

#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>

constexpr int heads = 4, width = 16, length = 24;

using head = Eigen::Matrix<float, length, width, Eigen::RowMajor>;
using values = std::array<head, heads>;

values waves(float seed) {
  values t;
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < length * width; ++i)
      t[h].data()[i] = std::sin(seed + 1.7f * static_cast<float>(h * length * width + i));
  return t;
}

int main() {
  const values q = waves(0.f), k = waves(1.f), v = waves(2.f);
  const float scale = 1.f / std::sqrt(static_cast<float>(width));
  Eigen::Matrix<float, length, heads * width, Eigen::RowMajor> joined;
  Eigen::Matrix<float, length, length> weights, first;
  float total = 0.f;
  for (int h = 0; h < heads; ++h) {
    weights = scale * q[h] * k[h].transpose();
    for (int i = 0; i < length; ++i)
      for (int j = i + 1; j < length; ++j) weights(i, j) = -1e9f;
    weights = (weights.colwise() - weights.rowwise().maxCoeff()).array().exp().matrix().eval();
    weights = (weights.array().colwise() / weights.rowwise().sum().array()).matrix().eval();
    joined.middleCols<width>(h * width) = weights * v[h];
    total += (weights.array() * (weights.array() + 1e-9f).log()).sum();
    if (h == 0) first = weights;
  }
  std::cout << first.topLeftCorner<4, 4>() << '\n';
  for (int i = 0; i < length; i += 6)
    std::printf("%.4f %.4f %.4f\n", double(joined(i, 0)), double(joined(i, 17)), double(joined(i, 63)));
  std::printf("mean entropy %.4f\n", double(-total / (heads * length)));
}
