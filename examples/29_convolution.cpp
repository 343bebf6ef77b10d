// SPDX-License-Identifier: BSL-1.0
// Convolutions: where a picture has edges, and a small network that is trained to tell upright lines from level ones.
#include <onto/convolution.hpp>

#include <iostream>

using namespace onto;

// [edges]
inline constexpr auto picture = placeholder<"picture", float, 1, dyn, dyn, 1>;  // (batch, height, width, channels)
inline constexpr auto across = placeholder<"across", float, 3, 3>;              // differences along the width

constexpr auto along_x = conv2d<same>(picture, reshape<3, 3, 1, 1>(across));
constexpr auto along_y = conv2d<same>(picture, reshape<3, 3, 1, 1>(transpose(across)));
constexpr auto edges = sqrt(square(along_x) + square(along_y));
static_assert(plan_of(edges).kernels == 3);  // two convolutions, and what follows both is one map
// [edges]

// [network]
inline constexpr auto images = placeholder<"images", float, 8, 6, 6, 1>;
inline constexpr auto level = placeholder<"level", float, 8>;  // 1 or 0
inline const auto filters = variable<"filters", float, 3, 3, 1, 4>(random_uniform<float, 3, 3, 1, 4>(1) - 0.5f);
inline const auto weights = variable<"weights", float, 4>(random_uniform<float, 4>(2) - 0.5f);

auto score() {
  const auto seen = relu(conv2d(images, filters));    // (8, 4, 4, 4)
  const auto greatest = max_pool2d<window<2>>(seen);  // (8, 2, 2, 4)
  return sum<-1>(mean<1, 2>(greatest) * weights);
}
auto loss() { return mean(square(sigmoid(score()) - level)); }
// [network]

int main() {
  session sess;
  tensor<float, 1, 8, 12, 1> box;
  for (int y = 2; y < 6; ++y)
    for (int x = 2; x < 10; ++x) box(0, y, x, 0) = 1;
  const tensor<float, 3, 3> sobel{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  const auto found = sess.run(edges, picture = box, across = sobel);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 12; ++x) std::cout << (found(0, y, x, 0) > 1 ? '#' : '.');
    std::cout << '\n';
  }

  tensor<float, 8, 6, 6, 1> lines;
  tensor<float, 8> is_level;
  for (int n = 0; n < 8; ++n) {
    is_level(n) = static_cast<float>(n % 2);
    for (int k = 0; k < 6; ++k) (n % 2 ? lines(n, 1 + n / 2, k, 0) : lines(n, k, 1 + n / 2, 0)) = 1;
  }
  // [step]
  const auto [dfilters, dweights] = gradients(loss(), filters, weights);
  sess.run(initialize(filters, weights));
  auto step = sess.prepare(fetches(assign_sub(filters, 2.f * dfilters), assign_sub(weights, 2.f * dweights)));
  for (int k = 0; k < 400; ++k) step(images = lines, level = is_level);
  // [step]
  const auto told = sess.run(score(), images = lines);
  int right = 0;
  for (int n = 0; n < 8; ++n) right += (told(n) > 0) == (is_level(n) > 0) ? 1 : 0;
  std::cout << right << " of 8 told apart\n";
}
