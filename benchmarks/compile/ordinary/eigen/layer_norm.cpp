// SPDX-License-Identifier: BSL-1.0
// Layer norm of rows, with a gain and an offset for each column, and the same of what it gives.
#include <Eigen/Dense>

#include <cmath>
#include <iostream>

constexpr int width = 48;

using rows_of = Eigen::Array<float, Eigen::Dynamic, width, Eigen::RowMajor>;
using row = Eigen::Array<float, 1, width>;

rows_of layer_norm(const rows_of& t, const row& gain, const row& offset) {
  const rows_of centered = t.colwise() - t.rowwise().mean();
  const Eigen::ArrayXf variance = centered.square().rowwise().mean();
  const rows_of normal = centered.colwise() * (variance + 1e-5f).rsqrt();
  return (normal.rowwise() * gain).rowwise() + offset;
}

int main() {
  const int rows = 20;
  rows_of in(rows, width);
  row gains, offsets;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j) in(i, j) = std::sin(static_cast<float>(i * j)) * static_cast<float>(i + 1) + 3.f;
  for (int j = 0; j < width; ++j) {
    gains(j) = 1.f + 0.01f * static_cast<float>(j);
    offsets(j) = 0.1f * static_cast<float>(j % 5);
  }

  const rows_of out = layer_norm(in, gains, offsets);
  std::cout << out.block<4, 6>(1, 0) << '\n';
  std::cout << layer_norm(out, gains, offsets).block<4, 6>(1, 0) << '\n';
  std::cout << "mean " << out.mean() << '\n';
}
