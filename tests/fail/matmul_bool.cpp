// SPDX-License-Identifier: BSL-1.0
// A matrix product of bool.
// FAIL: element_type_not_supported<.*onto::op::matmul.*bool.*bool
#include <onto/ops/matmul.hpp>

#ifdef ONTO_TWIN
#define ELEMENT double
#else
#define ELEMENT bool
#endif

using namespace onto;

constexpr auto a = placeholder<"a", ELEMENT, 2, 2>;
constexpr auto bad = matmul(a, a);
