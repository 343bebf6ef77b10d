// SPDX-License-Identifier: BSL-1.0
// Elements by numbers that have fractions.
// FAIL: \[onto\.element\] numbers of elements, and where slices begin, are integers
#include <onto/ops/indexing.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 5, 3>;
#ifdef ONTO_TWIN
constexpr auto i = placeholder<"i", int, 2>;
#else
constexpr auto i = placeholder<"i", float, 2>;
#endif
constexpr auto bad = take<0>(x, i);
