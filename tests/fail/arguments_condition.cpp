// SPDX-License-Identifier: BSL-1.0
// One bool where a choice for each element stands.
// FAIL: \[onto\.element\] where chooses for each element by a condition, which is first: .* by one bool write flag \? x : y
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define CONDITION x > 0
#else
#define CONDITION flag
#endif

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
auto chosen(bool flag) {
  static_cast<void>(flag);
  return where(CONDITION, x, -x);
}
