// SPDX-License-Identifier: BSL-1.0
// zeros_like has the element type of its operand.
// FAIL: \[onto\.element\] zeros_like\(x\) has the elements of x; of another type cast<int>\(zeros_like\(x\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;

#ifdef ONTO_TWIN
const auto good = cast<int>(zeros_like(x));
#else
const auto bad = zeros_like<int>(x);
#endif
