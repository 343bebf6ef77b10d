// SPDX-License-Identifier: BSL-1.0
// The order of a sort is a word; so much is said where the header is included too.
// FAIL: \[onto\.operands\] it takes other arguments: sort<0>\(x\), sort<0>\(x, descending\), argsort\(x\), top_k<5>\(x\)
#include <onto/sort.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = argsort(x, descending);
#else
const auto y = argsort(x, true);
#endif
