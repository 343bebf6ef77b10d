// SPDX-License-Identifier: BSL-1.0
// Numbers are not multiplied by a text.
// FAIL: \[onto\.text\] text is no number
#include <onto/onto.hpp>

using namespace onto;

constexpr auto v = placeholder<"v", float, 3>;

#ifdef ONTO_TWIN
const auto y = v * 2;
#else
const auto y = v * "a";
#endif
