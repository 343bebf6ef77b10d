// SPDX-License-Identifier: BSL-1.0
// Normally distributed integers.
// FAIL: element_type_not_supported<.*onto::op::random_normal<int, 3>.*int
#include <onto/ops/random.hpp>

#ifdef ONTO_TWIN
#define ELEMENT double
#else
#define ELEMENT int
#endif

using namespace onto;

auto bad = random_normal<ELEMENT, 3>(1);
