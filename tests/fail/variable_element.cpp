// SPDX-License-Identifier: BSL-1.0
// An element of a variable.
// FAIL: \[onto\.run\] an expression has no elements before it is run; index the result
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2, 2>(zeros<float, 2, 2>());

#ifdef ONTO_TWIN
constexpr auto e = slice<0, 1>(w);
#else
constexpr auto e = w(0, 0);
#endif
