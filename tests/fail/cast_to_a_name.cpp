// SPDX-License-Identifier: BSL-1.0
// The type that elements become is a type, not its name.
// FAIL: \[onto\.element\] the element type is known to the compiler: cast<double>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 8>;

#ifdef ONTO_TWIN
constexpr auto y = cast<double>(x);
#else
constexpr auto y = cast<"double">(x);
#endif
