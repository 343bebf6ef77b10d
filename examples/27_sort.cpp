// SPDX-License-Identifier: BSL-1.0
// Order: the three best of each row, rows in the order of their best, and how often each mark was given.
#include <onto/sort.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto points = placeholder<"points", float, dyn, 5>;  // a row for each player

int main() {
  session sess;
  const tensor<float, 3, 5> games{{7, 9, 4, 9, 1}, {8, 8, 2, 7, 6}, {10, 3, 3, 9, 7}};

  // [sort]
  const auto [best, games_of_best] = top_k<3>(points);
  const auto ranking = argsort(sum<1>(best), descending);
  const auto middle = median<1>(points);
  const auto [marks, counts, found] = unique<12>(points);
  // [sort]

  std::cout << sess.run(best, points = games) << '\n' << sess.run(games_of_best, points = games) << '\n';
  std::cout << sess.run(ranking, points = games) << '\n' << sess.run(middle, points = games) << '\n';
  std::cout << sess.run(marks, points = games) << '\n' << sess.run(counts, points = games) << '\n';
  std::cout << sess.run(found, points = games) << " different marks\n";
}
