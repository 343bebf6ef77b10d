// SPDX-License-Identifier: BSL-1.0
// Layers of 784, 512, 512 and 10, a batch of 128: products, and what is fused around them.
#include "rows.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, 128, 784>;
inline constexpr auto y = placeholder<"y", std::int32_t, 128>;
constexpr auto w1 = variable<"w1", float, 784, 512>(zeros<float, 784, 512>());
constexpr auto b1 = variable<"b1", float, 512>(zeros<float, 512>());
constexpr auto w2 = variable<"w2", float, 512, 512>(zeros<float, 512, 512>());
constexpr auto b2 = variable<"b2", float, 512>(zeros<float, 512>());
constexpr auto w3 = variable<"w3", float, 512, 10>(zeros<float, 512, 10>());
constexpr auto b3 = variable<"b3", float, 10>(zeros<float, 10>());

constexpr auto hidden = relu(matmul(relu(matmul(x, w1) + b1), w2) + b2);
constexpr auto loss = softmax_cross_entropy(matmul(hidden, w3) + b3, y);
constexpr auto step = minimize<sgd{.rate = 0.01}>(loss);

}  // namespace

beside::row training::perceptron(int threads) {
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [X = numbers<128, 784>(1), Y = labels<128>()](auto& learn) { return learn(x = X, y = Y); },
      set(w1, numbers<784, 512>(2, 0.1)), set(w2, numbers<512, 512>(3, 0.1)), set(w3, numbers<512, 10>(4, 0.1)));
}
