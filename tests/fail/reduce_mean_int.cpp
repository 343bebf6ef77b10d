// SPDX-License-Identifier: BSL-1.0
// The mean of integers, which would not be an integer.
// FAIL: element_type_not_supported<.*onto::op::reduce<.*int
#include <onto/ops/reduce.hpp>

#ifdef ONTO_TWIN
#define MEAN sum
#else
#define MEAN mean
#endif

using namespace onto;

constexpr auto a = placeholder<"a", int, 4>;
constexpr auto bad = MEAN(a);
