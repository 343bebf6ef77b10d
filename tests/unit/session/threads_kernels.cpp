// SPDX-License-Identifier: BSL-1.0
// Kernels that divide their work among threads give what one thread gives: scans, sorts, takes and sums at indices.
#include <onto/indexing.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <cstdint>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto line = placeholder<"line", float, dyn>;
constexpr auto m = placeholder<"m", float, dyn, dyn>;
constexpr auto i = placeholder<"i", int, dyn>;

/// Beside loops: `count` rows of updates by number into `rows`, of `columns` elements each.
template <class T, class Number>
void check_updates(int rows, int count, int columns) {
  constexpr auto table = placeholder<"table", T, dyn, dyn>;
  constexpr auto updates = placeholder<"updates", T, dyn, dyn>;
  constexpr auto n = placeholder<"n", Number, dyn>;
  tensor<T, dyn, dyn> X({rows, columns}), U({count, columns});
  tensor<Number, dyn> N({count});
  std::uint32_t seed = 1;
  const auto random = [&](int of) {
    return static_cast<int>(((seed = seed * 1664525u + 1013904223u) >> 8) % static_cast<unsigned>(of));
  };
  for (T& v : X) v = static_cast<T>(random(64));
  for (T& v : U) v = static_cast<T>(random(64));  // sums are exact
  for (Number& v : N) v = static_cast<Number>(random(2 * rows + 3) - rows - 1);
  auto added = X, replaced = X;
  tensor<T, dyn, dyn> taken({rows, columns}), last({count, columns});
  tensor<T, 7, dyn> segments({7, columns});
  std::vector<int> writer(static_cast<std::size_t>(rows), -1);
  for (int k = 0; k < count; ++k) {
    const int number = static_cast<int>(N(k)), row = number < 0 ? number + rows : number;
    for (int j = 0; j < columns; ++j) {
      taken(row < 0 ? 0 : row < rows ? row : rows - 1, j) += U(k, j);
      if (number >= 0 && number < 7) segments(number, j) += U(k, j);
      if (row < 0 || row >= rows) continue;
      added(row, j) += U(k, j);
      replaced(row, j) = U(k, j);
    }
    if (row >= 0 && row < rows) writer[static_cast<std::size_t>(row)] = k;
  }
  for (int row = 0; row < rows; ++row)
    for (int j = 0; j < columns && writer[static_cast<std::size_t>(row)] >= 0; ++j)
      last(writer[static_cast<std::size_t>(row)], j) = X(row, j);
  for (const int threads : {1, 2, 5}) {
    INFO(threads << " threads, " << count << " x " << columns << " into " << rows);
    session sess{{.cpu_threads = threads}};
    const auto run = [&](const auto& e) { return sess.run(e, table = X, n = N, updates = U); };
    CHECK(run(scatter_add(table, n, updates)) == added);
    CHECK(run(scatter(table, n, updates)) == replaced);
    CHECK(run(scatter_add(transpose(transpose(table)), n, flip<0>(flip<0>(updates)))) == added);
    CHECK(run(segment_sum<7>(updates, n)) == segments);
    CHECK(run(gradient(sum(take<0>(table, n) * updates), table)) == taken);
    CHECK(run(gradient(sum(take<1>(transpose(table), n) * transpose(updates)), table)) == taken);
    CHECK(run(gradient(sum(take_along_axis<0>(table, expand_dims<1>(n)) * updates), table)) == taken);
    CHECK(run(gradient(sum(take_along_axis<1>(transpose(table), expand_dims<0>(n)) * transpose(updates)), table)) ==
          taken);
    CHECK(run(gradient(sum(take_along_axis<-1>(expand_dims<0>(transpose(table)), reshape<1, 1, dyn>(n)) *
                           expand_dims<0>(transpose(updates))),
                       table)) == taken);
    CHECK(run(gradient(sum(take<0>(table, reshape<1, dyn>(n)) * expand_dims<0>(updates)), table)) == taken);
    CHECK(run(gradient(sum(scatter(table, n, updates) * table), updates)) == last);
  }
}

}  // namespace

TEST_CASE("taking and adding at indices is the same for any number of threads", "[session][threads]") {
  session one{{.cpu_threads = 1}}, several{{.cpu_threads = 6}};
  tensor<float, dyn, dyn> X({300, 70});
  for (std::size_t k = 0; k < X.size(); ++k) X.data()[k] = static_cast<float>(k % 31) * 0.1f;
  tensor<int, dyn> N({300});
  for (int k = 0; k < 300; ++k) N(k) = k * 7 % 40;
  const auto same = [&](const auto& e) { return one.run(e, m = X, i = N) == several.run(e, m = X, i = N); };
  CHECK(same(segment_sum<40>(m, i)));
  CHECK(same(take<0>(m, i)));
  CHECK(same(take<1>(m, i)));
}

TEST_CASE("updates by number are what loops make of them, for any number of threads", "[session][threads]") {
  check_updates<float, int>(500, 3000, 16);  // each thread has rows
  check_updates<double, int>(5, 600, 70);    // or columns
  check_updates<float, int>(3000, 40, 600);  // few rows have updates
  check_updates<double, int>(400, 30, 3);
  check_updates<float, std::int8_t>(20, 20000, 1);  // elements: in parts
  check_updates<double, int>(9, 150001, 1);
  check_updates<double, int>(3000, 5000, 1);  // and in their order
}

TEST_CASE("a long sort is the same for any number of threads", "[session][threads]") {
  session one{{.cpu_threads = 1}}, many{{.cpu_threads = 7}};
  tensor<float, dyn> t({200000});
  std::uint32_t k = 1;
  for (float& v : t) v = static_cast<float>(static_cast<int>((k = k * 1664525u + 1013904223u) >> 8) % 81 - 40);
  CHECK(one.run(sort(line), line = t) == many.run(sort(line), line = t));
  CHECK(one.run(argsort(line, descending), line = t) == many.run(argsort(line, descending), line = t));
}

TEST_CASE("a long scan is the same for any number of threads", "[session][threads]") {
  tensor<float, dyn> in({200000});
  for (int k = 0; k < 200000; ++k) in(k) = static_cast<float>(k % 17) * 0.1f;
  session one{{.cpu_threads = 1}}, many{{.cpu_threads = 8}};
  CHECK(one.run(cumsum(line, reverse), line = in) == many.run(cumsum(line, reverse), line = in));
}
