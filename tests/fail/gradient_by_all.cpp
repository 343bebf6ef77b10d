// SPDX-License-Identifier: BSL-1.0
// Gradients are by what is named.
// FAIL: \[onto\.gradient\] a gradient is by something: gradient\(loss, w\); by several: gradients\(loss, w, b\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

auto derivatives(session& sess) {
  const tensor<float, 2, 3> data;
#ifdef ONTO_TWIN
  return sess.run(gradients(sum(x * x), x), x = data);
#else
  return sess.run(gradients(sum(x * x)), x = data);
#endif
}
