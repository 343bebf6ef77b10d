// SPDX-License-Identifier: BSL-1.0
// An expression is no variable that becomes another one.
// FAIL: \[onto\.variable\] an expression never changes; write auto y2
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

void grow() {
  auto y = x * x;
#ifdef ONTO_TWIN
  auto z = y * x;
#else
  auto z = y;
  z = y * x;
#endif
  static_cast<void>(z);
}
