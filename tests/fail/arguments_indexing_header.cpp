// SPDX-License-Identifier: BSL-1.0
// What is by number has a header of its own.
// FAIL: \[onto\.include\] write take<0>\(x, i\), .* with #include <onto/indexing\.hpp>
#ifdef ONTO_TWIN
#include <onto/indexing.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, onto::dyn, 3>;

const auto rows = extent<0>(x);
