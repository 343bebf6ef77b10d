// SPDX-License-Identifier: BSL-1.0
// An expression does not change; a new one is made of it.
// FAIL: \[onto\.variable\] an expression never changes
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
auto twice() {
  auto y = x + x;
  return y + x;
}
#else
auto twice() {
  auto y = x + x;
  y += x;
  return y;
}
#endif
