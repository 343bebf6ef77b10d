// SPDX-License-Identifier: BSL-1.0
// A batched matrix product whose leading dimensions do not broadcast.
// FAIL: shape_mistake<.*broadcast.*onto::op::matmul.*onto::shape<6, 2, 3>.*onto::shape<7, 3, 2>
#include <onto/ops/matmul.hpp>

#ifdef ONTO_TWIN
#define BATCH 6
#else
#define BATCH 7
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 6, 2, 3>;
constexpr auto b = placeholder<"b", float, BATCH, 3, 2>;
constexpr auto bad = matmul(a, b);
