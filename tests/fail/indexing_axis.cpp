// SPDX-License-Identifier: BSL-1.0
// Elements along an axis that is not there.
// FAIL: \[onto\.axis\] an axis is out of range
#include <onto/ops/indexing.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 5, 3>;
#ifdef ONTO_TWIN
constexpr int axis = -1;
#else
constexpr int axis = 2;
#endif
constexpr auto i = placeholder<"i", int, 4>;
constexpr auto bad = take<axis>(x, i);
