// SPDX-License-Identifier: BSL-1.0
// add_n broadcasts nothing, not even an extent of 1.
// FAIL: shape_mistake<.*addends.*onto::op::add_n.*onto::shape<2>.*onto::shape<2>.*onto::shape<1>
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define EXTENT 2
#else
#define EXTENT 1
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
constexpr auto b = placeholder<"b", float, EXTENT>;
constexpr auto bad = add_n(a, a, b);
