// SPDX-License-Identifier: BSL-1.0
// A seed of run time is in no constant expression; one in the type is.
// FAIL: \[onto\.number\] a number in a constexpr expression: 2\.0_c
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto noise = random_normal<float, 2, 3>(1_c);
#else
constexpr auto noise = random_normal<float, 2, 3>(1);
#endif
