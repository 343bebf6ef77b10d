// SPDX-License-Identifier: BSL-1.0
// Layers of 784, 512, 512 and 10, a batch of 128: products, and what is fused around them.
#pragma once

#include <onto/onto.hpp>

#include <cstdint>

namespace training::perceptron_network {

using namespace onto;

inline constexpr auto x = placeholder<"x", float, 128, 784>;
inline constexpr auto y = placeholder<"y", std::int32_t, 128>;
inline constexpr auto w1 = variable<"w1", float, 784, 512>(zeros<float, 784, 512>());
inline constexpr auto b1 = variable<"b1", float, 512>(zeros<float, 512>());
inline constexpr auto w2 = variable<"w2", float, 512, 512>(zeros<float, 512, 512>());
inline constexpr auto b2 = variable<"b2", float, 512>(zeros<float, 512>());
inline constexpr auto w3 = variable<"w3", float, 512, 10>(zeros<float, 512, 10>());
inline constexpr auto b3 = variable<"b3", float, 10>(zeros<float, 10>());

inline constexpr auto hidden = relu(matmul(relu(matmul(x, w1) + b1), w2) + b2);
inline constexpr auto loss = softmax_cross_entropy(matmul(hidden, w3) + b3, y);
inline constexpr auto step = minimize<sgd{.rate = 0.01}>(loss);

}  // namespace training::perceptron_network
