// SPDX-License-Identifier: BSL-1.0
// A fraction for an integer placeholder.
// FAIL: fraction_is_not_fed
// FAIL: \[onto\.feed\] a fraction is no integer; feed n = static_cast<int>\(value\)
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define VALUE static_cast<int>(value)
#else
#define VALUE value
#endif

using namespace onto;

constexpr auto n = placeholder<"n", int>;
auto fed(double value) { return n = VALUE; }
