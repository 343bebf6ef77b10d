// SPDX-License-Identifier: BSL-1.0
// Tuples of gradients are not added.
// FAIL: \[onto\.operands\] several expressions are no operand; take them apart
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

constexpr auto y = placeholder<"y", float, 2, 3>;

auto step() {
#ifdef ONTO_TWIN
  const auto [dx, dy] = gradients(sum(x * y), x, y);
  return dx + dx;
}
#else
  return gradients(sum(x * y), x, y) + gradients(sum(x + y), x, y);
}
#endif
