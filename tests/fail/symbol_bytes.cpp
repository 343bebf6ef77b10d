// SPDX-License-Identifier: BSL-1.0
// A symbol has at most 2^63 - 1 bytes.
// FAIL: \[onto\.shape\] a symbol has more than 2\^63 - 1 bytes
// LINES: 20
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
constexpr int extent = 32767;
#else
constexpr int extent = 32768;
#endif
constexpr auto x = onto::placeholder<"x", float, extent, 65536, 16384, 65536>;
