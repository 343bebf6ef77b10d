// SPDX-License-Identifier: BSL-1.0
// Feeds of several results stand one by one, too.
// FAIL: \[onto\.feed\] data is fed to a placeholder, without braces: sess\.run\(e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4>;
const tensor<float, 4> t{1, 2, 3, 4};

void f(session& sess) {
#ifdef ONTO_TWIN
  const auto [sums, means] = sess.run(fetches(sum(x), mean(x)), x = t);
#else
  const auto [sums, means] = sess.run(fetches(sum(x), mean(x)), {x = t});
#endif
}
