// SPDX-License-Identifier: BSL-1.0
// What is evaluated is an expression, and no number.
// FAIL: \[onto\.run\] what runs is an expression, and this is a number; write exp\(x\), not std::exp\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
const tensor<float, 3> X{3, 1, 4};

#ifdef ONTO_TWIN
const auto y = evaluate(x * 2.0f, x = X);
#else
const auto y = evaluate(2.0f, x = X);
#endif
