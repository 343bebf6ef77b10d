// SPDX-License-Identifier: BSL-1.0
// What stands for a mistake is not complained of again.
// FAIL: \[onto\.element\] the operands.* element types differ
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto i = onto::placeholder<"i", int, 3>;

#ifdef ONTO_TWIN
const auto y = matmul(x, cast<float>(i));
#else
const auto y = matmul(x, i);
#endif
