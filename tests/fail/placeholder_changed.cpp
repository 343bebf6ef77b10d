// SPDX-License-Identifier: BSL-1.0
// A copy of a placeholder as what a loop changes.
// FAIL: \[onto\.variable\] an expression never changes
#include <onto/onto.hpp>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, 3>;
inline constexpr auto y = placeholder<"y", float, dyn, 3>;

auto steps() {
  auto h = x;
#ifdef ONTO_TWIN
  return tanh(tanh(h + y) + y);
#else
  for (int k = 0; k < 2; ++k) h = tanh(h + y);
  return h;
#endif
}
