// SPDX-License-Identifier: BSL-1.0
// Bounds that are computed.
// FAIL: \[onto\.operands\] it takes other arguments: histogram<10>\(x, 0, 1\), .*evaluate\(min\(x\)\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4, 8>;

#ifdef ONTO_TWIN
constexpr auto bad = histogram<4>(x, 0.0_c, 1.0_c);
#else
constexpr auto bad = histogram<4>(x, min(x), max(x));
#endif
