// SPDX-License-Identifier: BSL-1.0
// Numbers alone are a constant.
// FAIL: \[onto\.operands\] numbers without an expression among them are a constant: constant\(\{0\.0, 1\.0\}\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto dt = placeholder<"dt", double>;

#ifdef ONTO_TWIN
const auto e = stack(stack(1.0, dt), constant({0.0, 1.0}));
#else
const auto e = stack(stack(1.0, dt), stack(0.0, 1.0));
#endif
