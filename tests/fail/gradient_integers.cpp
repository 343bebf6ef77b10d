// SPDX-License-Identifier: BSL-1.0
// A derivative by integers.
// FAIL: nothing_to_derive<.*int
// FAIL: \[onto\.gradient\] the loss, or what it is derived by, is not of floating point
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define TYPE float
#else
#define TYPE int
#endif

using namespace onto;

constexpr auto a = placeholder<"a", TYPE, 4, 5>;
constexpr auto bad = gradient(mean(cast<float>(a) * 2_c), a);
