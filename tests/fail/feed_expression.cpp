// SPDX-License-Identifier: BSL-1.0
// What is fed is a placeholder, not what is computed of one: one sentence, of run, evaluate and a prepared program.
// FAIL: \[onto\.variable\] an expression never changes.*what a run is fed is a placeholder, x = data
// LINES: 8
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", double, dyn>;

auto doubled(const std::vector<double>& v) {
  const auto y = x + 1;
#ifdef ONTO_TWIN
  return evaluate(y * 2, x = v);
#else
  return evaluate(y * 2, x = v, y = v);
#endif
}
