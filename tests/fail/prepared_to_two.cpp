// SPDX-License-Identifier: BSL-1.0
// Two results go into a tuple of what they go into.
// FAIL: \[onto\.run\] a prepared program is called: .*of two results step\.to\(std::tie\(u, v\)\)
#include <onto/onto.hpp>

#include <tuple>

using namespace onto;

void f() {
  constexpr auto x = placeholder<"x", float, 2>;
  session sess;
  tensor<float, 2> u, v;
  const auto step = sess.prepare(fetches(x + x, x * x));
#ifdef ONTO_TWIN
  step.to(std::tie(u, v))(x = {1, 2});
#else
  step.to(u, v)(x = {1, 2});
#endif
}
