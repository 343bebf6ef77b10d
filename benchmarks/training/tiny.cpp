// SPDX-License-Identifier: BSL-1.0
// Layers of 2, 8 and 1, a batch of 4: what a step costs beside its arithmetic.
#include "rows.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, 4, 2>;
inline constexpr auto y = placeholder<"y", float, 4, 1>;
constexpr auto w1 = variable<"w1", float, 2, 8>(zeros<float, 2, 8>());
constexpr auto b1 = variable<"b1", float, 8>(zeros<float, 8>());
constexpr auto w2 = variable<"w2", float, 8, 1>(zeros<float, 8, 1>());
constexpr auto b2 = variable<"b2", float, 1>(zeros<float, 1>());

constexpr auto guess = sigmoid(matmul(tanh(matmul(x, w1) + b1), w2) + b2);
constexpr auto step = minimize<sgd{.rate = 0.01}>(mean(square(guess - y)));

}  // namespace

beside::row training::tiny(int threads) {
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [X = numbers<4, 2>(1, 2), Y = numbers<4, 1>(2)](auto& learn) { return learn(x = X, y = Y); }, set<2, 8>(w1, 3, 2),
      set<8, 1>(w2, 4, 2));
}
