// SPDX-License-Identifier: BSL-1.0
// The same of the standard's pointers.
// FAIL: \[onto\.operands\] a pointer or std::optional is no operand; write \*p
#include <onto/onto.hpp>

#include <memory>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

auto scaled(const std::unique_ptr<tensor<float, 2, 3>>& p) {
#ifdef ONTO_TWIN
  return x * *p;
}
#else
  return x * p;
}
#endif
