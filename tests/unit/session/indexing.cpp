// SPDX-License-Identifier: BSL-1.0
// Operations that go by numbers of elements: NumPy's results, on the CPU and on simulated GPUs; what lies outside;
// views, empty tensors, prepared programs.
#include <onto/indexing.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>

#include "../words_of.hpp"
#include "words.hpp"

using namespace onto;
using namespace onto_test;

namespace {

/// The first row of a matrix.
template <class E>
constexpr auto row(const E& x) {
  return squeeze<0>(slice<0, 1>(x));
}

constexpr auto m = placeholder<"m", float, dyn, dyn>;
constexpr auto i = placeholder<"i", int, dyn>;
constexpr auto at = placeholder<"at", std::int64_t, 2>;
const tensor<float, 2, 3> values{{1, 2, 3}, {4, 5, 6}};

#define WORD(...)                                                                                                 \
  words.check(#__VA_ARGS__, sess.run(on<Place>(__VA_ARGS__), x = X, y = Y, n = N, start = tensor<int, 2>{1, -2}), \
              tolerance)

template <class T, int Rows, int Columns, class Place>
void check_by_number(session& sess, Place) {
  constexpr double tolerance = std::is_integral_v<T> ? 0 : sizeof(T) == 8 ? 1e-15 : sizeof(T) == 4 ? 1e-6 : 2e-3;
  numpy_words words("by number " + numpy_name(element_of<T>), 18, 3);
  constexpr auto x = placeholder<"x", T, Rows, Columns>;
  constexpr auto y = placeholder<"y", T, Rows, Columns>;
  constexpr auto n = placeholder<"n", std::int64_t, 3>;
  constexpr auto start = placeholder<"start", int, 2>;
  tensor<T, 3, 4> X, Y;
  tensor<std::int64_t, 3> N;
  words.fill("x", X);
  words.fill("y", Y);
  words.fill("n", N);
  WORD(take<0>(x, n));
  WORD(take<-1>(x, reshape<1, 3>(n)));
  WORD(take(x, n));
  WORD(gather(x, n));
  WORD(embedding(transpose(x), n));
  WORD(take_along_axis<0>(x, expand_dims<1>(n)));
  WORD(take_along_axis<1>(x, expand_dims<1>(n)));
  WORD(scatter(x, n, y));
  WORD(scatter_add(x, n, y));
  WORD(segment_sum<3>(y, abs(n)));
  WORD(segment_max<3>(y, abs(n)));
  WORD(segment_min<3>(y, abs(n)));
  WORD(bincount<2>(n));
  WORD(searchsorted(row(x), y));
  WORD(searchsorted(row(x), x, right_side));
  WORD(dynamic_slice<2, 2>(x, start));
  WORD(update_slice(x, slice<range<0, 2>, range<0, 2>>(y), start));
  WORD(extent<1>(x));
}

template <class T, class Place>
void check_histogram(session& sess, Place) {
  numpy_words words("histogram " + numpy_name(element_of<T>), 1);
  constexpr auto x = placeholder<"x", T, dyn, 4>;
  tensor<T, 3, 4> X;
  words.fill("x", X);
  words.check("histogram<4>(x, -1, 1)", sess.run(on<Place>(histogram<4>(x, -1, 1)), x = X));
}

}  // namespace

TEST_CASE("operations by number compute what NumPy computes", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_by_number<float, 3, 4>(sess, cpu<0>{});
  check_by_number<double, dyn, dyn>(sess, gpu<0>{});
  check_by_number<half, dyn, 4>(sess, cpu<0>{});
  check_by_number<std::uint8_t, 3, 4>(sess, gpu<0>{});
  check_by_number<std::int64_t, dyn, dyn>(sess, cpu<0>{});
  check_histogram<float>(sess, gpu<0>{});
  check_histogram<double>(sess, cpu<0>{});
}

TEST_CASE("numbers outside read the nearest element and write nothing", "[session]") {
  session sess;
  const tensor<int, 4> N{2, -3, 1000000, -1000000};
  CHECK(sess.run(take<1>(m, i), m = values, i = N) == tensor<float, 2, 4>{{3, 1, 3, 1}, {6, 4, 6, 4}});
  const auto ones = fill<float, 4, 3>(1);
  CHECK(sess.run(scatter_add(m, i, ones), m = values, i = N) == values);
  CHECK(sess.run(scatter(m, i, ones), m = values, i = tensor<int, 4>{5, -2, 7, -9}) ==
        tensor<float, 2, 3>{{1, 1, 1}, {4, 5, 6}});
  CHECK(sess.run(segment_sum<2>(ones, i), i = tensor<int, 4>{-1, 1, 2, 1}) ==
        tensor<float, 2, 3>{{0, 0, 0}, {2, 2, 2}});
  constexpr auto wide = placeholder<"wide", std::uint64_t, dyn>;
  CHECK(sess.run(take(m, wide), m = values, wide = tensor<std::uint64_t, 1>{~std::uint64_t{0}}) == tensor<float, 1>{6});
  CHECK(sess.run(dynamic_slice<1, 2>(m, at), m = values, at = tensor<std::int64_t, 2>{9, 9}) ==
        tensor<float, 1, 2>{{5, 6}});
}

TEST_CASE("a slice begins at numbers and expressions, stacked", "[session]") {
  session sess;
  const auto k = placeholder<"k", int>;
  constexpr auto written = update_slice(m, zeros<float, 1, 2>(), stack(placeholder<"k", int>, 1_c));
  CHECK(sess.run(dynamic_slice<1, 2>(m, stack(k, 0)), m = values, k = 1) == tensor<float, 1, 2>{{4, 5}});
  CHECK(sess.run(stack(k, 5, k), k = 2) == tensor<int, 3>{2, 5, 2});
  CHECK(sess.run(stack(4.5, placeholder<"q", float>), placeholder<"q", float> = 2.0f) == tensor<float, 2>{4.5f, 2});
  CHECK(sess.run(sum(written), m = values, k = 0) == 21.0f - 5.0f);
}

TEST_CASE("numbers in braces are a constant", "[session]") {
  session sess;
  constexpr auto line = placeholder<"line", float, dyn>;
  const tensor<float, 3> L{1, 2.5f, 3};
  CHECK(sess.run(searchsorted(line, {1, 2, 7}), line = L) == tensor<std::int64_t, 3>{0, 1, 3});
  CHECK(sess.run(searchsorted(line, {1, 2, 7}, right_side), line = L) == tensor<std::int64_t, 3>{1, 1, 3});
  CHECK(sess.run(searchsorted({0.0, 1.0, 2.75}, line), line = L) == tensor<std::int64_t, 3>{1, 2, 3});
  CHECK(sess.run(bincount<3>(i, {0.5, 2.0, 1.5}), i = tensor<int, 3>{2, 0, 2}) == tensor<double, 3>{2, 0, 2});
  CHECK(sess.run(take<0>({1.5, 2.0, 4.0}, i), i = tensor<int, 2>{2, 0}) == tensor<double, 2>{4, 1.5});
  const int rule[] = {0, 7, 9};
  CHECK(sess.run(take(rule, i), i = tensor<int, 2>{2, 1}) == tensor<int, 2>{9, 7});
  CHECK(sess.run(segment_max<2>(line, {1, 0, 1}), line = L) == tensor<float, 2>{2.5f, 3});
  CHECK(sess.run(take<1>(m, {2, 0}), m = values) == tensor<float, 2, 2>{{3, 1}, {6, 4}});
  CHECK(sess.run(take(m, {-1, 1}), m = values) == tensor<float, 2>{6, 2});
  CHECK(sess.run(gather(m, {1}), m = values) == tensor<float, 1, 3>{{4, 5, 6}});
  CHECK(evaluate(embedding(values, {1, 1})) == tensor<float, 2, 3>{{4, 5, 6}, {4, 5, 6}});
}

TEST_CASE("of equal numbers the last update stays, and all are added", "[session]") {
  session sess;
  constexpr auto u = placeholder<"u", float, 3, 1>;
  constexpr auto column = placeholder<"column", float, 2, 1>;
  const tensor<float, 3, 1> U{{1}, {2}, {4}};
  const tensor<float, 2, 1> zero;
  const tensor<int, 3> N{1, 1, 1};
  CHECK(sess.run(scatter(column, i, u), column = zero, i = N, u = U) == tensor<float, 2, 1>{{0}, {4}});
  CHECK(sess.run(scatter_add(column, i, u), column = zero, i = N, u = U) == tensor<float, 2, 1>{{0}, {7}});
}

// Nothing is taken for the shape of updates.
static_assert(plan_of(scatter_add(placeholder<"v", float, dyn>, i, 1_c)).kernels == 2);

TEST_CASE("one number is the update of all rows, and weights are counted", "[session]") {
  constexpr auto m = placeholder<"m", float, dyn, 2>;
  constexpr auto at = placeholder<"at", std::int64_t, dyn>;
  session sess;
  const tensor<float, 3, 2> values{{1, 2}, {3, 4}, {5, 6}};
  const std::vector<std::int64_t> numbers{2, 0, 2, 7};
  CHECK(sess.run(scatter(m, at, 0), m = values, at = numbers) == tensor<float, dyn, 2>{{0, 0}, {3, 4}, {0, 0}});
  CHECK(sess.run(scatter_add(m, at, 0.5_c), m = values, at = numbers) ==
        tensor<float, dyn, 2>{{1.5f, 2.5f}, {3, 4}, {6, 7}});
  CHECK(evaluate(scatter(values, numbers, 9)) == tensor<float, 3, 2>{{9, 9}, {3, 4}, {9, 9}});
  CHECK(sess.run(gradient(sum(scatter(m, at, 1)), m), m = values, at = numbers) ==
        tensor<float, dyn, 2>{{0, 0}, {1, 1}, {0, 0}});
  const tensor<double, 4> weights{0.25, 2, 0.5, 100};
  CHECK(evaluate(bincount<3>(numbers, weights)) == tensor<double, 3>{2, 0, 0.75});
}

TEST_CASE("a tensor of rank 0 is the update of all rows", "[session]") {
  constexpr auto m = placeholder<"m", double, dyn, 2>;
  constexpr auto v = placeholder<"v", double, dyn>;
  constexpr auto at = placeholder<"at", int, dyn>;
  constexpr auto one = placeholder<"one", int>;
  constexpr auto s = placeholder<"s", double>;
  const tensor<double, 3, 2> values{{1, 2}, {3, 4}, {5, 6}};
  const std::vector<double> some{1, 2, 3, 4};
  const std::vector<int> numbers{2, 0, 2};
  session sess;
  CHECK(sess.run(scatter(m, at, s), m = values, at = numbers, s = 9.) ==
        tensor<double, dyn, 2>{{9, 9}, {3, 4}, {9, 9}});
  CHECK(sess.run(scatter_add(m, reshape<1>(one), s), m = values, one = 1, s = 9.) ==
        tensor<double, dyn, 2>{{1, 2}, {12, 13}, {5, 6}});
  CHECK(sess.run(scatter(v, one, s), v = some, one = -1, s = 9.) == tensor<double, dyn>{1, 2, 3, 9});
  CHECK(sess.run(scatter_add(v, at, mean(v)), v = some, at = numbers) == tensor<double, dyn>{3.5, 2, 8, 4});
  CHECK(evaluate(scatter_add(v, at, tensor<double>(2)), v = some, at = numbers) == tensor<double, dyn>{3, 2, 7, 4});
  // 2 (1 + s) once, 2 (3 + 2 s) twice
  CHECK(sess.run(gradient(sum(square(scatter_add(v, at, s))), s), v = some, at = numbers, s = 1.) ==
        tensor<double>(24));
}

TEST_CASE("sums by number are kept as sums are", "[session]") {
  session sess;
  constexpr auto many = placeholder<"many", float, dyn>;
  tensor<float, dyn> in({100000});
  for (float& v : in) v = 0.1f;
  tensor<int, dyn> zero({100000});
  CHECK(sess.run(segment_sum<1>(many, i), many = in, i = zero)(0) == float(sess.run(sum(many), many = in)));
  constexpr auto bytes = placeholder<"bytes", std::int8_t, dyn>;
  tensor<std::int8_t, dyn> hundreds({1000});
  for (std::int8_t& v : hundreds) v = 100;
  CHECK(sess.run(segment_sum<1>(bytes, i), bytes = hundreds, i = tensor<int, dyn>({1000}))(0) == 100000);
}

TEST_CASE("operations by number read views, and of nothing make nothing", "[session]") {
  session sess;
  CHECK(sess.run(take<0>(transpose(flip(m)), flip(i)), m = values, i = tensor<int, 2>{0, 2}) ==
        tensor<float, 2, 2>{{4, 1}, {6, 3}});
  CHECK(sess.run(take<0>(m, i), m = values, i = tensor<int, 0>{}).size() == 0);
  CHECK(sess.run(scatter_add(m, i, m), m = tensor<float, 0, 3>{}, i = tensor<int, 0>{}).size() == 0);
  CHECK(sess.run(segment_sum<2>(i, i), i = tensor<int, 0>{}) == tensor<int, 2>{0, 0});
  CHECK_THROWS_AS(sess.run(take<0>(m, i), m = tensor<float, 0, 3>{}, i = tensor<int, 1>{0}), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(scatter(m, i, m), m = values, i = tensor<int, 1>{0}), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(dynamic_slice<3, 1>(m, at), m = values, at = tensor<std::int64_t, 2>{0, 0}),
                  invalid_argument_error);
}

TEST_CASE("more is taken of a view, whose rows lie apart, than it has", "[session]") {
  session sess;
  constexpr auto whole = placeholder<"whole", std::int64_t, 3, 200>;
  const tensor<std::int64_t, 3, 200> numbered = evaluate(reshape<3, 200>(iota<std::int64_t, 600>()));
  tensor<text, 3, 200> written;
  for (int k = 0; k < 600; ++k) written.data()[k] = text(std::to_string(numbered.data()[k]) + " of 600 numbers");
  tensor<int, dyn> numbers({1000});
  for (int k = 0; k < 1000; ++k) numbers(k) = k * 37 % 260 - 30;  // some outside
  const auto row = [](int k) { return k < 0 ? (k + 200 < 0 ? 0 : k + 200) : k < 200 ? k : 199; };
  const auto taken = sess.run(take<0>(transpose(whole), i), whole = numbered, i = numbers);
  const auto columns = sess.run(take<1>(transpose(reshape<200, 3>(whole)), flip(i)), whole = numbered, i = numbers);
  const auto halves = sess.run(take<0>(transpose(cast<half>(whole)), i), whole = numbered, i = numbers);
  const auto words = sess.run(take<0>(transpose(constant(written)), i), i = numbers);
  bool right = taken.shape() == shape_array<2>({1000, 3});
  for (int k = 0; k < 1000; ++k)
    for (int j = 0; j < 3; ++j) {
      const int at = row(numbers(k)), back = row(numbers(999 - k));
      right = right && taken(k, j) == numbered(j, at) && columns(j, k) == back * 3 + j &&
              words(k, j) == written(j, at) && halves(k, j) == half(numbered(j, at));
    }
  CHECK(right);
}

TEST_CASE("NaN is behind every number", "[session]") {
  session sess;
  constexpr auto line = placeholder<"line", double, dyn>;
  constexpr auto wanted = placeholder<"wanted", double, dyn>;
  const tensor<double, 4> L{1, 2, NAN, NAN};
  const tensor<double, 3> W{3, NAN, 1};
  CHECK(sess.run(searchsorted(line, wanted), line = L, wanted = W) == tensor<std::int64_t, 3>{2, 2, 0});
  CHECK(sess.run(searchsorted(line, wanted, right_side), line = L, wanted = W) == tensor<std::int64_t, 3>{2, 4, 1});
  CHECK(sess.run(histogram<2>(wanted, 1, 3), wanted = W) == tensor<std::int64_t, 2>{1, 1});
  CHECK(sess.run(histogram<2>(wanted, tensor<float>(1.f), 3), wanted = W) == tensor<std::int64_t, 2>{1, 1});
}

namespace {

/// Beside the standard's searches, for more values than are searched for at once.
template <class T>
void check_searches(unsigned seed) {
  session sess;
  constexpr auto line = placeholder<"line", T, dyn>;
  constexpr auto wanted = placeholder<"wanted", T, dyn>;
  constexpr bool has_nan = !std::is_integral_v<T>;
  std::mt19937 random(seed);
  const auto number = [&](unsigned of) {
    return has_nan && random() % 8 == 0 ? static_cast<T>(NAN) : static_cast<T>(static_cast<int>(random() % of));
  };
  const auto before = [](T a, T b) { return a < b || (a == a && b != b); };
  const int length = static_cast<int>(random() % 40) + 1, count = length + static_cast<int>(random() % 50);
  tensor<T, dyn> L({length}), W({count});
  for (T& v : L) v = number(20);
  for (T& v : W) v = number(22);
  std::sort(L.begin(), L.end(), before);
  const auto left = sess.run(searchsorted(line, flip(wanted)), line = L, wanted = W);
  const auto near = sess.run(searchsorted(line, wanted), line = L, wanted = W);
  const auto far = sess.run(searchsorted(line, wanted, right_side), line = L, wanted = W);
  for (int k = 0; k < count; ++k) {
    INFO(name_of(element_of<T>) << " " << seed << " " << k);
    CHECK(near(k) == std::lower_bound(L.begin(), L.end(), W(k), before) - L.begin());
    CHECK(far(k) == std::upper_bound(L.begin(), L.end(), W(k), before) - L.begin());
    CHECK(left(count - 1 - k) == near(k));
  }
}

/// Beside loops, for more numbers than a block of them.
template <class I>
void check_blocks(int count, int inner) {
  session sess;
  constexpr auto x = placeholder<"x", int, 3, dyn, dyn>;
  constexpr auto n = placeholder<"n", I, dyn>;
  tensor<int, 3, dyn, dyn> X({3, 7, inner});
  tensor<I, dyn> N({count});
  std::iota(X.begin(), X.end(), 0);
  for (int k = 0; k < count; ++k) N(k) = static_cast<I>(k * 5 % 9);
  const auto taken = sess.run(take<1>(x, n), x = X, n = N);
  const auto flipped = sess.run(take<1>(x, flip(n)), x = X, n = N);
  std::int64_t sums[9]{}, wrong = 0;
  for (int k = 0; k < count; ++k) {
    const int number = k * 5 % 9, from = std::min(number, 6);
    sums[number] += k;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < inner; ++b)
        wrong += taken(a, k, b) != X(a, from, b) || flipped(a, count - 1 - k, b) != X(a, from, b);
  }
  CHECK(wrong == 0);
  tensor<std::int64_t, dyn> K({count});
  for (int k = 0; k < count; ++k) K(k) = k;
  constexpr auto terms = placeholder<"terms", std::int64_t, dyn>;
  const auto summed = sess.run(segment_sum<8>(terms, n), terms = K, n = N);
  for (int k = 0; k < 8; ++k) CHECK(summed(k) == sums[k]);
}

/// Sums into more rows than have updates and fewer, of whole numbers, added to a base in order or transposed.
template <class T>
void check_rows(session& sess, int rows, int inner, int count) {
  constexpr auto base = placeholder<"base", T, dyn, dyn>;
  constexpr auto update = placeholder<"update", T, dyn, dyn>;
  tensor<T, dyn, dyn> B({rows, inner}), turned({inner, rows}), U({count, inner});
  tensor<int, dyn> N({count});
  std::mt19937 random(static_cast<unsigned>(rows + count));
  for (int k = 0; k < rows * inner; ++k)
    turned(k % inner, k / inner) = B(k / inner, k % inner) = static_cast<T>(random() % 9);
  for (T& u : U) u = static_cast<T>(random() % 9);
  for (int& n : N) n = static_cast<int>(random() % static_cast<unsigned>(rows));
  tensor<T, dyn, dyn> wanted = B;
  for (int k = 0; k < count * inner; ++k) wanted(N(k / inner), k % inner) += U(k / inner, k % inner);
  INFO(name_of(element_of<T>) << ", " << count << " updates of " << inner << " into " << rows << " rows");
  CHECK(sess.run(scatter_add(base, i, update), base = B, i = N, update = U) == wanted);
  CHECK(sess.run(scatter_add(transpose(base), i, update), base = turned, i = N, update = U) == wanted);
}

}  // namespace

TEST_CASE("sums go into many rows and few", "[session]") {
  session sess{{.cpu_threads = 1}};
  for (const int rows : {3, 1000, 30000})
    for (const int inner : {1, 3, 5})
      for (const int count : {0, 7, 300, 5000}) {
        check_rows<float>(sess, rows, inner, count);
        check_rows<std::int64_t>(sess, rows, inner, count);
      }
  check_rows<std::int16_t>(sess, 900, 1, 50);
}

TEST_CASE("many values are searched for at once", "[session]") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    check_searches<float>(seed);
    check_searches<std::int16_t>(seed);
  }
  check_searches<double>(1);
  check_searches<half>(2);
}

TEST_CASE("values are searched for among numbers at even distances, or almost", "[session]") {
  constexpr auto sorted = placeholder<"sorted", float, dyn>;
  constexpr auto value = placeholder<"value", float, dyn>;
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  session sess;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> between(-1.f, 1.f);
    const int count = 3 + static_cast<int>(random() % 60);
    const float first = 100 * between(random), width = std::exp(8 * between(random));
    tensor<float, dyn> edges({count});
    for (int k = 0; k < count; ++k)  // from exactly even to further off than a place
      edges(k) = first + width * (static_cast<float>(k) + static_cast<float>(seed % 4) * 0.5f * between(random));
    std::sort(edges.begin(), edges.end());
    tensor<float, dyn> values({400});
    for (float& v : values) v = first + width * static_cast<float>(count) * (between(random) * 1.2f + 0.5f);
    for (int k = 0; k < count; ++k) values(k) = edges(k);
    for (int k = 0; k < count; ++k) values(100 + k) = std::nextafter(edges(k), k % 2 == 0 ? infinity : -infinity);
    const float far[] = {infinity, -infinity, nan, 3e38f, -3e38f};
    std::copy(std::begin(far), std::end(far), values.begin() + 200);
    const auto left = sess.run(searchsorted(sorted, value), sorted = edges, value = values);
    const auto right = sess.run(searchsorted(sorted, value, right_side), sorted = edges, value = values);
    bool same = true;
    for (int k = 0; k < 400; ++k) {
      const float v = values(k);
      const auto after = [&](float e) { return std::isnan(v) || e <= v; };
      same = same && right(k) == std::count_if(edges.begin(), edges.end(), after);
      same =
          same && left(k) == std::count_if(edges.begin(), edges.end(), [&](float e) { return std::isnan(v) || e < v; });
    }
    INFO("seed " << seed);
    CHECK(same);
  }
}

namespace {

/// Elements at the edges of bins, beside them and anywhere, against the edges as `linspace` has them.
template <int N, class T>
void check_bins(session& sess, double first, double last) {
  constexpr auto fed = placeholder<"fed", T, dyn>;
  const tensor<T, N + 1> edges = sess.run(linspace<T, N + 1>(static_cast<float>(first), static_cast<float>(last)));
  using bits = detail::unsigned_of<static_cast<int>(sizeof(T))>;
  std::vector<T> elements{static_cast<T>(NAN), static_cast<T>(INFINITY), static_cast<T>(-INFINITY), T(0.f)};
  for (const T& e : edges) {
    elements.push_back(e);
    for (const int by : {-1, 1})
      elements.push_back(__builtin_bit_cast(T, static_cast<bits>(__builtin_bit_cast(bits, e) + static_cast<bits>(by))));
  }
  std::uint64_t seed = 7;
  for (int k = 0; k < 3000; ++k) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    elements.push_back(static_cast<T>(
        static_cast<float>(first + (last - first) * (static_cast<double>(seed >> 11) * 0x1p-53 * 1.2 - 0.1))));
  }
  std::vector<std::int64_t> wanted(N);
  const auto number = [](T v) { return static_cast<double>(static_cast<computed_of<T>>(v)); };
  for (const T v : elements) {
    const double x = number(v);
    if (!(x >= number(edges(0)) && x <= number(edges(N)))) continue;
    std::size_t bin = 0;
    while (bin + 1 < N && x >= number(edges(static_cast<int>(bin) + 1))) ++bin;
    ++wanted[bin];
  }
  const auto got = sess.run(histogram<N>(fed, static_cast<float>(first), static_cast<float>(last)), fed = elements);
  INFO(name_of(element_of<T>) << ", " << N << " bins from " << first << " to " << last);
  CHECK(std::equal(wanted.begin(), wanted.end(), got.begin(), got.end()));
}

}  // namespace

TEST_CASE("an element is in the bin whose edges it is between", "[session]") {
  session sess{{.cpu_threads = 1}};
  check_bins<1, float>(sess, -1, 1);
  check_bins<10, float>(sess, 0, 1);
  check_bins<10, float>(sess, 1000, 1001);      // edges are rounded
  check_bins<1000, float>(sess, 1e6, 1e6 + 8);  // and several are one
  check_bins<7, float>(sess, -3e38, 3e38);      // wider than a float
  check_bins<3, float>(sess, 0, 1e-44);
  check_bins<100, double>(sess, -2, 5);
  check_bins<10, onto::half>(sess, 0, 1);
  check_bins<100, onto::half>(sess, -1, 1);
  check_bins<10, bfloat16>(sess, 0, 3);
}

TEST_CASE("bins go upwards, or half to each side of one number, as NumPy's", "[session]") {
  session sess;
  constexpr auto fed = placeholder<"fed", float, dyn>;
  const tensor<float, 5> V{0.4f, 0.5f, 1, 1.5f, 2};
  using counts = tensor<std::int64_t, 3>;
  CHECK(sess.run(histogram<3>(fed, 1, 1), fed = V) == counts{1, 1, 1});
  CHECK(sess.run(histogram<3>(fed, 1_c, 1.0_c), fed = V) == counts{1, 1, 1});
  CHECK(sess.run(histogram<3>(fed, 0.5_c, 2), fed = V) == counts{1, 1, 2});
  CHECK(words_of<invalid_argument_error>([&] { (void)histogram<3>(fed, 2, 1); }) ==
        "[onto.number] histogram: bins go from a number to one that is no less, both finite");
  const float far = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(histogram<3>(fed, 0_c, far), invalid_argument_error);
  CHECK_THROWS_AS(histogram<3>(fed, far - far, 1), invalid_argument_error);
}

TEST_CASE("numbers are read in blocks, of any type", "[session]") {
  check_blocks<std::int8_t>(600, 1);
  check_blocks<std::uint8_t>(257, 3);
  check_blocks<std::int16_t>(256, 1);
  check_blocks<std::uint16_t>(300, 1);
  check_blocks<std::int32_t>(513, 2);
  check_blocks<std::uint32_t>(300, 1);
  check_blocks<std::int64_t>(255, 1);
  check_blocks<std::uint64_t>(300, 1);
}

TEST_CASE("an extent is a value, known or not", "[session]") {
  session sess;
  constexpr auto mean_of_rows = sum<0>(m) / cast<float>(extent<0>(m));
  CHECK(sess.run(mean_of_rows, m = values) == tensor<float, 3>{2.5, 3.5, 4.5});
  constexpr auto known = placeholder<"known", float, 2, 3>;
  CHECK(plan_of(extent<1>(known)).nodes == 1);  // nothing is read
  CHECK(sess.run(extent<-1>(known)) == 3);
}

TEST_CASE("One number takes one element along an axis", "[session]") {
  constexpr auto m = placeholder<"m", float, dyn, 3>;
  const tensor<float, dyn, 3> t{{1, 2, 3}, {4, 5, 6}};
  const tensor<float, 3> sorted{1, 2, 3};
  CHECK(evaluate(take<0>(m, 1), m = t) == tensor<float, 3>{4, 5, 6});
  CHECK(evaluate(take<1>(m, 0u), m = t) == tensor<float, dyn>{1, 4});
  CHECK(evaluate(take(m, 4), m = t) == 5);
  CHECK(evaluate(embedding(t, 7)) == tensor<float, 3>{4, 5, 6});
  CHECK(evaluate(searchsorted(sorted, 2)) == 1);
  CHECK(evaluate(searchsorted(sorted, 2, right_side)) == 2);
}

TEST_CASE("A number in the type takes a part where it is", "[session]") {
  constexpr auto m = placeholder<"m", float, dyn, 3>;
  const tensor<float, dyn, 3> t{{1, 2, 3}, {4, 5, 6}};
  constexpr auto two = take<0>(m, 1_c) * 2_c + take<0>(m, c<-2>);
  static_assert(plan_of(two).kernels == 1);  // and no gather
  CHECK(evaluate(two, m = t) == tensor<float, 3>{9, 12, 15});
  CHECK(evaluate(take<-1>(m, c<-1>), m = t) == tensor<float, dyn>{3, 6});
  CHECK(evaluate(take<0>(take<0>(m, 1_c), 0_c), m = t) == 4);
  CHECK(evaluate(take<1>(t, 2_c)) == tensor<float, dyn>{3, 6});
  CHECK(evaluate(take(m, 4_c), m = t) == 5);
  CHECK(evaluate(take(t, c<-1>)) == 6);
  CHECK_THROWS_AS(evaluate(take<0>(m, 2_c), m = t), invalid_argument_error);
  CHECK_THROWS_AS(evaluate(take(m, c<-7>), m = t), invalid_argument_error);
  constexpr auto x = placeholder<"x", float, 2, 3>;
  CHECK(get<0>(evaluate(gradients(sum(square(take<1>(x, 1_c))), x), x = {{1, 2, 3}, {4, 5, 6}})) ==
        tensor<float, 2, 3>{{0, 4, 0}, {0, 10, 0}});
}

TEST_CASE("Characters are numbers beside integers", "[session]") {
  constexpr auto bytes = placeholder<"bytes", std::uint8_t, dyn>;
  CHECK(evaluate(bytes >= 'a', bytes = {96, 97, 98}) == tensor<bool, dyn>{false, true, true});
  CHECK(evaluate(bytes + u8'\x01', bytes = {1, 2}) == tensor<std::uint8_t, dyn>{2, 3});
  CHECK_THROWS_WITH(bytes + '\xff', Catch::Contains("[onto.element] Add: the scalar -1 is no uint8"));
}

TEST_CASE("numbers and updates in braces are constants", "[indexing]") {
  session sess;
  const auto v = constant({1.f, 2.f, 3.f});
  const auto m = constant({{1.f, 2.f}, {3.f, 4.f}});
  const tensor<float, 3> t{1, 2, 3};
  const tensor<float, 2> u{7, 8};
  using row = tensor<float, 3>;
  using rows = tensor<float, 2, 2>;
  CHECK(sess.run(scatter_add(v, {0, 0}, {1.f, 2.f})) == row{4, 2, 3});
  CHECK(sess.run(scatter_add(t, {0, 0}, u)) == row{16, 2, 3});
  CHECK(sess.run(scatter(v, {0, 1}, {1, 2.5})) == row{1, 2.5f, 3});
  CHECK(sess.run(scatter(t, tensor<int, 2>{0, 1}, {9, 8})) == row{9, 8, 3});
  CHECK(sess.run(scatter(v, {0, 1}, u)) == row{7, 8, 3});
  CHECK(sess.run(scatter(m, {1}, {{5, 6.5}})) == rows{{1, 2}, {5, 6.5f}});
  CHECK(sess.run(update_slice(v, {5.f}, {1})) == row{1, 5, 3});
  CHECK(sess.run(update_slice(t, u, {1})) == row{1, 7, 8});
  CHECK(sess.run(update_slice(t, {5, 6}, tensor<int, 1>{1})) == row{1, 5, 6});
  CHECK(sess.run(update_slice(m, {{5}, {7}}, {0, 1})) == rows{{1, 5}, {3, 7}});
  CHECK(sess.run(dynamic_slice<2>(v, {1})) == tensor<float, 2>{2, 3});
  CHECK(sess.run(segment_sum<2>(t, {1, 0, 1})) == tensor<float, 2>{2, 4});
  CHECK(sess.run(take_along_axis<0>(v, {1, 0, 1})) == row{2, 1, 2});
}

/// Rows of every width that is copied or summed in a way of its own.
template <class T>
void check_rows_of_all_widths(session& sess) {
  constexpr auto x = placeholder<"x", T, dyn, dyn>;
  constexpr auto updates = placeholder<"updates", T, dyn, dyn>;
  const auto taken = sess.prepare(take<0>(x, i));
  const auto added = sess.prepare(scatter_add(x, i, updates));
  const tensor<int, dyn> numbers{2, 0, -1, 4, 0, 7, -9, 3, 2};  // -1 is the last; 7 and -9 are outside
  const int table = 5, count = static_cast<int>(numbers.size());
  for (int width = 1; width <= 80; width += width < 20 ? 1 : 7) {
    tensor<T, dyn, dyn> X({table, width}), U({count, width}), rows({count, width});
    for (int k = 0; k < table * width; ++k) X.data()[k] = static_cast<T>(k % 97);
    for (int k = 0; k < count * width; ++k) U.data()[k] = static_cast<T>(k % 13);
    tensor<T, dyn, dyn> sums = X;
    for (int k = 0; k < count; ++k) {
      const int n = numbers(k) < 0 ? numbers(k) + table : numbers(k);
      for (int j = 0; j < width; ++j) {
        rows(k, j) = X(std::clamp(n, 0, table - 1), j);
        if (n >= 0 && n < table) sums(n, j) = static_cast<T>(sums(n, j) + U(k, j));
      }
    }
    CAPTURE(width);
    CHECK(taken(x = X, i = numbers) == rows);
    CHECK(added(x = X, i = numbers, updates = U) == sums);
  }
}

TEST_CASE("rows of all widths are taken and added to", "[indexing]") {
  session sess;
  check_rows_of_all_widths<std::int8_t>(sess);
  check_rows_of_all_widths<float>(sess);
  check_rows_of_all_widths<double>(sess);
}
