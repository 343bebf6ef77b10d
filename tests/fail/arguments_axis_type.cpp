// SPDX-License-Identifier: BSL-1.0
// An axis is a number, and a sum has the elements of its operand.
// FAIL: \[onto\.axis\] what stands in <> here is an axis: sum<0>\(x\), cumsum<1>\(x\); .* sum\(cast<double>\(x\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto i = placeholder<"i", int, 2, 3>;

#ifdef ONTO_TWIN
const auto total = sum<1>(i) * 2;
#else
const auto total = sum<std::int64_t>(i) * 2;
#endif
