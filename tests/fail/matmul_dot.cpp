// SPDX-License-Identifier: BSL-1.0
// The inner product of tensors of three dimensions.
// FAIL: \[onto\.shape\] dot: an operand has more than 2
#include <onto/ops/matmul.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto a = placeholder<"a", float, 3, 3>;
#else
constexpr auto a = placeholder<"a", float, 3, 3, 3>;
#endif
constexpr auto bad = dot(a, a);
