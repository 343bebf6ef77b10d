// SPDX-License-Identifier: BSL-1.0
// Whatever holds numbers can be fed: tensors, vectors, arrays, spans with a shape, nested lists. None of them is
// copied.
#include <onto/onto.hpp>

#include <iostream>
#include <span>
#include <vector>

using namespace onto;

inline constexpr auto v = placeholder<"v", float, dyn>;
inline constexpr auto m = placeholder<"m", float, dyn, 2>;

int main() {
  const auto total = matmul(m, reshape<2, 1>(v));
  session sess;

  // [feeds]
  const tensor<float, dyn, 2> matrix{{1, 2}, {3, 4}};
  const std::vector<float> vector{10, 1};
  const float array[2][2] = {{5, 6}, {7, 8}};
  const std::vector<float> flat{1, 2, 3, 4, 5, 6};
  const std::span<const float> span = flat;

  std::cout << sess.run(total, m = matrix, v = vector) << '\n';
  std::cout << sess.run(total, m = array, v = {1, 1}) << '\n';
  std::cout << sess.run(total, m = tensor_ref<float, dyn, 2>(span, {3, 2}), v = vector) << '\n';
  // [feeds]

  // [wrong]
  try {
    sess.run(total, m = matrix, v = {1, 2, 3});
  } catch (const invalid_argument_error& e) {
    std::cout << e.what() << '\n';
  }
  // [wrong]
}
