// SPDX-License-Identifier: BSL-1.0
// Causal attention of several heads: each position looks at itself and at those before it.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

using namespace onto;

constexpr int heads = 4, width = 16, length = 24;

inline constexpr auto q = placeholder<"q", float, heads, length, width>;
inline constexpr auto k = placeholder<"k", float, heads, length, width>;
inline constexpr auto v = placeholder<"v", float, heads, length, width>;

using values = tensor<float, heads, length, width>;

values waves(float seed) {
  values t;
  for (int i = 0; i < t.size(); ++i) t.data()[i] = std::sin(seed + 1.7f * static_cast<float>(i));
  return t;
}

int main() {
  const float scale = 1.f / std::sqrt(static_cast<float>(width));
  const auto position = iota<int, length>();
  const auto before = expand_dims<1>(position) >= expand_dims<0>(position);
  const auto scores = scale * matmul(q, permute<0, 2, 1>(k));
  const auto weights = softmax(where(before, scores, -1e9f));
  const auto mixed = matmul(weights, v);
  const auto joined = reshape<length, heads * width>(permute<1, 0, 2>(mixed));
  const auto entropy = -mean(sum<2>(weights * log(weights + 1e-9f)));

  session sess;
  const auto [out, spread, first] =
      sess.run(fetches(joined, entropy, slice<range<0, 1>, range<0, 4>, range<0, 4>>(weights)), q = waves(0.f),
               k = waves(1.f), v = waves(2.f));
  std::cout << first << '\n';
  for (int i = 0; i < length; i += 6) std::printf("%.4f %.4f %.4f\n", out(i, 0), out(i, 17), out(i, 63));
  std::printf("mean entropy %.4f\n", double(spread));
}
