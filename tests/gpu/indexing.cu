// SPDX-License-Identifier: BSL-1.0
// Operations that go by numbers of elements, on the GPU: what the CPU computes, of every kind of element, with numbers
// outside, of views, in sessions and prepared.
#include <onto/indexing.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "catch.hpp"
#include "gpu.hpp"

using namespace onto;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn>;
template <class T>
inline constexpr auto u = placeholder<"u", T, dyn, dyn>;
template <class I>
inline constexpr auto i = placeholder<"i", I, dyn>;
inline constexpr auto at = placeholder<"at", std::int64_t, 2>;

template <class T>
tensor<T, dyn, dyn> numbers(int rows, int columns, std::size_t n) {
  tensor<T, dyn, dyn> t({rows, columns});
  for (T& v : t) v = static_cast<T>(gpu_test::number(n++) * (std::is_integral_v<T> ? 50 : 1.25));
  return t;
}

/// The same bits: each element of the result is computed alike.
template <class Expression, class... Feeds>
bool same_on_gpu(session& sess, const Expression& e, const Feeds&... feeds) {
  return sess.run(on<gpu<0>>(e), feeds...) == sess.run(on<cpu<0>>(e), feeds...);
}

template <class T, class I>
void check_numbers(session& sess, int rows, int columns) {
  const auto X = numbers<T>(rows, columns, 3), U = numbers<T>(9, columns, 70);
  tensor<I, 9> N{0, 2, 1, 2, 7, 90, 1, 0, 2};
  if (std::is_signed_v<I>) N(4) = static_cast<I>(-1);
  if (std::is_signed_v<I>) N(6) = static_cast<I>(-90);
  INFO(name_of(element_of<T>) << " by " << name_of(element_of<I>) << " (" << rows << ", " << columns << ")");
  CHECK(same_on_gpu(sess, take<0>(x<T>, i<I>), x<T> = X, i<I> = N));
  CHECK(same_on_gpu(sess, take<1>(x<T>, reshape<3, 3>(i<I>)), x<T> = X, i<I> = N));
  CHECK(same_on_gpu(sess, take<0>(transpose(x<T>), flip(i<I>)), x<T> = X, i<I> = N));
  CHECK(same_on_gpu(sess, take_along_axis<0>(x<T>, expand_dims<1>(i<I>)), x<T> = X, i<I> = N));
  CHECK(same_on_gpu(sess, scatter(x<T>, i<I>, u<T>), x<T> = X, i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, scatter_add(x<T>, i<I>, u<T>), x<T> = X, i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, scatter_add(flip(x<T>), i<I>, flip<1>(u<T>)), x<T> = X, i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, segment_sum<3>(u<T>, i<I>), i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, segment_max<3>(u<T>, i<I>), i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, bincount<8>(i<I>), i<I> = N));
  CHECK(same_on_gpu(sess, searchsorted(reshape<dyn>(slice<0, 1>(x<T>)), u<T>), x<T> = X, u<T> = U));
  CHECK(same_on_gpu(sess, dynamic_slice<1, 2>(x<T>, at), x<T> = X, at = tensor<std::int64_t, 2>{rows, -3}));
  CHECK(same_on_gpu(sess, update_slice(x<T>, slice<range<0, 1>, range<0, 2>>(u<T>), at), x<T> = X, u<T> = U,
                    at = tensor<std::int64_t, 2>{-1, 1}));
}

}  // namespace

TEST_CASE("rows are taken whole, in words of any width", "[gpu]") {
  session sess;
  const auto check = [&](auto type, int rows, int columns) {
    using T = decltype(type);
    constexpr auto cube = placeholder<"cube", T, dyn, dyn, dyn>;
    tensor<T, dyn, dyn, dyn> C({3, rows, columns});
    std::size_t n = 5;
    for (T& v : C) v = static_cast<T>(gpu_test::number(n++) * 50);
    const auto X = numbers<T>(rows, columns, 3);
    const tensor<std::int16_t, 9> N{0, 2, -1, 2, 7, 90, 1, -90, 2};
    constexpr auto some = i<std::int16_t>;
    INFO(name_of(element_of<T>) << " (" << rows << ", " << columns << ")");
    CHECK(same_on_gpu(sess, take<0>(x<T>, some), x<T> = X, some = N));
    CHECK(same_on_gpu(sess, take<0>(x<T>, slice<range<0, to_end, 2>>(some)), x<T> = X, some = N));
    CHECK(same_on_gpu(sess, take<1>(x<T>, some), x<T> = X, some = N));
    CHECK(same_on_gpu(sess, take<1>(cube, reshape<3, 3>(some)), cube = C, some = N));
    CHECK(same_on_gpu(sess, take<0>(cube, some), cube = C, some = N));
    CHECK(same_on_gpu(sess, take<2>(cube, some), cube = C, some = N));
    // Rows that lie further apart, or begin where no word of 16 bytes does, or are turned.
    CHECK(same_on_gpu(sess, take<0>(slice<range<0, to_end, 2>>(x<T>), some), x<T> = X, some = N));
    CHECK(same_on_gpu(sess, take<0>(slice<range<>, range<1>>(x<T>), some), x<T> = X, some = N));
    CHECK(same_on_gpu(sess, take<1>(permute<1, 0, 2>(cube), some), cube = C, some = N));
    CHECK(same_on_gpu(sess, take<0>(transpose(x<T>), some), x<T> = X, some = N));
    CHECK(same_on_gpu(sess, take_along_axis<1>(cube, reshape<3, 3, 1>(some)), cube = C, some = N));
  };
  for (const int columns : {1, 3, 8, 33}) check(0.f, 7, columns);
  check(0.0, 7, 4);
  check(onto::half(), 5, 8);
  check(onto::half(), 5, 9);
  check(std::int8_t(), 5, 16);
  check(true, 5, 17);
}

TEST_CASE("operations by number agree with the CPU's", "[gpu]") {
  session sess;
  check_numbers<float, std::int32_t>(sess, 5, 7);
  check_numbers<double, std::int64_t>(sess, 3, 40);
  check_numbers<onto::half, std::uint8_t>(sess, 1, 6);
  check_numbers<std::int16_t, std::int16_t>(sess, 4, 3);
  check_numbers<std::uint64_t, std::uint64_t>(sess, 4, 3);
}

TEST_CASE("many numbers are sorted into groups, in which their order stays", "[gpu][indexing]") {
  session sess;
  for (const auto& [rows, count, columns] :
       {std::array{40, 65, 3}, {4000, 700, 40}, {5, 900, 1}, {1, 70, 2}, {300, 100, 0}}) {
    tensor<float, dyn, dyn> X = numbers<float>(rows, columns, 3), U = numbers<float>(count, columns, 70);
    for (float& v : U) v = std::round(16 * v);  // sums of these are the same in any order
    tensor<int, dyn> N({count});
    for (int k = 0; k < count; ++k)
      N(k) = static_cast<int>(gpu_test::number(static_cast<std::size_t>(k) + 9) * 1.1 * rows);
    INFO(rows << " rows, " << count << " numbers, " << columns << " columns");
    CHECK(same_on_gpu(sess, scatter(x<float>, i<int>, u<float>), x<float> = X, i<int> = N, u<float> = U));
    CHECK(same_on_gpu(sess, scatter_add(x<float>, i<int>, u<float>), x<float> = X, i<int> = N, u<float> = U));
    CHECK(same_on_gpu(sess, scatter_add(flip(x<float>), flip(i<int>), flip<1>(u<float>)), x<float> = X, i<int> = N,
                      u<float> = U));
    CHECK(same_on_gpu(sess, segment_sum<3>(u<float>, i<int>), i<int> = N, u<float> = U));
    CHECK(same_on_gpu(sess, segment_sum<5000>(u<float>, i<int>), i<int> = N, u<float> = U));
    CHECK(same_on_gpu(sess, segment_min<5000>(u<float>, i<int>), i<int> = N, u<float> = U));
    CHECK(same_on_gpu(sess, bincount<8>(i<int>), i<int> = N));
  }
}

namespace {

/// How numbers are spread over groups.
enum class spread { evenly, one, mostly_one, outside };

tensor<int, dyn> spread_numbers(int rows, int count, spread how) {
  tensor<int, dyn> n({count});
  for (int k = 0; k < count; ++k) {
    const int any = static_cast<int>(gpu_test::number(static_cast<std::size_t>(k) + 9) * 1.1 * rows);
    const int alone = rows / 2;
    n(k) = how == spread::one || (how == spread::mostly_one && k % 3 != 0) ? alone
           : how == spread::outside                                        ? rows + 1 + k % 2
                                                                           : any;
  }
  return n;
}

/// Numbers of which no order of their sums can be told from another.
template <class T>
tensor<T, dyn, dyn> whole_numbers(int rows, int columns) {
  auto t = numbers<float>(rows, columns, 70);
  tensor<T, dyn, dyn> whole({rows, columns});
  for (std::size_t k = 0; k < t.size(); ++k) whole.data()[k] = static_cast<T>(std::round(16 * t.data()[k]));
  return whole;
}

template <class T, int Rows>
void check_groups(session& sess, int count, int columns, spread how) {
  const auto X = whole_numbers<T>(Rows, columns), U = whole_numbers<T>(count, columns);
  const auto N = spread_numbers(Rows, count, how);
  INFO(name_of(element_of<T>) << ", " << Rows << " rows, " << count << " numbers, " << columns << " columns, "
                              << static_cast<int>(how));
  CHECK(same_on_gpu(sess, segment_sum<Rows>(u<T>, i<int>), i<int> = N, u<T> = U));
  CHECK(same_on_gpu(sess, scatter_add(flip<1>(x<T>), i<int>, flip(u<T>)), x<T> = X, i<int> = N, u<T> = U));
}

}  // namespace

TEST_CASE("sums of groups of any lengths, in rows of any width, agree with the CPU's", "[gpu][indexing]") {
  session sess;
  // Threads with sums of their own for few groups, of columns in one tile and in several. Threads along rows, alone and
  // several on an element; along groups, one, a warp and a block on an element; with pieces of groups that are summed
  // up first, and without.
  for (const spread how : {spread::evenly, spread::one, spread::mostly_one, spread::outside}) {
    check_groups<float, 4>(sess, 300, 31, how);
    check_groups<double, 22>(sess, 200, 3, how);
    check_groups<onto::half, 5>(sess, 70, 140, how);
    check_groups<float, 46>(sess, 300, 31, how);
    check_groups<float, 200>(sess, 200, 33, how);
    check_groups<onto::half, 60>(sess, 70, 9, how);
    check_groups<double, 1000>(sess, 150, 1, how);
  }
  for (const spread how : {spread::evenly, spread::mostly_one}) {
    check_groups<float, 45>(sess, 5000, 1, how);
    check_groups<double, 23>(sess, 300, 32, how);
    check_groups<float, 64>(sess, 2000, 1, how);
    check_groups<float, 50>(sess, 1100, 3, how);
  }
  check_groups<float, 300>(sess, 300, 256, spread::evenly);
  check_groups<bfloat16, 1>(sess, 600, 20, spread::one);
}

TEST_CASE("sums of groups of rows of several axes agree with the CPU's", "[gpu][indexing]") {
  session sess;
  constexpr int count = 400;
  constexpr auto v = placeholder<"v", float, dyn, 3, 12>;
  tensor<float, dyn, 3, 12> V({count, 3, 12});
  std::size_t n = 5;
  for (float& x : V) x = std::round(16 * static_cast<float>(gpu_test::number(n++)));
  const auto check = [&](auto rows) {
    constexpr int all = decltype(rows)::value;
    const auto N = spread_numbers(all, count, spread::mostly_one);
    CHECK(same_on_gpu(sess, segment_sum<all>(v, i<int>), v = V, i<int> = N));
    CHECK(same_on_gpu(sess, segment_sum<all>(permute<0, 2, 1>(v), i<int>), v = V, i<int> = N));
    CHECK(same_on_gpu(sess, segment_sum<all>(slice<range<>, range<>, range<0, 12, 5>>(v), i<int>), v = V, i<int> = N));
    CHECK(same_on_gpu(sess, segment_sum<all>(slice<range<>, range<>, range<3, 4>>(v), i<int>), v = V, i<int> = N));
  };
  check(std::integral_constant<int, 6>{});
  check(std::integral_constant<int, 60>{});
}

TEST_CASE("gradients of reads of long groups agree with the CPU's", "[gpu][indexing][gradient]") {
  session sess;
  const auto same = [&](const auto& taken, const auto& X, const auto& N) {
    return same_on_gpu(sess, gradient(sum(floor(taken) * taken), x<float>), x<float> = X, i<int> = N);
  };
  for (const int rows : {9, 60})
    for (const spread how : {spread::evenly, spread::mostly_one}) {
      INFO(rows << " rows, " << static_cast<int>(how));
      const auto N = spread_numbers(rows, 400, how);
      const auto X = whole_numbers<float>(rows, 33), wide = whole_numbers<float>(33, rows);
      CHECK(same(take<0>(x<float>, i<int>), X, N));
      CHECK(same(embedding(x<float>, reshape<20, 20>(i<int>)), X, N));
      CHECK(same(embedding(x<float>, transpose(reshape<20, 20>(i<int>))), X, N));
      CHECK(same(transpose(take<0>(x<float>, i<int>)), X, N));
      CHECK(same(take<1>(x<float>, i<int>), wide, N));
      CHECK(same(take<1>(x<float>, reshape<20, 20>(i<int>)), wide, N));
      CHECK(same(take_along_axis<0>(x<float>, expand_dims<1>(i<int>)), whole_numbers<float>(rows, 5), N));
    }
}

namespace {

/// Numbers of all sizes, so that sums go over 32 bits, and over 64.
template <class T>
tensor<T, dyn, dyn> large_numbers(int rows, int columns) {
  tensor<T, dyn, dyn> t({rows, columns});
  std::uint64_t n = 1;
  for (T& v : t) {
    n = n * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<T>(n >> (n >> 58));
  }
  return t;
}

template <class T, int Rows, class I = int>
void check_integers(session& sess, int count, int columns, spread how) {
  const auto X = large_numbers<T>(Rows, columns), U = large_numbers<T>(count, columns);
  const auto places = spread_numbers(Rows, count, how);
  tensor<I, dyn> N({count});
  for (int k = 0; k < count; ++k) N(k) = static_cast<I>(places(k));
  INFO(name_of(element_of<T>) << ", " << Rows << " rows, " << count << " numbers, " << columns << " columns, "
                              << static_cast<int>(how));
  CHECK(same_on_gpu(sess, segment_sum<Rows>(u<T>, i<I>), i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, segment_sum<Rows>(flip<1>(u<T>), flip(i<I>)), i<I> = N, u<T> = U));
  CHECK(same_on_gpu(sess, scatter_add(flip(x<T>), i<I>, u<T>), x<T> = X, i<I> = N, u<T> = U));
}

}  // namespace

TEST_CASE("integers are added up in any order, and without a workspace", "[gpu][indexing]") {
  session sess;
  // In a block's counters, with several of each and one; in the result itself; by threads that stay in a column, of
  // fewer columns than threads, and of more.
  for (const spread how : {spread::evenly, spread::one, spread::mostly_one, spread::outside}) {
    check_integers<std::int64_t, 16>(sess, 3000, 1, how);
    check_integers<std::int32_t, 40>(sess, 500, 33, how);
    check_integers<std::uint64_t, 3000, std::int64_t>(sess, 5000, 1, how);
    check_integers<std::uint32_t, 5000>(sess, 9000, 1, how);
    check_integers<std::int64_t, 300, std::uint16_t>(sess, 400, 31, how);
  }
  check_integers<std::int64_t, 4097>(sess, 3, 1, spread::evenly);
  check_integers<std::int32_t, 2>(sess, 2, 3000, spread::evenly);
  check_integers<std::uint64_t, 1>(sess, 70, 256, spread::one);
  const auto N = spread_numbers(1024, 6000, spread::evenly);
  CHECK(same_on_gpu(sess, bincount<1024>(i<int>), i<int> = N));
  CHECK(same_on_gpu(sess, bincount<5000>(i<int>), i<int> = N));
  CHECK(same_on_gpu(sess, bincount<64>(i<int> - 32_c), i<int> = N));
  CHECK(same_on_gpu(sess, bincount<64>(i<int>), i<int> = tensor<int, dyn>({0})));
  CHECK(same_on_gpu(sess, histogram<64>(x<float>, -1, 1), x<float> = numbers<float>(60, 50, 1)));
  CHECK(sess.memory(gpu<0>{}).workspace == 0);
}

TEST_CASE("narrow integers are added up in their groups", "[gpu][indexing]") {
  session sess;
  check_integers<std::int8_t, 5>(sess, 700, 3, spread::mostly_one);
  check_integers<std::uint16_t, 40>(sess, 300, 33, spread::evenly);
}

TEST_CASE("sums of long groups are as exact as the CPU's", "[gpu][indexing]") {
  session sess;
  constexpr int count = 5000;
  const auto D = numbers<double>(count, 3, 5);
  tensor<int, dyn> N({count});
  for (int k = 0; k < count; ++k) N(k) = static_cast<int>(gpu_test::number(static_cast<std::size_t>(k)) * 4);
  const auto check = [&](auto segments) {
    constexpr int all = decltype(segments)::value;
    const auto sums = segment_sum<all>(u<double>, i<int>);
    const auto got = sess.run(on<gpu<0>>(sums), u<double> = D, i<int> = N);
    const auto here = sess.run(on<cpu<0>>(sums), u<double> = D, i<int> = N);
    for (int s = 0; s < all; ++s)
      for (int c = 0; c < 3; ++c) CHECK(std::abs(got(s, c) - here(s, c)) <= 1e-15 * count * std::abs(here(s, c)));
    CHECK(got == sess.run(on<gpu<0>>(sums), u<double> = D, i<int> = N));
  };
  check(std::integral_constant<int, 4>{});
  check(std::integral_constant<int, 40>{});
}

TEST_CASE("gradients of many elements by number agree with the CPU's", "[gpu][indexing][gradient]") {
  session sess;
  const auto X = numbers<float>(50, 12, 3), U = numbers<float>(90, 12, 8);
  tensor<int, dyn> N({90});
  for (int k = 0; k < 90; ++k) N(k) = static_cast<int>(gpu_test::number(static_cast<std::size_t>(k) + 2) * 55);
  const auto same = [&](const auto& loss) {
    return same_on_gpu(sess, gradient(loss, x<float>), x<float> = X, i<int> = N, u<float> = U);
  };
  // Whole numbers, so that no order of their sums can be told from another.
  const auto weighted = [](const auto& e) { return sum(floor(e) * e); };
  CHECK(same(weighted(take<0>(x<float>, i<int>)) + 0.f * sum(u<float>)));
  CHECK(same(weighted(take<0>(x<float>, reshape<9, 10>(i<int>))) + 0.f * sum(u<float>)));
  CHECK(same(weighted(take<1>(x<float>, i<int>)) + 0.f * sum(u<float>)));
  CHECK(same(weighted(take<1>(x<float>, reshape<9, 10>(flip(i<int>)))) + 0.f * sum(u<float>)));
  CHECK(same(weighted(take_along_axis<0>(x<float>, expand_dims<1>(i<int>))) + 0.f * sum(u<float>)));
  CHECK(same(weighted(take_along_axis<1>(x<float>, expand_dims<0>(i<int>))) + 0.f * sum(u<float>)));
  CHECK(same(weighted(scatter(x<float>, i<int>, u<float>))));
  const auto of_updates = [&](const auto& loss) {
    return same_on_gpu(sess, gradient(loss, u<float>), x<float> = X, i<int> = N, u<float> = U);
  };
  CHECK(of_updates(weighted(scatter(x<float>, i<int>, u<float>))));
  CHECK(of_updates(weighted(scatter_add(x<float>, i<int>, u<float>))));
  // Into no rows nothing is put.
  const tensor<float, dyn, dyn> none({0, 12});
  CHECK(same_on_gpu(sess, gradient(weighted(scatter(x<float>, i<int>, u<float>)), u<float>), x<float> = none,
                    i<int> = N, u<float> = U));
}

TEST_CASE("an extent and a histogram agree with the CPU's", "[gpu]") {
  session sess;
  const auto X = numbers<float>(30, 50, 1);
  CHECK(same_on_gpu(sess, extent<0>(x<float>) * 2, x<float> = X));
  CHECK(same_on_gpu(sess, histogram<10>(x<float>, -1, 1), x<float> = X));
}

TEST_CASE("a prepared operation by number runs again and again", "[gpu]") {
  session sess;
  auto step = sess.prepare(on<gpu<0>>(take<0>(x<float> * 2.f, i<int>) + 1.f));
  for (int round = 0; round < 5; ++round) {
    tensor<float, dyn, dyn> X({3, 2});
    for (int k = 0; k < 6; ++k) X.data()[k] = static_cast<float>(k + round);
    const auto got = step(x<float> = X, i<int> = tensor<int, 2>{2, -3});
    CHECK(got(0, 1) == static_cast<float>(2 * (5 + round) + 1));
    CHECK(got(1, 0) == static_cast<float>(2 * round + 1));
  }
}

TEST_CASE("what is written by number is a variable's new value", "[gpu][indexing]") {
  session gpus({.allow_soft_placement = false}), host;
  const auto k = placeholder<"k", int>;
  const auto made = [&](auto where) {
    const auto w = on<decltype(where)>(variable<"w", float, 5, 3>(zeros<float, 5, 3>()));
    const auto row = constant({{1.0f, 2.0f, 3.0f}});
    return std::tuple(w, assign(w, on<decltype(where)>(update_slice(w, row, stack(k, 0)))),
                      assign(w, on<decltype(where)>(scatter_add(w, stack(k, k), concat<0>(row, row)))));
  };
  const auto [w, put, added] = made(gpu<0>{});
  const auto [v, put_there, added_there] = made(cpu<0>{});
  gpus.run(initialize(w));
  host.run(initialize(v));
  for (const int place : {0, 3, 4, 3}) {
    gpus.run(put, k = place);
    host.run(put_there, k = place);
    gpus.run(added, k = place);
    host.run(added_there, k = place);
    CHECK(gpus.run(w) == host.run(v));
  }
}

TEST_CASE("prepared sums by number begin anew in each run", "[gpu][indexing]") {
  session sess;
  const auto all =
      fetches(on<gpu<0>>(bincount<16>(i<int>)), on<gpu<0>>(bincount<5000>(i<int>)),
              on<gpu<0>>(segment_sum<16>(u<float>, i<int>)), on<gpu<0>>(segment_sum<60>(u<float>, i<int>)));
  const auto here =
      fetches(on<cpu<0>>(bincount<16>(i<int>)), on<cpu<0>>(bincount<5000>(i<int>)),
              on<cpu<0>>(segment_sum<16>(u<float>, i<int>)), on<cpu<0>>(segment_sum<60>(u<float>, i<int>)));
  auto step = sess.prepare(all);
  for (const spread how : {spread::evenly, spread::one, spread::outside, spread::mostly_one}) {
    const auto N = spread_numbers(16, 300, how);
    const auto U = whole_numbers<float>(300, 9);
    CHECK(step(i<int> = N, u<float> = U) == sess.run(here, i<int> = N, u<float> = U));
  }
}

TEST_CASE("by no numbers there is nothing, and nothing is launched", "[gpu][indexing]") {
  session sess;
  const tensor<std::int32_t, dyn> none({0});
  CHECK(same_on_gpu(sess, take<0>(x<float>, i<std::int32_t>), x<float> = numbers<float>(5, 4, 3),
                    i<std::int32_t> = none));
}
