// SPDX-License-Identifier: BSL-1.0
// The element type of one_hot is behind the number.
// FAIL: \[onto\.element\] the element type is behind the number: one_hot<10, int>\(i\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto i = placeholder<"i", int, dyn>;
#ifdef ONTO_TWIN
const auto good = one_hot<10, float>(i);
#else
const auto bad = one_hot<float, 10>(i);
#endif
