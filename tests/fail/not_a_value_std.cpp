// SPDX-License-Identifier: BSL-1.0
// The standard library's functions take numbers.
// FAIL: \[onto\.run\] an expression has no value before it is run; .* write exp\(x\), not std::exp\(x\)
#include <onto/onto.hpp>

#include <cmath>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
#ifdef ONTO_TWIN
const auto y = exp(x);
#else
const auto y = std::exp(x);
#endif
