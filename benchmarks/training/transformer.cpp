// SPDX-License-Identifier: BSL-1.0
// One block of a transformer: attention and a perceptron, each behind a layer norm and added to what came in. Four
// sequences of 128, a width of 256 in four heads, 1024 inside; descent towards a given result.
#include "rows.hpp"

using namespace onto;

namespace {

constexpr int sequences = 4, length = 128, width = 256, heads = 4, inner = 4 * width, rows = sequences * length;

inline constexpr auto x = placeholder<"x", float, rows, width>;
inline constexpr auto y = placeholder<"y", float, rows, width>;

template <fixed_string Name, int... Dims>
constexpr auto parameter() {
  return variable<Name, float, Dims...>(zeros<float, Dims...>());
}
constexpr auto wq = parameter<"wq", width, width>();
constexpr auto wk = parameter<"wk", width, width>();
constexpr auto wv = parameter<"wv", width, width>();
constexpr auto wo = parameter<"wo", width, width>();
constexpr auto w1 = parameter<"w1", width, inner>();
constexpr auto b1 = parameter<"b1", inner>();
constexpr auto w2 = parameter<"w2", inner, width>();
constexpr auto b2 = parameter<"b2", width>();
constexpr auto gain1 = variable<"gain1", float, width>(fill<float, width>(1_c));
constexpr auto shift1 = parameter<"shift1", width>();
constexpr auto gain2 = variable<"gain2", float, width>(fill<float, width>(1_c));
constexpr auto shift2 = parameter<"shift2", width>();

constexpr auto in_heads(const auto& t) {
  return permute<0, 2, 1, 3>(reshape<sequences, length, heads, width / heads>(t));
}
constexpr auto attention(const auto& t) {
  const auto q = in_heads(matmul(t, wq));
  const auto k = in_heads(matmul(t, wk));
  const auto v = in_heads(matmul(t, wv));
  const auto mixed = matmul(softmax(0.125_c * matmul(q, permute<0, 1, 3, 2>(k))), v);
  return matmul(reshape<rows, width>(permute<0, 2, 1, 3>(mixed)), wo);
}
constexpr auto block() {
  const auto middle = x + attention(layer_norm(x, gain1, shift1));
  return middle + matmul(gelu(matmul(layer_norm(middle, gain2, shift2), w1) + b1), w2) + b2;
}
constexpr auto step = minimize<sgd{.rate = 0.01}>(mean_squared_error(block(), y));

}  // namespace

beside::row training::transformer(int threads) {
  return row_of(
      threads, step, plan_of<world<cpu<0>>>(step).peak_bytes(cpu<0>{}),
      [X = numbers<rows, width>(1, 2), Y = numbers<rows, width>(2, 2)](auto& learn) { return learn(x = X, y = Y); },
      set<width, width>(wq, 3, 0.2), set<width, width>(wk, 4, 0.2), set<width, width>(wv, 5, 0.2),
      set<width, width>(wo, 6, 0.2), set<width, inner>(w1, 7, 0.2), set<inner, width>(w2, 8, 0.1));
}
