// SPDX-License-Identifier: BSL-1.0
// The operand is first.
// FAIL: \[onto\.operands\] it takes other arguments: .*quantile<0>\(x, 0\.9\)
#include <onto/sort.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, dyn>;

#ifdef ONTO_TWIN
const auto e = quantile(v, 0.5);
#else
const auto e = quantile(0.5, v);
#endif
