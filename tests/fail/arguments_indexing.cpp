// SPDX-License-Identifier: BSL-1.0
// How many bins there are stands in <>; so much is said where the header is included too.
// FAIL: it takes other arguments: histogram<10>\(x, 0, 1\), with the number of bins in the type
#include <onto/indexing.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = histogram<10>(x, 0, 1);
#else
const auto y = histogram(x, 10);
#endif
