// SPDX-License-Identifier: BSL-1.0
// Along an axis that is not there.
// FAIL: \[onto\.axis\] an axis is out of range
#include <onto/ops/rearrange.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
#ifdef ONTO_TWIN
constexpr int axis = 1;
#else
constexpr int axis = 2;
#endif
constexpr auto bad = flip<axis>(a);
