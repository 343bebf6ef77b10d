// SPDX-License-Identifier: BSL-1.0
// Scans have a header of their own.
// FAIL: \[onto\.include\] with #include <onto/scan\.hpp> it is written cumsum<0>\(x\)
#ifdef ONTO_TWIN
#include <onto/scan.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

const auto y = cumsum(x);
