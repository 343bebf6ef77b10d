// SPDX-License-Identifier: BSL-1.0
// A square root of integers.
// FAIL: element_type_not_supported<.*onto::op::sqrt.*int
// FAIL: \[onto\.element\] the operation has no kernel for this element type; convert with cast<T>\(x\)
#include <onto/ops/unary.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT int
#endif

using namespace onto;

constexpr auto a = placeholder<"a", ELEMENT, 2>;
constexpr auto bad = sqrt(a);
