// SPDX-License-Identifier: BSL-1.0
// What is wanted of a scan stands in <>, or is a word; so much is said where the header is included too.
// FAIL: \[onto\.operands\] it takes other arguments: cumsum<0>\(x\), cumsum\(x, reverse\)
#include <onto/scan.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = cumsum<0>(x);
#else
const auto y = cumsum(x, 0);
#endif
