// SPDX-License-Identifier: BSL-1.0
// A placeholder does not learn.
// FAIL: \[onto\.optimizer\] only variables of floating point are trained
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
const auto step = minimize(sgd{}, sum(square(w* x)), w);
#else
const auto step = minimize(sgd{}, sum(square(w* x)), x);
#endif
