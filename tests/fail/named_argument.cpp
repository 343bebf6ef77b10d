// SPDX-License-Identifier: BSL-1.0
// A name is part of the type.
// FAIL: \[onto\.name\] a name is known to the compiler: named<
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto h = named<"h">(exp(x));
#else
const auto h = named("h", exp(x));
#endif
