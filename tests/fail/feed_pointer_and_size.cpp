// SPDX-License-Identifier: BSL-1.0
// A pointer and a number in braces are no data.
// FAIL: \[onto\.feed\] the data has another rank than the placeholder, or no shape of its own; feed a tensor, or tensor_ref
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", double, dyn>;

tensor<double> f(session& sess, const std::vector<double>& v) {
#ifdef ONTO_TWIN
  return sess.run(mean(x), x = tensor_ref<double, dyn>(v.data(), {3}));
#else
  return sess.run(mean(x), x = {v.data(), v.size()});
#endif
}
