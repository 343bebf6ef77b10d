// SPDX-License-Identifier: BSL-1.0
// The element type of one_hot is behind the number, and zeros_like has that of its operand.
// FAIL: \[onto\.element\] one_hot<10>\(i\), or one_hot<10, float>\(i\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
constexpr auto i = placeholder<"i", int, dyn>;
#ifdef ONTO_TWIN
const auto good = one_hot<10, float>(i);
const auto better = cast<int>(zeros_like(x));
#else
const auto bad = one_hot<float, 10>(i);
#endif
