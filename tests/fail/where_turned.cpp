// SPDX-License-Identifier: BSL-1.0
// A condition is first.
// FAIL: \[onto\.element\] where chooses for each element by a condition, which is first
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, dyn>;

#ifdef ONTO_TWIN
const auto e = where(v > 1, v, 0);
#else
const auto e = where(1, v, 0);
#endif
