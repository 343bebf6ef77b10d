// SPDX-License-Identifier: BSL-1.0
// A text is no number, and no list of numbers.
// FAIL: \[onto\.text\] text is no number: it is compared with == and !=, chosen with where
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;

#ifdef ONTO_TWIN
const auto chosen = where(x > 0, x, 1);
#else
const auto chosen = where(x > 0, x, "a");
#endif
