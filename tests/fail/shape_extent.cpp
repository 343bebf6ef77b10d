// SPDX-License-Identifier: BSL-1.0
// An axis has as many elements as an int counts.
// FAIL: \[onto\.shape\] an axis would have more than 2147483647 elements; leave it as several axes
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto x = placeholder<"x", float, 40000, 50000>;
#else
constexpr auto x = placeholder<"x", float, 50000, 50000>;
#endif
constexpr auto row = reshape<dyn>(x);
