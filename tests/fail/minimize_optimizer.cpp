// SPDX-License-Identifier: BSL-1.0
// The optimizer is the first argument.
// FAIL: \[onto\.optimizer\] the first argument is an optimizer
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
const auto step = minimize(sgd{0.1}, sum(square(w* x)));
#else
const auto step = minimize(0.1, sum(square(w* x)));
#endif
