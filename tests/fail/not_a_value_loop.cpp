// SPDX-License-Identifier: BSL-1.0
// A loop goes over values.
// FAIL: \[onto\.run\] an expression has no elements before it is run; loop over those of sess\.run\(e\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
float all(const tensor<float, 2, 3>& values) {
  float s = 0;
#ifdef ONTO_TWIN
  for (const float v : values) s += v;
#else
  static_cast<void>(values);
  for (const float v : x * 2.f) s += v;
#endif
  return s;
}
