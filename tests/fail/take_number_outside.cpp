// SPDX-License-Identifier: BSL-1.0
// An element of a number in the type is there.
// FAIL: \[onto\.shape\] take: the axis has no element of that number; they count from 0
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
constexpr auto y = take<0>(x, 1_c);
#else
constexpr auto y = take<0>(x, 2_c);
#endif
