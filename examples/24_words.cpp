// SPDX-License-Identifier: BSL-1.0
// Words of an array library: a bag of words per text, from a table of embeddings, made of mean 0 and variance 1, and
// the words that are used most.
#include <onto/indexing.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto table = placeholder<"table", float, dyn, 3>;  // a row for each word
inline constexpr auto words = placeholder<"words", int, 2, dyn>;    // the words of two texts, by number

int main() {
  session sess;
  const tensor<float, 4, 3> rows{{1, 0, 0}, {0, 2, 0}, {0, 0, 3}, {1, 1, 1}};
  const tensor<int, 2, 3> texts{{0, 1, 1}, {3, 2, -1}};  // -1: the last word

  // [words]
  constexpr auto bags = sum<1>(embedding(table, words));  // (2, 3): a row for each text
  constexpr auto even = (bags - mean<1>(bags, keep_extents)) / stddev<1>(bags, keep_extents);
  constexpr auto used = bincount<4>(words);
  constexpr auto framed = pad<padding<0>, padding<1>>(clip(flip<1>(even), -1_c, 1_c));
  static_assert(plan_of(even).kernels == 3);  // the rows, their sums, the rest
  // [words]

  std::cout << sess.run(even, table = rows, words = texts) << '\n';
  std::cout << sess.run(framed, table = rows, words = texts) << '\n';
  std::cout << sess.run(used, words = texts) << '\n';
}
