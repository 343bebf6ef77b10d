// SPDX-License-Identifier: BSL-1.0
// Names of other libraries which onto writes otherwise; a function of the program's own comes first.
// FAIL: \[onto\.operands\] clamp is written clip
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
auto clamp(const decltype(x)& e, float low, float high) { return clip(e, low, high); }
template <class E>
auto unsqueeze(const E& e, int) {
  return expand_dims<1>(e);
}
const auto good = clamp(x, 0, 1);
const auto better = unsqueeze(x, 1);
#else
const auto bad = clamp(x, 0, 1);
#endif
