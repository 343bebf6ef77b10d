// SPDX-License-Identifier: BSL-1.0
// A place has an index.
// FAIL: \[onto\.device\] a device is known to the compiler: on<gpu<0>>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = on<gpu<0>>(x + 1);
#else
const auto y = on<gpu>(x + 1);
#endif
