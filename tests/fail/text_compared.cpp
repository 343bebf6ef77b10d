// SPDX-License-Identifier: BSL-1.0
// Numbers are not compared with text.
// FAIL: \[onto\.text\] text is no number
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", text, 2>;
constexpr auto y = placeholder<"y", float, 2>;

#ifdef ONTO_TWIN
const auto same = x == "a";
#else
const auto same = y == "a";
#endif
