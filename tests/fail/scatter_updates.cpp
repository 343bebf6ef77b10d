// SPDX-License-Identifier: BSL-1.0
// Updates of another extent than the rows.
// FAIL: \[onto\.shape\] updates have the extents of the numbers, and then those of a row of x
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;
constexpr auto numbers = placeholder<"numbers", int, 2>;
#ifdef ONTO_TWIN
constexpr auto updates = placeholder<"updates", float, 2, 3>;
#else
constexpr auto updates = placeholder<"updates", float, 2, 5>;
#endif
constexpr auto bad = scatter_add(x, numbers, updates);
