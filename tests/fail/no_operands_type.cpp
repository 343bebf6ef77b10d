// SPDX-License-Identifier: BSL-1.0
// A place for what is no expression.
// FAIL: \[onto\.operands\] this word does not take these arguments
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float>;
#ifdef ONTO_TWIN
constexpr auto e = on<gpu<0>>(x);
#else
constexpr auto e = on<gpu<0>>(3);
#endif
