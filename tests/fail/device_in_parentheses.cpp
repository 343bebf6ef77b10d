// SPDX-License-Identifier: BSL-1.0
// The number of a device stands in <>.
// FAIL: \[onto\.device\] a device index is 0 or positive, and stands in <>: gpu<0>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 3>;

#ifdef ONTO_TWIN
const auto y = on<gpu<0>>(x + 1);
#else
const auto y = on<gpu(0)>(x + 1);
#endif
