// SPDX-License-Identifier: BSL-1.0
// What is by number has a header of its own.
// FAIL: \[onto\.include\] with #include <onto/indexing\.hpp> it is written extent<0>\(x\)
#ifdef ONTO_TWIN
#include <onto/indexing.hpp>
#else
#include <onto/onto.hpp>
#endif

constexpr auto x = onto::placeholder<"x", float, onto::dyn, 3>;

const auto rows = extent<0>(x);
