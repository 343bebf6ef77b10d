// SPDX-License-Identifier: BSL-1.0
// Texts have no order.
// FAIL: \[onto\.text\] text is no number: it is compared with == and !=
#include <onto/onto.hpp>

using namespace onto;

constexpr auto t = placeholder<"t", text, 3>;

#ifdef ONTO_TWIN
const auto y = t == "a";
#else
const auto y = t < "a";
#endif
