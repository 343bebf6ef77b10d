// SPDX-License-Identifier: BSL-1.0
// It is the prepared step that is fed; what is asked of it is no second error.
// FAIL: \[onto\.feed\] what prepare makes is fed: auto step = sess\.prepare\(e\); step\(x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto result(session& sess) {
  const auto step = sess.prepare(x);
  const auto text = plan_of(step).text();
  return step(x = X);
}
#else
auto result(session& sess) {
  const auto step = sess.prepare(x, x = X);
  const auto text = plan_of(step).text();
  return step(x = X);
}
#endif
