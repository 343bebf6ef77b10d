// SPDX-License-Identifier: BSL-1.0
// Several results from one run, sharing their work; and a run that is prepared once and repeated.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto x = placeholder<"x", double, dyn>;

int main() {
  // [fetches]
  constexpr auto average = mean(x);
  constexpr auto deviation = sqrt(mean(square(x - average)));  // average is here again, and is computed once
  static_assert(plan_of(fetches(average, deviation)).kernels == plan_of(deviation).kernels);

  session sess;
  const auto [m, d] = sess.run(fetches(average, deviation), x = {2, 4, 4, 4, 5, 5, 7, 9});
  std::cout << "mean " << m << ", standard deviation " << d << '\n';
  // [fetches]

  // [prepare]
  auto step = sess.prepare(deviation);
  for (double last : {3.0, 5.0, 7.0}) {
    const double result = step(x = {1, last});  // a result of rank 0 is a number
    std::cout << result << '\n';
  }
  // [prepare]
}
