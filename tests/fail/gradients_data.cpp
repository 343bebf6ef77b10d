// SPDX-License-Identifier: BSL-1.0
// Gradients by a tensor, which is data.
// FAIL: \[onto\.gradient\] a gradient is by a placeholder, a variable or an expression, not by data
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto x = placeholder<"x", float, 2>;
#else
const tensor<float, 2> x{1, 2};
#endif

const auto g = gradients(sum(x * x), x);
