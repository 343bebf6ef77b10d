// SPDX-License-Identifier: BSL-1.0
// The direction of a sort is an argument.
// FAIL: \[onto\.operands\] it takes other arguments: sort<0>\(x\), sort<0>\(x, descending\)
#include <onto/onto.hpp>
#include <onto/sort.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
const auto good = sort(x, descending);
#else
const auto bad = sort<descending>(x);
#endif
