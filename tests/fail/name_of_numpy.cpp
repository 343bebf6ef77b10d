// SPDX-License-Identifier: BSL-1.0
// Names of NumPy's which onto writes otherwise; a function of the program's own comes first.
// FAIL: \[onto\.operands\] nonzero, or argwhere, would have as many elements as the mask has; the first K are -top_k<K>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 12>;
#ifdef ONTO_TWIN
constexpr int arange(int n) { return n; }
template <class E>
auto percentile(const E& e, int n) {
  return e / static_cast<float>(n);
}
static_assert(arange(3) == 3);
const auto good = percentile(x, 90);
#else
const auto bad = nonzero(x > 3.0_c);
#endif
