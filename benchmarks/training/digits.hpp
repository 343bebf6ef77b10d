// SPDX-License-Identifier: BSL-1.0
// The network of examples/digits.cpp and its batches of 32, with Adam; without dropout, which every library draws
// otherwise.
#pragma once

#include <onto/convolution.hpp>

#include <cstdint>

namespace training::digits_network {

using namespace onto;

inline constexpr auto x = placeholder<"x", std::uint8_t, 32, 8, 8>;
inline constexpr auto y = placeholder<"y", std::int32_t, 32>;
inline constexpr auto filter1 = variable<"conv1/filter", float, 3, 3, 1, 16>(zeros<float, 3, 3, 1, 16>());
inline constexpr auto bias1 = variable<"conv1/bias", float, 16>(zeros<float, 16>());
inline constexpr auto filter2 = variable<"conv2/filter", float, 3, 3, 16, 32>(zeros<float, 3, 3, 16, 32>());
inline constexpr auto bias2 = variable<"conv2/bias", float, 32>(zeros<float, 32>());
inline constexpr auto weights3 = variable<"dense/weights", float, 512, 64>(zeros<float, 512, 64>());
inline constexpr auto bias3 = variable<"dense/bias", float, 64>(zeros<float, 64>());
inline constexpr auto weights4 = variable<"scores/weights", float, 64, 10>(zeros<float, 64, 10>());
inline constexpr auto bias4 = variable<"scores/bias", float, 10>(zeros<float, 10>());

constexpr auto loss_of() {
  const auto image = expand_dims<-1>(cast<float>(x) * (1.0_c / 16.0_c));
  const auto first = relu(conv2d<same>(image, filter1) + bias1);
  const auto second = relu(conv2d<same>(first, filter2) + bias2);
  const auto dense = relu(matmul(reshape<32, 512>(max_pool2d<window<2>>(second)), weights3) + bias3);
  return softmax_cross_entropy(matmul(dense, weights4) + bias4, y);
}
inline constexpr auto step = minimize<adam{.rate = 1e-3}>(loss_of());

}  // namespace training::digits_network
