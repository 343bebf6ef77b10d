// SPDX-License-Identifier: BSL-1.0
// A placeholder is fed by its name.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess.run\(e, x = data\), evaluate\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
const auto result = evaluate(x * 2.0f, x = X);
#else
const auto result = evaluate(x * 2.0f, {x, X});
#endif
