// SPDX-License-Identifier: BSL-1.0
// Several expressions have no values to print either.
// FAIL: \[onto\.run\] an expression has no values to print
#include <onto/onto.hpp>

#include <ostream>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
void print(std::ostream& out, session& sess) { out << sess.run(fetches(x + 1, x * 2), x = tensor<float, 3, 4>()); }
#else
void print(std::ostream& out) { out << fetches(x + 1, x * 2); }
#endif
