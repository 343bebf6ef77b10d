// SPDX-License-Identifier: BSL-1.0
// What a pointer or an optional holds is read with *.
// FAIL: \[onto\.operands\] a pointer or std::optional is no operand; write \*p
#include <onto/onto.hpp>

#include <optional>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

auto scaled(const std::optional<float>& p) {
#ifdef ONTO_TWIN
  return x * *p;
}
#else
  return x * p;
}
#endif
