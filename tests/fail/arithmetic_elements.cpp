// SPDX-License-Identifier: BSL-1.0
// Operands of two element types: nothing converts by itself.
// FAIL: element_types_differ<.*onto::op::mul.*float.*double
// FAIL: \[onto\.element\] the operands' element types differ; convert one with cast<T>\(x\)
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT double
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
constexpr auto b = placeholder<"b", ELEMENT, 2>;
constexpr auto bad = a * b + a;
