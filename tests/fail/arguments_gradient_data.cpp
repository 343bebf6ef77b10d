// SPDX-License-Identifier: BSL-1.0
// Data has no gradient.
// FAIL: \[onto\.gradient\] a gradient is by a placeholder, a variable or an expression, not by data
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
const onto::tensor<float, 2, 3> t;

#ifdef ONTO_TWIN
const auto y = gradient(sum(x * t), x);
#else
const auto y = gradient(sum(x * t), t);
#endif
