// SPDX-License-Identifier: BSL-1.0
// An array of arrays of another type than the placeholder's.
// FAIL: \[onto\.feed\] the data's elements are of another type than the placeholder's
#include <onto/onto.hpp>

using namespace onto;

constexpr auto b = placeholder<"b", float, 3, 3>;
#ifdef ONTO_TWIN
using number = float;
#else
using number = int;
#endif

void f(session& sess, const number (&g)[3][3]) { sess.run(b, b = g); }
