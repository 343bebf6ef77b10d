// SPDX-License-Identifier: BSL-1.0
// A value has at most 2^63 - 1 bytes, though nothing but its sum is wanted.
// FAIL: \[onto\.shape\] the result has more than 2\^63 - 1 bytes
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
constexpr auto high = onto::placeholder<"high", float, 16384, 1, 65536, 1>;
#else
constexpr auto high = onto::placeholder<"high", float, 32768, 1, 65536, 1>;
#endif
constexpr auto wide = onto::placeholder<"wide", float, 1, 16384, 1, 65536>;
constexpr auto total = sum(high + wide);
