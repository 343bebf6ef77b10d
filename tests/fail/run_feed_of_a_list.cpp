// SPDX-License-Identifier: BSL-1.0
// Data without its placeholder, where several are fetched: told of once, and what is made of the results is right.
// FAIL: \[onto\.feed\] data is fed to a placeholder
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn>;

float both(session& sess, const std::vector<float>& data) {
#ifdef ONTO_TWIN
  const auto [total, twice] = sess.run(fetches(sum(x), x + x), x = data);
#else
  const auto [total, twice] = sess.run(fetches(sum(x), x + x), data);
#endif
  return total + twice(0);
}
