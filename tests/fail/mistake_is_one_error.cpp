// SPDX-License-Identifier: BSL-1.0
// A mistake that is run, prepared and printed is one error.
// FAIL: \[onto\.shape\] the operands' extents differ and neither is 1
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
#ifdef ONTO_TWIN
constexpr auto y = placeholder<"y", float, 3>;
#else
constexpr auto y = placeholder<"y", float, 2>;
#endif

const auto sum_of_both = x + y;

void print_results(session& sess, tensor<float, 3>& out) {
  std::cout << sess.run(fetches(sum_of_both, x), x = {1, 2, 3}, y = {1, 2}) << '\n';
  std::cout << sess.run(sum_of_both, x = {1, 2, 3}, y = {1, 2});
  const auto step = sess.prepare(sum_of_both);
  step.to(out)(x = {1, 2, 3}, y = {1, 2});
  std::cout << step.async(x = {1, 2, 3}, y = {1, 2}).get() << step(x = {1, 2, 3}, y = {1, 2});
}
