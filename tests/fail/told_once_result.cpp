// SPDX-License-Identifier: BSL-1.0
// The elements of what a mistake gives are not complained of again.
// FAIL: \[onto\.shape\] concat, stack: the operands differ in rank or in an extent other than the joined axis
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto y = onto::placeholder<"y", float, 3, 2>;

int main() {
#ifdef ONTO_TWIN
  const auto z = onto::concat<0>(x, transpose(y));
#else
  const auto z = onto::concat<0>(x, y);
#endif
  const onto::tensor<float, 2, 3> one;
  const onto::tensor<float, 3, 2> two;
  onto::session sess;
  const auto [all, rows] = sess.run(fetches(z, sum<1>(z)), x = one, y = two);
  const onto::tensor<float, 4, 3> alone = sess.run(z, x = one, y = two);
  const auto step = sess.prepare(z);
  return all(1, 2) + rows[1] + alone(1, 2) + evaluate(z, x = one, y = two)(1, 2) + step(x = one, y = two)(1, 2) > 0;
}
