// SPDX-License-Identifier: BSL-1.0
// Each variable is given once.
// FAIL: \[onto\.optimizer\] a variable is given twice
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
constexpr auto b = variable<"b", float>(zeros<float>());
constexpr auto loss = sum(square(w * x + b));
#ifdef ONTO_TWIN
const auto step = minimize(adam{}, loss, w, b);
#else
const auto step = minimize(adam{}, loss, w, w);
#endif
