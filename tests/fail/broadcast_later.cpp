// SPDX-License-Identifier: BSL-1.0
// The mistake lies deep in an expression: it is reported once, not by everything above it.
// FAIL: shape_mistake<.*broadcast.*onto::op::maximum.*onto::shape<5>.*onto::shape<2>
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define EXTENT 5
#else
#define EXTENT 2
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 5>;
constexpr auto b = placeholder<"b", float, EXTENT>;
constexpr auto bad = sum<0>(softmax(exp(maximum(a, b)) - a) + a);
auto worse = 2.0f * bad > 1;
