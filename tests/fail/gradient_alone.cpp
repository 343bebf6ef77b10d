// SPDX-License-Identifier: BSL-1.0
// A gradient by nothing.
// FAIL: \[onto\.gradient\] a gradient is by something
#include <onto/onto.hpp>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, 3>;

#ifdef ONTO_TWIN
constexpr auto slope = gradient(sum(square(x)), x);
#else
constexpr auto slope = gradient(sum(square(x)));
#endif
