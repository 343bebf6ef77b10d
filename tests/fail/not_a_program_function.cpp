// SPDX-License-Identifier: BSL-1.0
// A function that makes a program is called; one mistake is one error.
// FAIL: \[onto\.run\] what runs is an expression, and this is a function; call it: sess\.run\(loss\(\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
auto loss() { return sum(x * x); }

float run(session& sess) {
#ifdef ONTO_TWIN
  auto step = sess.prepare(loss());
#else
  auto step = sess.prepare(loss);
#endif
  return step(x = {1, 2});
}
