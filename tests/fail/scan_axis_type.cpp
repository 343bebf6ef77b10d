// SPDX-License-Identifier: BSL-1.0
// The axis of a scan is a number, and its elements are those of its operand.
// FAIL: \[onto\.axis\] what stands in <> here is an axis: sum<0>\(x\), cumsum<1>\(x\); .* sum\(cast<double>\(x\)\)
#include <onto/onto.hpp>
#include <onto/scan.hpp>

using namespace onto;

constexpr auto i = placeholder<"i", int, 2, 3>;

#ifdef ONTO_TWIN
const auto upto = cumsum<1>(i) * 2;
#else
const auto upto = cumsum<int>(i) * 2;
#endif
