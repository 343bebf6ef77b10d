// SPDX-License-Identifier: BSL-1.0
// Scans have a header of their own.
// FAIL: \[onto\.include\] cumsum, cumprod, cummax and cummin are in #include <onto/scan\.hpp>; an axis stands in <>: cumsum<0>\(x\)
#ifdef ONTO_TWIN
#include <onto/scan.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

const auto y = cumsum(x);
