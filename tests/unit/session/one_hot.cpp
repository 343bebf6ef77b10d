// SPDX-License-Identifier: BSL-1.0
// Numbers as rows with a single 1: of every type and length of row, alone, beside others, and folded.
#include <onto/onto.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

/// Numbers in rows of `N` and outside, as far as the type goes, and some that have the same lower bits.
template <class I, int N>
std::vector<I> numbers(int count) {
  std::vector<I> r;
  for (int k = 0; k < count; ++k) {
    const int near = (k * 7919) % (N + 3) - 1;
    switch (k % 11) {
      case 3: r.push_back(std::numeric_limits<I>::min()); break;
      case 5: r.push_back(std::numeric_limits<I>::max()); break;
      case 7: r.push_back(static_cast<I>(0x100000000LL + near)); break;
      case 9: r.push_back(static_cast<I>(256 + near)); break;
      default: r.push_back(static_cast<I>(near));
    }
  }
  return r;
}

/// Whether the number names this column: as wide as numbers get, and by sign.
template <class I>
bool names(I number, int column) {
  return number >= 0 && static_cast<std::uint64_t>(number) == static_cast<std::uint64_t>(column);
}

template <int N, class T, class I>
bool is_one_hot(const tensor<T, dyn, N>& r, const std::vector<I>& n) {
  bool same = r.shape()[0] == static_cast<int>(n.size());
  for (int k = 0; k < static_cast<int>(n.size()) && same; ++k)
    for (int j = 0; j < N; ++j) same = same && r(k, j) == T(names(n[static_cast<std::size_t>(k)], j) ? 1 : 0);
  return same;
}

template <class I, int N, class T = float>
void check(session& sess) {
  static constexpr auto n = placeholder<"n", I, dyn>;
  static constexpr auto step = one_hot<N, T>(n);
  for (int count : {1, 2, 5, 37, 1000}) {
    CAPTURE(N, count, element_of<I>, element_of<T>);
    const auto v = numbers<I, N>(count);
    CHECK(is_one_hot<N>(tensor<T, dyn, N>(sess.run(step, n = v)), v));
  }
}

}  // namespace

TEST_CASE("numbers of all types are rows", "[session]") {
  session sess;
  check<std::int8_t, 100>(sess);
  check<std::int16_t, 100>(sess);
  check<std::int32_t, 100>(sess);
  check<std::int64_t, 100>(sess);
  check<std::uint8_t, 100>(sess);
  check<std::uint16_t, 100>(sess);
  check<std::uint32_t, 100>(sess);
  check<std::uint64_t, 100>(sess);
}

TEST_CASE("a row may have more columns than its number's type has numbers", "[session]") {
  session sess;
  check<std::int8_t, 300>(sess);
  check<std::uint8_t, 300>(sess);
  check<std::uint8_t, 300, double>(sess);
}

TEST_CASE("rows of any length are shorter and longer than packs and blocks", "[session]") {
  session sess;
  check<int, 1>(sess);
  check<int, 2>(sess);
  check<int, 5>(sess);
  check<int, 15>(sess);
  check<int, 16>(sess);
  check<int, 17>(sess);
  check<int, 63, double>(sess);
  check<int, 64, double>(sess);
  check<int, 65, double>(sess);
  check<int, 5, double>(sess);
}

TEST_CASE("rows are of any element type", "[session]") {
  session sess;
  check<int, 100, double>(sess);
  check<int, 100, half>(sess);
  check<int, 100, int>(sess);
  check<int, 100, bool>(sess);
  check<std::int64_t, 100, std::uint8_t>(sess);
}

TEST_CASE("rows are chosen by, and multiplied", "[session]") {
  session sess;
  static constexpr auto n = placeholder<"n", int, dyn>;
  static constexpr auto x = placeholder<"x", float, dyn, 37>;
  for (int count : {1, 5, 300}) {
    const auto v = numbers<int, 37>(count);
    tensor<float, dyn, 37> values({count, 37});
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < 37; ++j) values(k, j) = static_cast<float>((k * 37 + j) % 29);
    const tensor<float, dyn, 37> chosen = sess.run(where(one_hot<37, bool>(n), x, -1.0f), n = v, x = values);
    const tensor<float, dyn> of_rows = sess.run(sum<1>(one_hot<37>(n) * x), n = v, x = values);
    const tensor<float, 37> of_columns = sess.run(sum<0>(one_hot<37>(n) * x), n = v, x = values);
    const float of_all = sess.run(sum(one_hot<37>(n) * x), n = v, x = values);
    float all = 0;
    std::vector<float> columns(37);
    bool same = true;
    for (int k = 0; k < count; ++k) {
      float row = 0;
      for (int j = 0; j < 37; ++j) {
        const bool named = names(v[static_cast<std::size_t>(k)], j);
        same = same && chosen(k, j) == (named ? values(k, j) : -1.0f);
        if (named) row += values(k, j), columns[static_cast<std::size_t>(j)] += values(k, j);
      }
      same = same && of_rows(k) == row;
      all += row;
    }
    for (int j = 0; j < 37; ++j) same = same && of_columns(j) == columns[static_cast<std::size_t>(j)];
    CAPTURE(count);
    CHECK(same);
    CHECK(of_all == all);
  }
}

TEST_CASE("rows are folded where they are made", "[session]") {
  static constexpr auto n = placeholder<"n", int, 40, 50>;
  static_assert(plan_of(sum<0>(one_hot<10>(n))).kernels == 1);
  session sess;
  tensor<int, 40, 50> v;
  for (int k = 0; k < 40; ++k)
    for (int j = 0; j < 50; ++j) v(k, j) = (k * 50 + j) * 13 % 12 - 1;
  const auto [first, middle, last, place, most] =
      sess.run(fetches(sum<0>(one_hot<10>(n)), sum<1>(one_hot<10>(n)), sum<2>(one_hot<10, double>(n)),
                       argmax<2>(one_hot<10, int>(n)), max<0, 2>(one_hot<10>(n))),
               n = v);
  bool same = true;
  for (int k = 0; k < 40; ++k)
    for (int j = 0; j < 50; ++j) {
      const bool inside = v(k, j) >= 0 && v(k, j) < 10;
      same = same && last(k, j) == (inside ? 1.0 : 0.0) && place(k, j) == (inside ? v(k, j) : 0);
    }
  for (int c = 0; c < 10; ++c) {
    for (int j = 0; j < 50; ++j) {
      float count = 0;
      for (int k = 0; k < 40; ++k) count += v(k, j) == c ? 1.0f : 0.0f;
      same = same && first(j, c) == count;
    }
    for (int k = 0; k < 40; ++k) {
      float count = 0;
      for (int j = 0; j < 50; ++j) count += v(k, j) == c ? 1.0f : 0.0f;
      same = same && middle(k, c) == count;
    }
  }
  for (int j = 0; j < 50; ++j) {
    float any = 0;
    for (int k = 0; k < 40; ++k) any = v(k, j) >= 0 && v(k, j) < 10 ? 1.0f : any;
    same = same && most(j) == any;
  }
  CHECK(same);
}
