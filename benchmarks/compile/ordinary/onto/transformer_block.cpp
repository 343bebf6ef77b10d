// SPDX-License-Identifier: BSL-1.0
// A block of a transformer: attention and a perceptron, each behind a layer norm and added to what came in.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdio>

using namespace onto;

constexpr int length = 16, width = 32, heads = 4, inner = 4 * width;

inline constexpr auto x = placeholder<"x", float, length, width>;
inline constexpr auto wq = placeholder<"wq", float, width, width>;
inline constexpr auto wk = placeholder<"wk", float, width, width>;
inline constexpr auto wv = placeholder<"wv", float, width, width>;
inline constexpr auto wo = placeholder<"wo", float, width, width>;
inline constexpr auto w1 = placeholder<"w1", float, width, inner>;
inline constexpr auto w2 = placeholder<"w2", float, inner, width>;

template <int Rows, int Columns>
tensor<float, Rows, Columns> waves(float seed, float size) {
  tensor<float, Rows, Columns> t;
  for (int i = 0; i < t.size(); ++i) t.data()[i] = size * std::sin(seed + 1.3f * static_cast<float>(i));
  return t;
}

auto layer_norm(auto t) {
  const auto centered = t - mean<1>(t, keep_extents);
  return centered * rsqrt(mean<1>(square(centered), keep_extents) + 1e-5f);
}

auto split_heads(auto t) { return permute<1, 0, 2>(reshape<length, heads, width / heads>(t)); }

auto attention(auto t) {
  const auto q = split_heads(matmul(t, wq));
  const auto k = split_heads(matmul(t, wk));
  const auto v = split_heads(matmul(t, wv));
  const float scale = 1.f / std::sqrt(static_cast<float>(width / heads));
  const auto mixed = matmul(softmax(scale * matmul(q, permute<0, 2, 1>(k))), v);
  return matmul(reshape<length, width>(permute<1, 0, 2>(mixed)), wo);
}

auto perceptron(auto t) { return matmul(gelu(matmul(t, w1)), w2); }

int main() {
  const auto middle = x + attention(layer_norm(x));
  const auto block = middle + perceptron(layer_norm(middle));

  session sess;
  const auto out = sess.run(block, x = waves<length, width>(0.f, 1.f), wq = waves<width, width>(1.f, 0.2f),
                            wk = waves<width, width>(2.f, 0.2f), wv = waves<width, width>(3.f, 0.2f),
                            wo = waves<width, width>(4.f, 0.2f), w1 = waves<width, inner>(5.f, 0.2f),
                            w2 = waves<inner, width>(6.f, 0.1f));
  for (int i = 0; i < length; i += 3)
    std::printf("%.4f %.4f %.4f %.4f\n", out(i, 0), out(i, 7), out(i, 19), out(i, 31));
}
