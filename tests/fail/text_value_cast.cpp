// SPDX-License-Identifier: BSL-1.0
// Nothing makes text of numbers.
// FAIL: text_is_no_number<.*onto::op::cast<.*onto::text.*float
// FAIL: \[onto\.text\] text is no number
#include <onto/ops/logic.hpp>

#ifdef ONTO_TWIN
#define ELEMENT double
#else
#define ELEMENT text
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
constexpr auto bad = cast<ELEMENT>(a);
