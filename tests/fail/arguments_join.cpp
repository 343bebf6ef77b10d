// SPDX-License-Identifier: BSL-1.0
// Along which axis tensors are joined must be said.
// FAIL: \[onto\.axis\] the axis of concat stands in <>, and in \(\) expressions or data: concat<1>\(x, y\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 2>;

#ifdef ONTO_TWIN
const auto y = concat<0>(x, x, x);
#else
const auto y = concat(x, x, x);
#endif
