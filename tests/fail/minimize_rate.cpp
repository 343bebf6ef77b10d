// SPDX-License-Identifier: BSL-1.0
// A learning rate is one number.
// FAIL: \[onto\.optimizer\] a learning rate, or what a norm is clipped to, is one floating-point number
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
constexpr auto rate = placeholder<"rate", float>;
#else
constexpr auto rate = placeholder<"rate", float, 3>;
#endif
const auto step = minimize(sgd{}, learning_rate(rate), sum(square(w* x)));
