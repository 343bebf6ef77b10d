// SPDX-License-Identifier: BSL-1.0
// Data beside a bias that a product does not take.
// FAIL: \[onto\.operands\] this word takes two operands
#include <onto/onto.hpp>

using namespace onto;

inline constexpr auto w = placeholder<"w", float, 5, 5>;
inline constexpr auto b = placeholder<"b", float, 5>;

auto layer(const tensor<float, dyn, 5>& x) {
#ifdef ONTO_TWIN
  return matmul(x, w) + b;
#else
  return matmul(x, w, b);
#endif
}
