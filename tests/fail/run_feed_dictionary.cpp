// SPDX-License-Identifier: BSL-1.0
// Feeds are named by the placeholder itself.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess\.run\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4>;
const tensor<float, 4> t{1, 2, 3, 4};

void f(session& sess, tensor<float, 4>& out) {
#ifdef ONTO_TWIN
  out = sess.run(x * 2, x = {1, 2, 3, 4});
#else
  out = sess.run(x * 2, {{"x", {1, 2, 3, 4}}});
#endif
}
