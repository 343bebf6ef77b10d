// SPDX-License-Identifier: BSL-1.0
// Several results are none, and have no values before they are run.
// FAIL: \[onto\.operands\] top_k and unique make several, and one of them is an operand: top_k<3>\(x\)\.values
#include <onto/onto.hpp>
#include <onto/sort.hpp>

#include <iostream>

using namespace onto;

constexpr auto x = placeholder<"x", float, 8>;

void f(session& sess, const tensor<float, 8>& t) {
#ifdef ONTO_TWIN
  std::cout << sess.run(top_k<3>(x).values, x = t);
#else
  sess.run(x, x = t);
  std::cout << top_k<3>(x);
#endif
}
