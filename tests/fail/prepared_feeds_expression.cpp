// SPDX-License-Identifier: BSL-1.0
// The same of a prepared program.
// FAIL: \[onto\.variable\] an expression never changes.*what a run is fed is a placeholder, x = data
// LINES: 8
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", double, dyn>;

auto doubled(const std::vector<double>& v) {
  const auto y = x + 1;
  session sess;
  const auto step = sess.prepare(y);
#ifdef ONTO_TWIN
  return step(x = v);
#else
  return step(y = v);
#endif
}
