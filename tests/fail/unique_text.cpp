// SPDX-License-Identifier: BSL-1.0
// Texts are not sorted.
// FAIL: \[onto\.text\] text is no number
#include <onto/onto.hpp>
#include <onto/sort.hpp>
#include <onto/text.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto names = placeholder<"names", int, dyn>;
#else
constexpr auto names = placeholder<"names", text, dyn>;
#endif
constexpr auto bad = unique<16>(names);
