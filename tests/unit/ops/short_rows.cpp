// SPDX-License-Identifier: BSL-1.0
// Reductions of rows that are shorter than a few packs, which are folded many rows at a time, beside plain loops: every
// length about where the ways part, bare and of a fused program, on one thread and on several. And truth values as
// numbers.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr int many = 1500;  // rows: more than one piece of the values that are made together

template <class T>
tensor<T, dyn, dyn> some_rows(int length, bool not_finite) {
  tensor<T, dyn, dyn> x({many, length});
  for (int r = 0; r < many; ++r)
    for (int k = 0; k < length; ++k) {
      x(r, k) = static_cast<T>((r * 31 + k * 17) % 23 - 11);
      if (not_finite && r % 7 == 3 && k == r % length) x(r, k) = std::numeric_limits<T>::quiet_NaN();
      if (not_finite && r % 7 == 5) x(r, k) = -std::numeric_limits<T>::infinity();  // all of them are the first
    }
  return x;
}

/// The same numbers, each row as a column.
template <class T>
tensor<T, dyn, dyn> as_columns(const tensor<T, dyn, dyn>& x) {
  return evaluate(transpose(x));
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

/// Whether `got` is what `expected(x, r)` says of each row.
template <class Got, class T, class F>
void check_rows(const Got& got, const tensor<T, dyn, dyn>& x, F expected) {
  REQUIRE(got.shape()[0] == many);
  int wrong = 0;
  for (int r = 0; r < many; ++r) wrong += same(got(r), expected(r)) ? 0 : 1;
  CAPTURE(x.shape()[1]);
  CHECK(wrong == 0);
}

/// Places of extremes of integers: wholes of a row, and parts that a thread has of it.
template <class T>
void check_places(int threads) {
  session sess({.cpu_threads = threads});
  const auto a = placeholder<"a", T, dyn, dyn>;
  auto places = sess.prepare(fetches(argmax<1>(a), argmin<1>(a), argmax<1>(a + a)));
  auto down = sess.prepare(fetches(argmax<0>(a), argmin<0>(a), argmax<0>(a + a)));
  for (const int length : {1, 2, 3, 4, 5, 7, 12, 24, 25, 31, 32, 33, 64}) {
    const tensor<T, dyn, dyn> x = some_rows<T>(length, false);
    const auto place = [&](int r, bool greatest) {
      int at = 0;
      for (int k = 1; k < length; ++k)
        if (greatest ? x(r, k) > x(r, at) : x(r, k) < x(r, at)) at = k;
      return at;
    };
    const auto [greatest, least, of_doubles] = places(a = x);
    check_rows(greatest, x, [&](int r) { return static_cast<std::int64_t>(place(r, true)); });
    check_rows(least, x, [&](int r) { return static_cast<std::int64_t>(place(r, false)); });
    check_rows(of_doubles, x, [&](int r) { return static_cast<std::int64_t>(place(r, true)); });
    const auto [greatest_below, least_below, of_doubles_below] = down(a = as_columns(x));
    CHECK(greatest_below == greatest);
    CHECK(least_below == least);
    CHECK(of_doubles_below == of_doubles);
  }
}

template <class T>
void check(int threads) {
  session sess({.cpu_threads = threads});
  const auto a = placeholder<"a", T, dyn, dyn>;
  auto sums = sess.prepare(fetches(sum<1>(a), sum<1>(a * a), mean<1>(a)));
  auto extremes = sess.prepare(fetches(max<1>(a), min<1>(a + a)));
  auto places = sess.prepare(fetches(argmax<1>(a), argmin<1>(-a)));
  auto down = sess.prepare(fetches(argmax<0>(a), argmin<0>(-a)));
  for (const int length : {1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257}) {
    const tensor<T, dyn, dyn> x = some_rows<T>(length, false);
    const auto row_sum = [&](int r, auto of) {
      double total = 0;
      for (int k = 0; k < length; ++k) total += of(static_cast<double>(x(r, k)));
      return total;
    };
    const auto plain = [](double v) { return v; };
    const auto square = [](double v) { return v * v; };
    const auto [sum_of, squares, means] = sums(a = x);
    check_rows(sum_of, x, [&](int r) { return static_cast<T>(row_sum(r, plain)); });
    check_rows(squares, x, [&](int r) { return static_cast<T>(row_sum(r, square)); });
    check_rows(means, x, [&](int r) { return static_cast<T>(row_sum(r, plain) / length); });

    const tensor<T, dyn, dyn> y = some_rows<T>(length, true);
    const auto extreme = [&](int r, bool greatest) {
      T best = y(r, 0);
      for (int k = 1; k < length; ++k)
        if (best == best && (y(r, k) != y(r, k) || (greatest ? y(r, k) > best : y(r, k) < best))) best = y(r, k);
      return best;
    };
    const auto place = [&](int r) {
      const T best = extreme(r, true);
      int k = 0;
      while (!same(y(r, k), best)) ++k;
      return k;
    };
    const auto [greatest, least] = extremes(a = y);
    check_rows(greatest, y, [&](int r) { return extreme(r, true); });
    check_rows(least, y, [&](int r) { return static_cast<T>(2 * extreme(r, false)); });
    const auto [first, first_of_negated] = places(a = y);
    using index = std::decay_t<decltype(first(0))>;
    check_rows(first, y, [&](int r) { return static_cast<index>(place(r)); });
    check_rows(first_of_negated, y, [&](int r) { return static_cast<index>(place(r)); });
    const auto [first_below, first_below_of_negated] = down(a = as_columns(y));
    CHECK(first_below == first);
    CHECK(first_below_of_negated == first);
  }
}

TEST_CASE("short rows of floats on one thread", "[reduce]") { check<float>(1); }
TEST_CASE("short rows of floats on threads", "[reduce]") { check<float>(3); }
TEST_CASE("short rows of doubles", "[reduce]") { check<double>(1); }
TEST_CASE("places of extremes of short rows of integers", "[reduce]") {
  check_places<std::int8_t>(1);
  check_places<std::int32_t>(1);
  check_places<std::int64_t>(3);
}

TEST_CASE("truth values are 0 and 1 as numbers of every kind", "[cast]") {
  constexpr int count = 1003;
  constexpr auto m = placeholder<"m", bool, count>;
  tensor<bool, count> truth;
  for (int k = 0; k < count; ++k) truth(k) = k % 3 == 1;
  const auto [f, d, i, b] =
      session().run(fetches(cast<float>(m), cast<double>(m), cast<int>(m), cast<unsigned char>(m)), m = truth);
  int wrong = 0;
  for (int k = 0; k < count; ++k) {
    const int expected = k % 3 == 1 ? 1 : 0;
    wrong += f(k) == static_cast<float>(expected) && d(k) == expected && i(k) == expected && b(k) == expected ? 0 : 1;
  }
  CHECK(wrong == 0);
}

}  // namespace
