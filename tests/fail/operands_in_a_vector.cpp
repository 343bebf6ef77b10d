// SPDX-License-Identifier: BSL-1.0
// Expressions are no elements of data.
// FAIL: \[onto\.element\] the elements of the vector, array or span, .* of expressions make a tuple, add_n\(std::tuple\{x, y\}\)
#include <onto/onto.hpp>

#include <tuple>
#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;

tensor<float, 2> f(session& sess) {
#ifdef ONTO_TWIN
  return sess.run(add_n(std::tuple{x + 1, x + 2}), x = {1, 2});
#else
  const std::vector v{x + 1, x + 1};
  return sess.run(add_n(v), x = {1, 2});
#endif
}
