// SPDX-License-Identifier: BSL-1.0
// Images as a network wants them: cropped, from bytes to floats, each channel with mean 0 and deviation 1.
#include <unsupported/Eigen/CXX11/Tensor>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>

constexpr int height = 40, width = 48;

template <class T, int Rank>
using tensor = Eigen::Tensor<T, Rank, Eigen::RowMajor>;

int main() {
  const int count = 6;
  tensor<std::uint8_t, 4> bytes(count, height, width, 3);
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j)
        for (int c = 0; c < 3; ++c)
          bytes(k, i, j, c) = static_cast<std::uint8_t>((7 * k + i * j + 31 * c + (i ^ j)) % 256);

  const Eigen::array<Eigen::Index, 4> from{0, 4, 8, 0}, size{count, 32, 32, 3};
  const Eigen::array<int, 3> each_channel{0, 1, 2};
  const Eigen::array<Eigen::Index, 4> one{1, 1, 1, 3}, all{count, 32, 32, 1};
  // Not in one expression: Eigen 3.4.0 fails an assertion where it fuses a cast and a slice.
  const tensor<float, 4> floats = bytes.cast<float>();
  const tensor<float, 4> pixels = floats.slice(from, size) / 255.f;
  const tensor<float, 1> middle = pixels.mean(each_channel);
  const tensor<float, 4> centered = pixels - middle.reshape(one).broadcast(all);
  const tensor<float, 1> deviation = centered.square().mean(each_channel).sqrt();
  const tensor<float, 4> normal = centered / (deviation + 1e-6f).reshape(one).broadcast(all);
  const tensor<float, 3> gray = normal.mean(Eigen::array<int, 1>{3});
  const tensor<float, 1> brightest = gray.maximum(Eigen::array<int, 2>{1, 2});

  std::cout << middle << ' ' << deviation << '\n';
  std::cout << brightest << '\n';
  for (int k = 0; k < count; ++k)
    std::printf("%.4f %.4f %.4f\n", double(normal(k, 0, 0, 0)), double(normal(k, 15, 20, 1)),
                double(normal(k, 31, 31, 2)));
}
