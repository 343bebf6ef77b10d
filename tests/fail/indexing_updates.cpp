// SPDX-License-Identifier: BSL-1.0
// Updates of another number than there are places for.
// FAIL: \[onto\.shape\] updates have the extents of the numbers
#include <onto/ops/indexing.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 5, 3>;
#ifdef ONTO_TWIN
constexpr auto i = placeholder<"i", int, 5>;
#else
constexpr auto i = placeholder<"i", int, 4>;
#endif
constexpr auto bad = scatter_add(x, i, x);
