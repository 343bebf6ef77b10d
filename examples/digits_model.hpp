// SPDX-License-Identifier: BSL-1.0
// A convolutional network that reads handwritten digits of 8 by 8. `read` says what it takes for a parameter: the
// parameter itself, or a replica of it.
#pragma once

#include <onto/convolution.hpp>

namespace digits {

namespace parameters {

using namespace onto;

constexpr auto filter1 = variable<"conv1/filter", float, 3, 3, 1, 16>(he_normal<float, 3, 3, 1, 16>(1_c));
constexpr auto bias1 = variable<"conv1/bias", float, 16>(zeros<float, 16>());
constexpr auto filter2 = variable<"conv2/filter", float, 3, 3, 16, 32>(he_normal<float, 3, 3, 16, 32>(2_c));
constexpr auto bias2 = variable<"conv2/bias", float, 32>(zeros<float, 32>());
constexpr auto weights3 = variable<"dense/weights", float, 512, 64>(he_normal<float, 512, 64>(3_c));
constexpr auto bias3 = variable<"dense/bias", float, 64>(zeros<float, 64>());
constexpr auto weights4 = variable<"scores/weights", float, 64, 10>(glorot_normal<float, 64, 10>(4_c));
constexpr auto bias4 = variable<"scores/bias", float, 10>(zeros<float, 10>());

}  // namespace parameters

inline constexpr auto as_they_are = [](const auto& w) { return w; };

// [model]
/// 64 features of each picture.
constexpr auto features(const auto& images, const auto& read) {
  using namespace onto;
  namespace p = parameters;
  const auto image = expand_dims<-1>(cast<float>(images) * (1.0_c / 16.0_c));
  const auto first = relu(conv2d<same>(image, read(p::filter1)) + read(p::bias1));
  const auto second = relu(conv2d<same>(first, read(p::filter2)) + read(p::bias2));
  const auto flat = reshape<dyn, 512>(max_pool2d<window<2>>(second));
  return relu(matmul(flat, read(p::weights3)) + read(p::bias3));
}

/// A score for each digit.
constexpr auto scores_of(const auto& features, const auto& read) {
  return matmul(features, read(parameters::weights4)) + read(parameters::bias4);
}
// [model]

}  // namespace digits
