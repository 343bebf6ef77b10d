// SPDX-License-Identifier: BSL-1.0
// An element that an expression does not have is put: that is one mistake, not two.
// FAIL: \[onto\.run\] an expression has no elements before it is run; index the result
// LINES: 8
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 2>;

float f(tensor<float, 2, 2>& t) {
#ifdef ONTO_TWIN
  const float v = t(0, 1) = 3;
#else
  const float v = x(0, 1) = 3;
#endif
  return v + t(1, 1);
}
