// SPDX-License-Identifier: BSL-1.0
// An expression does not become another one: each has a type of its own.
// FAIL: \[onto\.run\] .* nor is it one of another type: const auto y = exp\(x\), and if constexpr \(c\), not c
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
template <bool Deep>
auto layer() {
  if constexpr (Deep)
    return tanh(x);
  else
    return sigmoid(x);
}
const auto y = layer<true>();
#else
const bool deep = true;
const auto y = deep ? tanh(x) : sigmoid(x);
#endif
