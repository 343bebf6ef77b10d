// SPDX-License-Identifier: BSL-1.0
// The same of a lambda, beside data.
// FAIL: \[onto\.operands\] a function or lambda is no operand; call it
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

const auto doubled = [] { return x * 2; };

auto scaled(const tensor<float, 2, 3>& t) {
#ifdef ONTO_TWIN
  return maximum(t, doubled());
}
#else
  return maximum(t, doubled);
}
#endif
