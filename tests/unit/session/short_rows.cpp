// SPDX-License-Identifier: BSL-1.0
// Rows that the type says to be short go through their kernel side by side, and give what rows of extents that the run
// knows give, one after the other.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../catch.hpp"

namespace {

using namespace onto;

template <class T, int... Dims>
tensor<T, Dims...> numbers(const tensor<T, Dims...>& zeros, std::uint64_t k) {
  tensor<T, Dims...> t = zeros;
  for (T& v : t) v = static_cast<T>(static_cast<float>((++k * 2654435761u >> 7) % 61) / 8.0f - 3.0f);
  return t;
}

template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 1e-13 : std::is_same_v<T, float> ? 2e-6 : 4e-3;
}

template <class A, class B>
void check_near(const A& a, const B& b) {
  using T = typename A::element_type;
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto x = static_cast<double>(static_cast<float>(a.data()[k])),
               y = static_cast<double>(static_cast<float>(b.data()[k]));
    most = std::fmax(most, std::abs(x - y) / (1 + std::abs(y)));
    if (std::isnan(x) != std::isnan(y)) most = 1;
  }
  CHECK(most <= tolerance<T>());
}

// Elements, one a column of them, one a row of them, and the elements as columns.
template <class T, int N>
constexpr auto x = placeholder<"x", T, dyn, dyn, N>;
template <class T, int N>
constexpr auto w = placeholder<"w", T, N>;
template <class T>
constexpr auto r = placeholder<"r", T, dyn, 1>;
template <class T, int N>
constexpr auto turned = placeholder<"turned", T, N, dyn>;

/// `f` of rows whose extent the type knows, beside the same of those that it does not.
template <class T, int N, class F>
void check(session& sess, const F& f, int kernels, int outer, int rows) {
  const auto values = numbers(tensor<T, dyn, dyn, N>({outer, rows, N}), 1);
  const auto across = numbers(tensor<T, N>(), 2);
  const auto down = numbers(tensor<T, dyn, 1>({rows, 1}), 3);
  const auto columns = numbers(tensor<T, N, dyn>({N, rows}), 4);
  INFO("rows of " << N << ", " << outer << " x " << rows);
  const auto got = f(x<T, N>, w<T, N>, r<T>, turned<T, N>);
  const auto wanted = f(x<T, dyn>, w<T, dyn>, r<T>, turned<T, dyn>);
  CHECK(plan_of(got).kernels == kernels);
  check_near(sess.run(got, x<T, N> = values, w<T, N> = across, r<T> = down, turned<T, N> = columns),
             sess.run(wanted, x<T, dyn> = values, w<T, dyn> = across, r<T> = down, turned<T, dyn> = columns));
}

template <class T, int N, class F>
void check_all(const F& f, int kernels = 1) {
  session one{{.cpu_threads = 1}}, four{{.cpu_threads = 4}};
  for (const int rows : {0, 1, 2, 7, 8, 16, 31, 255, 256, 257, 600}) check<T, N>(one, f, kernels, 1, rows);
  check<T, N>(one, f, kernels, 3, 70);
  check<T, N>(one, f, kernels, 300, 1);
  check<T, N>(four, f, kernels, 1, 8);
  check<T, N>(four, f, kernels, 2, 20000);
}

// Of all operands, one after the other: what is of fewer axes alone would be a kernel of its own.
constexpr auto mixed = [](auto e, auto c, auto d, auto t) { return (e + c) * d - transpose(t); };

template <class T, int N>
void check_programs() {
  check_all<T, N>([](auto... in) { return mixed(in...) - mean<-1>(mixed(in...), keep_extents); });
  check_all<T, N>([](auto... in) {
    const auto e = mixed(in...);
    return (e - mean<-1>(e, keep_extents)) / (norm<-1>(e, keep_extents) + 1_c);
  });
  check_all<T, N>([](auto... in) { return softmax(mixed(in...)); });
  check_all<T, N>([](auto... in) {
    const auto e = mixed(in...);
    return sum<-1>(exp(e - max<-1>(e, keep_extents)));
  });
}

}  // namespace

TEST_CASE("short rows of floats", "[session]") {
  check_programs<float, 3>();
  check_programs<float, 17>();
}
TEST_CASE("short rows of doubles", "[session]") { check_programs<double, 8>(); }
TEST_CASE("short rows of half precision", "[session]") { check_programs<half, 5>(); }

TEST_CASE("short rows of integers", "[session]") {
  check_all<std::int32_t, 24>([](auto... in) { return max<-1>(mixed(in...), keep_extents) - mixed(in...); });
}

TEST_CASE("generators number the elements of short rows as they lie", "[session]") {
  check_all<float, 4>(
      [](auto e, auto... in) {
        const auto m = mixed(e, in...);
        return m - mean<-1>(m, keep_extents) + random_uniform_like(e, 7_c);
      },
      2);
}

TEST_CASE("softmax of short rows is that of C++", "[session]") {
  constexpr auto p = placeholder<"p", double, dyn, 3>;
  const auto values = numbers(tensor<double, dyn, 3>({1000, 3}), 9);
  const auto y = session().run(softmax(p), p = values);
  double most = 0;
  for (int k = 0; k < 1000; ++k) {
    const double a = std::exp(values(k, 0)), b = std::exp(values(k, 1)), c = std::exp(values(k, 2));
    for (const double d : {y(k, 0) - a / (a + b + c), y(k, 1) - b / (a + b + c), y(k, 2) - c / (a + b + c)})
      most = std::fmax(most, std::abs(d));
  }
  CHECK(most < 1e-15);
}

TEST_CASE("a variable of short rows is updated from itself", "[session]") {
  constexpr auto v = variable<"v", float, 500, 3>(zeros<float, 500, 3>());
  constexpr auto p = placeholder<"p", float, 500, 3>;
  const auto values = numbers(tensor<float, 500, 3>(), 5);
  session sess;
  sess.run(initialize(v));
  sess.run(assign(v, p), p = values);
  const auto wanted = evaluate(values - mean<1>(values, keep_extents));
  sess.run(assign(v, v - mean<1>(v, keep_extents)));
  CHECK(sess.run(v) == wanted);
}

namespace {

/// Places of the extremes of rows of every short extent, with equal elements and with NaN, beside a loop.
template <class T>
void check_places() {
  constexpr auto x = placeholder<"x", T, dyn, dyn>;
  session sess{{.cpu_threads = 1}};
  const auto least = sess.prepare(argmin<1>(x)), most = sess.prepare(argmax<1>(x));
  for (int n = 1; n <= 40; ++n)
    for (int rows : {1, 15, 16, 17, 50, 700}) {
      auto values = numbers(tensor<T, dyn, dyn>({rows, n}), static_cast<std::uint64_t>(rows + n));
      if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        for (int r = 0; r < rows; r += 3) values(r, r % n) = std::numeric_limits<T>::quiet_NaN();
      const auto low = least(x = values), high = most(x = values);
      int wrong = 0;
      for (int r = 0; r < rows; ++r) {
        int a = 0, b = 0;
        for (int k = 1; k < n; ++k) {
          const auto v = values(r, k), at_a = values(r, a), at_b = values(r, b);
          if (at_a == at_a && (v < at_a || v != v)) a = k;
          if (at_b == at_b && (v > at_b || v != v)) b = k;
        }
        wrong += (low(r) != a) + (high(r) != b);
      }
      INFO(rows << " rows of " << n);
      CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("the greatest and the least of short rows are found, the first of equal ones, and NaN", "[session]") {
  check_places<float>();
  check_places<double>();
  check_places<half>();
  check_places<std::int8_t>();
  check_places<std::int64_t>();
}
