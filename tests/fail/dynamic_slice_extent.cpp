// SPDX-License-Identifier: BSL-1.0
// The extents of a part are constants.
// FAIL: \[onto\.shape\] dynamic_slice: the run says where a part begins, and its extents are in the type, dynamic_slice<2, 4>\(x, starts\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, 4>;
constexpr auto start = placeholder<"start", int>;

void f(session& sess, const tensor<float, dyn, dyn>& t) {
#ifdef ONTO_TWIN
  sess.run(dynamic_slice<2, 4>(x, stack(start, 0_c)), x = t, start = 1);
#else
  sess.run(dynamic_slice<dyn, 4>(x, stack(start, 0_c)), x = t, start = 1);
#endif
}
