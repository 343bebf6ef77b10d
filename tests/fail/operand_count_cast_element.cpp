// SPDX-License-Identifier: BSL-1.0
// What is cast becomes an element type.
// FAIL: \[onto\.element\] this is no element type; cast<std::int64_t>\(x\) for long long
#include <onto/onto.hpp>

#include <cstdint>

constexpr auto x = onto::placeholder<"x", float, 2>;

#ifdef ONTO_TWIN
constexpr auto y = onto::cast<std::int64_t>(x);
#else
constexpr auto y = onto::cast<char>(x);
#endif
