// SPDX-License-Identifier: BSL-1.0
// The header is included, and the number stands in <>.
// FAIL: \[onto\.operands\] it takes other arguments: .*top_k<5>\(x\)
#include <onto/onto.hpp>
#include <onto/sort.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4>;
#ifdef ONTO_TWIN
const auto y = top_k<4>(x);
#else
const auto y = top_k(x, 4);
#endif
