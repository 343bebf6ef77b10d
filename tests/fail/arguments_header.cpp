// SPDX-License-Identifier: BSL-1.0
// Scans have a header of their own.
// FAIL: \[onto\.include\] write cumsum<0>\(x\), .* with #include <onto/scan\.hpp>
#ifdef ONTO_TWIN
#include <onto/scan.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

const auto y = cumsum(x);
