// SPDX-License-Identifier: BSL-1.0
// Linear algebra beyond products is outside; a function of the program's own with such a name is its own.
// FAIL: \[onto\.operands\] inv, solve, det and cholesky are another library's
#include <onto/onto.hpp>

using namespace onto;

constexpr auto p = placeholder<"p", double, 4, 4>;
#ifdef ONTO_TWIN
template <class E>
auto inv(const E& e) {
  return 2.0_c * e;
}
const auto twice = inv(p);
const auto same = twice + p;
#else
const auto bad = inv(p);
const auto same = bad + p;
#endif
