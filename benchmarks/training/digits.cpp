// SPDX-License-Identifier: BSL-1.0
// The network of examples/digits.cpp and its batches of 32, with Adam; without dropout, which every library draws
// otherwise.
#include <onto/convolution.hpp>

#include "rows.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", std::uint8_t, 32, 8, 8>;
inline constexpr auto y = placeholder<"y", std::int32_t, 32>;
constexpr auto filter1 = variable<"conv1/filter", float, 3, 3, 1, 16>(zeros<float, 3, 3, 1, 16>());
constexpr auto bias1 = variable<"conv1/bias", float, 16>(zeros<float, 16>());
constexpr auto filter2 = variable<"conv2/filter", float, 3, 3, 16, 32>(zeros<float, 3, 3, 16, 32>());
constexpr auto bias2 = variable<"conv2/bias", float, 32>(zeros<float, 32>());
constexpr auto weights3 = variable<"dense/weights", float, 512, 64>(zeros<float, 512, 64>());
constexpr auto bias3 = variable<"dense/bias", float, 64>(zeros<float, 64>());
constexpr auto weights4 = variable<"scores/weights", float, 64, 10>(zeros<float, 64, 10>());
constexpr auto bias4 = variable<"scores/bias", float, 10>(zeros<float, 10>());

constexpr auto loss_of() {
  const auto image = expand_dims<-1>(cast<float>(x) * (1.0_c / 16.0_c));
  const auto first = relu(conv2d<same>(image, filter1) + bias1);
  const auto second = relu(conv2d<same>(first, filter2) + bias2);
  const auto dense = relu(matmul(reshape<32, 512>(max_pool2d<window<2>>(second)), weights3) + bias3);
  return softmax_cross_entropy(matmul(dense, weights4) + bias4, y);
}
constexpr auto step = minimize<adam{.rate = 1e-3}>(loss_of());

}  // namespace

beside::row training::digits(int threads) {
  tensor<std::uint8_t, 32, 8, 8> images;
  for (std::size_t k = 0; k < images.size(); ++k)
    images.data()[k] = static_cast<std::uint8_t>(8.5f + beside::number(k, 1, 16));
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [images, Y = labels<32>()](auto& learn) { return learn(x = images, y = Y); },
      set(filter1, numbers<3, 3, 1, 16>(2, 1.6)), set(filter2, numbers<3, 3, 16, 32>(3, 0.4)),
      set(weights3, numbers<512, 64>(4, 0.2)), set(weights4, numbers<64, 10>(5, 0.5)));
}
