// SPDX-License-Identifier: BSL-1.0
// half beside float: tensors of different element types never meet without a cast.
// FAIL: element_types_differ<.*onto::op::add.*onto::half.*float
// FAIL: \[onto\.element\] the operands' element types differ; convert one with cast<T>\(x\)
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/logic.hpp>

using namespace onto;

constexpr auto h = placeholder<"h", half, 2>;
constexpr auto f = placeholder<"f", float, 2>;
#ifdef ONTO_TWIN
constexpr auto sum = cast<float>(h) + f;
#else
constexpr auto sum = h + f;
#endif
