// SPDX-License-Identifier: BSL-1.0
// A part that is longer than what it is of.
// FAIL: \[onto\.shape\] the axis has fewer elements than are asked for
#include <onto/ops/indexing.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 5, 3>;
#ifdef ONTO_TWIN
constexpr int rows = 5;
#else
constexpr int rows = 6;
#endif
constexpr auto i = placeholder<"i", int, 2>;
constexpr auto bad = dynamic_slice<rows, 2>(x, i);
