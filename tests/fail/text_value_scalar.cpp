// SPDX-License-Identifier: BSL-1.0
// No number stands beside text.
// FAIL: text_is_no_number<.*int.*onto::text
// FAIL: \[onto\.text\] text is no number
#include <onto/ops/compare.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT text
#endif

using namespace onto;

constexpr auto a = placeholder<"a", ELEMENT, 2>;
auto bad() { return a == 1; }
