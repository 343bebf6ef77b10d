// SPDX-License-Identifier: BSL-1.0
// Text is no number: it is not added.
// FAIL: text_is_no_number<.*onto::op::add.*onto::text
// FAIL: \[onto\.text\] text is no number: it is compared with == and !=, chosen with where
#include <onto/ops/arithmetic.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT text
#endif

using namespace onto;

constexpr auto a = placeholder<"a", ELEMENT, 2>;
constexpr auto b = placeholder<"b", ELEMENT, 2>;
constexpr auto bad = a + b;
