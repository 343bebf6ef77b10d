// SPDX-License-Identifier: BSL-1.0
// A user's first program: built through find_package, with a bare compiler call, and from the single header.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto a = placeholder<"a", float, 2, 3>;
inline constexpr auto b = placeholder<"b", float, 3, 2>;

int main() {
  constexpr auto product = matmul(a, b);
  session sess{{.allow_soft_placement = true}};
  const tensor<float, 2, 3> left{{1, 2, 3}, {4, 5, 6}};
  const tensor<float, 3, 2> right{{1, 2}, {3, 4}, {5, 6}};
  const auto result = sess.run(product, a = left, b = right);
  std::cout << result << '\n';
  return result(0, 0) == 22.0f && result(1, 1) == 64.0f ? 0 : 1;
}
