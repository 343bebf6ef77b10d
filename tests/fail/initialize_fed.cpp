// SPDX-License-Identifier: BSL-1.0
// A feed beside what initializes variables.
// FAIL: \[onto\.variable\] initialize is a run of its own and takes no feeds
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
const auto w = variable<"w", float, 2>(0.0f);

void start(session& sess, const tensor<float, 2>& t) {
#ifdef ONTO_TWIN
  sess.run(assign(w, x), x = t);
#else
  sess.run(initialize(w), x = t);
#endif
}
