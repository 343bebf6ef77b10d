// SPDX-License-Identifier: BSL-1.0
// Parts that are not of equal extents.
// FAIL: \[onto\.shape\] split: the parts are not of equal extents
#include <onto/ops/rearrange.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
#ifdef ONTO_TWIN
constexpr int parts = 3;
#else
constexpr int parts = 2;
#endif
const auto cut = split<parts, 1>(a);
