// SPDX-License-Identifier: BSL-1.0
// A matrix product with one value.
// FAIL: shape_mistake<.*rank.*onto::op::matmul.*onto::shape<2, 3>.*onto::shape<>
#include <onto/ops/matmul.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, 3>;
#ifdef ONTO_TWIN
constexpr auto b = placeholder<"b", float, 3>;
#else
constexpr auto b = placeholder<"b", float>;
#endif
constexpr auto bad = matmul(a, b);
