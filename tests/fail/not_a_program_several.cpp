// SPDX-License-Identifier: BSL-1.0
// What makes several expressions is taken apart before it runs.
// FAIL: \[onto\.run\] what runs is an expression, or fetches\(x, y\) of several
#include <onto/onto.hpp>
#include <onto/sort.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 6>;
const tensor<float, 6> X{3, 1, 4, 1, 5, 9};

void greatest(session& sess) {
  const auto best = top_k<2>(x);
#ifdef ONTO_TWIN
  sess.run(fetches(best.values, best.indices), x = X);
#else
  sess.run(best, x = X);
#endif
}
