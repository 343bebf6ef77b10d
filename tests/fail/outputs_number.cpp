// SPDX-License-Identifier: BSL-1.0
// A variable takes a result of one element of its own type; told of where the output is named.
// FAIL: \[onto\.run\] the output has another element type or shape than the result.* of a single one a variable
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;

#ifdef ONTO_TWIN
float total;
#else
double total;
#endif
void prepare(session& sess) { auto step = sess.prepare(sum(x)).to(total); }
