// SPDX-License-Identifier: BSL-1.0
// The part of a quantile is an argument.
// ONLY: g++
// FAIL: \[onto\.axis\] what stands in <> here is an axis, and the part in \(\): quantile\(x, 0\.95\)
#include <onto/onto.hpp>
#include <onto/sort.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", double, 8>;

#ifdef ONTO_TWIN
constexpr auto q = quantile(x, 0.95_c);
#else
constexpr auto q = quantile<0.95>(x);
#endif
