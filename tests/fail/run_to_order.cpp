// SPDX-License-Identifier: BSL-1.0
// What a result goes into is first.
// FAIL: \[onto\.run\] what the result goes into is first: sess\.run_to\(out, e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4>;
const tensor<float, 4> t{1, 2, 3, 4};

void f(session& sess, tensor<float, 4>& out) {
#ifdef ONTO_TWIN
  sess.run_to(out, x * 2, x = t);
#else
  sess.run_to(x * 2, out, x = t);
#endif
}
