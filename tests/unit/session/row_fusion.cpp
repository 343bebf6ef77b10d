// SPDX-License-Identifier: BSL-1.0
// Kernels of rows compute what their operations say, for rows of every length and on every machine.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../catch.hpp"

namespace {

using namespace onto;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
constexpr auto x = placeholder<"x", T, dyn, dyn>;
template <class T>
constexpr auto scale = placeholder<"scale", T, dyn>;
template <class T>
constexpr auto shift = placeholder<"shift", T, dyn>;
template <class T>
constexpr auto weight = placeholder<"weight", T, dyn, 1>;

using matrix = std::vector<std::vector<double>>;

double pseudo_random(std::uint64_t k) {
  k = (k + 1) * 0x9e3779b97f4a7c15u;
  k = (k ^ (k >> 31)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>((k ^ (k >> 29)) >> 11) / 9007199254740992.0 * 8 - 4;
}

template <class T>
double number(T v) {
  return static_cast<double>(static_cast<computed_t<element_of<T>>>(v));
}

template <class T>
struct operands {
  tensor<T, dyn, dyn> values;
  tensor<T, dyn> scales, shifts;
  tensor<T, dyn, 1> weights;
  int rows, n;

  operands(int r, int c) : values({r, c}), scales({c}), shifts({c}), weights({r, 1}), rows(r), n(c) {
    std::uint64_t k = static_cast<std::uint64_t>(r * 7919 + c);
    for (T& v : values) v = static_cast<T>(static_cast<float>(pseudo_random(++k)));
    for (T& v : scales) v = static_cast<T>(static_cast<float>(pseudo_random(++k)));
    for (T& v : shifts) v = static_cast<T>(static_cast<float>(pseudo_random(++k)));
    for (T& v : weights) v = static_cast<T>(static_cast<float>(pseudo_random(++k)));
  }
  double at(int r, int c) const { return number(values.data()[static_cast<std::ptrdiff_t>(r) * n + c]); }
};

double greatest(const std::vector<double>& row) {
  double m = -infinity;
  for (double v : row) m = v > m || v != v ? v : m;
  return m;
}
double sum_of_powers(const std::vector<double>& row, double m) {
  double s = 0;
  for (double v : row) s += std::exp(v - m);
  return s;
}

template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 2e-14 : std::is_same_v<T, float> ? 4e-6 : std::is_same_v<T, half> ? 4e-3 : 3e-2;
}

template <class T, class Expected>
void compare(const char* what, const operands<T>& o, const T* got, int columns, const Expected& expected) {
  for (int r = 0; r < o.rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const double wanted = expected(r, c), found = number(got[static_cast<std::ptrdiff_t>(r) * columns + c]);
      const bool near = wanted == found || (wanted != wanted && found != found) ||
                        std::fabs(found - wanted) <= tolerance<T>() * (1 + std::fabs(wanted));
      if (!near) {
        CAPTURE(what, o.rows, o.n, r, c, wanted, found);
        REQUIRE(near);
      }
    }
}

template <class T>
std::vector<double> row_of(const operands<T>& o, int r) {
  std::vector<double> row;
  for (int c = 0; c < o.n; ++c) row.push_back(o.at(r, c));
  return row;
}

/// A row as layer normalization leaves it.
inline std::vector<double> normalized(std::vector<double> row, double epsilon) {
  long double mean = 0, variance = 0;
  for (double v : row) mean += v;
  mean /= static_cast<long double>(row.size());
  for (double v : row) variance += (v - mean) * (v - mean);
  variance /= static_cast<long double>(row.size());
  for (double& v : row) v = static_cast<double>((v - mean) / std::sqrt(variance + epsilon));
  return row;
}

template <class E, class Scale, class Shift>
auto normalization(const E& e, const Scale& by, const Shift& plus) {
  const auto centred = e - mean<-1>(e, keep_extents);
  return centred * rsqrt(mean<-1>(square(centred), keep_extents) + 0.125f) * by + plus;
}

template <class T>
void check(session& sess, int rows, int n) {
  const operands<T> o(rows, n);
  {
    const auto got =
        sess.run(softmax(x<T> * weight<T> + shift<T>), x<T> = o.values, weight<T> = o.weights, shift<T> = o.shifts);
    REQUIRE(got.shape() == o.values.shape());
    std::vector<double> row;
    double m = 0, s = 0;
    compare("softmax of a map", o, got.data(), n, [&](int r, int c) {
      if (c == 0) {
        row = row_of(o, r);
        for (int k = 0; k < n; ++k)
          row[static_cast<std::size_t>(k)] =
              row[static_cast<std::size_t>(k)] * number(o.weights.data()[r]) + number(o.shifts.data()[k]);
        m = greatest(row);
        s = sum_of_powers(row, m);
      }
      return std::exp(row[static_cast<std::size_t>(c)] - m) / s;
    });
  }
  {
    const auto got =
        sess.run(normalization(x<T>, scale<T>, shift<T>), x<T> = o.values, scale<T> = o.scales, shift<T> = o.shifts);
    std::vector<double> row;
    compare("layer normalization", o, got.data(), n, [&](int r, int c) {
      if (c == 0) row = normalized(row_of(o, r), 0.125);
      return row[static_cast<std::size_t>(c)] * number(o.scales.data()[c]) + number(o.shifts.data()[c]);
    });
  }
  {
    const auto got = sess.run(sum<-1>(log_softmax(x<T>) * scale<T>), x<T> = o.values, scale<T> = o.scales);
    REQUIRE(got.size() == static_cast<std::size_t>(rows));
    for (int r = 0; r < rows; ++r) {
      const std::vector<double> row = row_of(o, r);
      const double m = greatest(row), rest = n > 0 ? std::log(sum_of_powers(row, m)) : 0;
      double sum = 0, size = 1;  // what is added may cancel
      for (int c = 0; c < n; ++c) {
        const double term = (row[static_cast<std::size_t>(c)] - m - rest) * number(o.scales.data()[c]);
        sum += term;
        size += std::fabs(term);
      }
      CAPTURE(rows, n, r, sum);
      REQUIRE(std::fabs(number(got.data()[r]) - sum) <= tolerance<T>() * size);
    }
  }
}

/// Programs of one type in rows of all lengths.
template <class T>
void check_lengths(session& sess) {
  for (int n = 1; n <= 70; ++n) check<T>(sess, 3, n);
  for (int n : {127, 128, 129, 255, 256, 257, 1000, 5000}) check<T>(sess, 7, n);
  for (int n : {1, 5, 33}) check<T>(sess, 300, n);
  check<T>(sess, 0, 5);
  check<T>(sess, 4, 0);
  check<T>(sess, 1, 70000);
}

TEST_CASE("rows of float of every length", "[rows]") {
  for (int threads : {1, 2, 4}) {
    session sess{{.cpu_threads = threads}};
    check_lengths<float>(sess);
  }
}
TEST_CASE("rows of double of every length", "[rows]") {
  for (int threads : {1, 3}) {
    session sess{{.cpu_threads = threads}};
    check_lengths<double>(sess);
  }
}
TEST_CASE("rows of half and bfloat16 of every length", "[rows]") {
  for (int threads : {1, 3}) {
    session sess{{.cpu_threads = threads}};
    check_lengths<half>(sess);
    check_lengths<bfloat16>(sess);
  }
}

TEST_CASE("one long row is the work of all threads", "[rows]") {
  for (int threads : {1, 3}) {
    session sess{{.cpu_threads = threads}};
    check<float>(sess, 2, 500000);
    check<half>(sess, 1, 300001);
  }
}

constexpr auto y = placeholder<"y", float, dyn, dyn>;
constexpr auto stack = placeholder<"stack", float, 2, 3, 4, 5>;
constexpr auto whole = placeholder<"whole", std::int32_t, dyn, dyn>;

TEST_CASE("rows of views", "[rows]") {
  session sess;
  for (int rows : {1, 5, 40})
    for (int n : {1, 17, 64, 300}) {
      const operands<float> o(rows, n);
      tensor<float, dyn, dyn> turned({n, rows});
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < n; ++c) turned(c, r) = o.values(r, c);
      const auto wanted = sess.run(normalization(y, scale<float>, shift<float>), y = o.values, scale<float> = o.scales,
                                   shift<float> = o.shifts);
      const auto got = sess.run(normalization(transpose(y), scale<float>, shift<float>), y = turned,
                                scale<float> = o.scales, shift<float> = o.shifts);
      REQUIRE(wanted.size() == got.size());
      bool same = true;
      for (std::size_t k = 0; k < got.size(); ++k) same = same && wanted.data()[k] == got.data()[k];
      CHECK(same);
    }
  tensor<float, 2, 3, 4, 5> values;
  std::uint64_t k = 0;
  for (float& v : values) v = static_cast<float>(pseudo_random(++k));
  const auto got = sess.run(softmax(permute<2, 0, 3, 1>(stack) + 1.0f), stack = values);
  double worst = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 5; ++c) {
        double sum = 0;
        for (int d = 0; d < 3; ++d) sum += std::exp(static_cast<double>(values(b, d, a, c)));
        for (int d = 0; d < 3; ++d)
          worst = std::fmax(worst, std::fabs(static_cast<double>(got(a, b, c, d)) -
                                             std::exp(static_cast<double>(values(b, d, a, c))) / sum));
      }
  CHECK(worst < 1e-6);
}

TEST_CASE("infinities and NaN stay in their rows", "[rows]") {
  session sess;
  const auto inf = static_cast<float>(infinity), nan = static_cast<float>(not_a_number);
  for (int n : {3, 16, 17, 64, 100, 300}) {
    const auto with = [n](float first, float last) {
      tensor<float, dyn, dyn> t({2, n});
      for (float& v : t) v = 1;
      t(0, 0) = first;
      t(0, n - 1) = last;
      return t;
    };
    const auto check_rows = [&](const tensor<float, dyn, dyn>& t, float first, float middle) {
      const auto got = sess.run(softmax(y + 1.0f), y = t);
      const auto log = sess.run(log_softmax(y), y = t);
      const auto is = [](float a, float b) { return a == b || (a != a && b != b) || std::fabs(a - b) < 1e-6f; };
      CAPTURE(n, got(0, 0), got(0, 1), first, middle);
      CHECK(is(got(0, 0), first));
      CHECK(is(got(0, 1), middle));
      CHECK(is(log(0, 1), std::log(middle)));
      for (int c = 0; c < n; ++c) CHECK(is(got(1, c), 1 / static_cast<float>(n)));
    };
    check_rows(with(-inf, -inf), 0, 1 / static_cast<float>(n - 2));
    check_rows(with(nan, 1), nan, nan);
    check_rows(with(1, nan), nan, nan);
    check_rows(with(inf, 1), nan, nan);
    tensor<float, dyn, dyn> none({1, n});
    for (float& v : none) v = -inf;
    const auto got = sess.run(softmax(y + 1.0f), y = none);
    CHECK(got(0, 0) != got(0, 0));
    // Maxima that a program asks for show NaN.
    const auto shown = sess.run(y - max<-1>(y, keep_extents), y = with(nan, 1));
    CHECK(shown(0, 1) != shown(0, 1));
    CHECK(shown(1, 1) == 0);
    const auto low = sess.run(y - min<-1>(y, keep_extents), y = with(1, -inf));
    CHECK(low(0, 0) == inf);
  }
  // Far below the greatest, exponentials are 0 or too small to matter.
  tensor<float, dyn, dyn> steep({1, 64});
  for (int c = 0; c < 64; ++c) steep(0, c) = -4.0f * static_cast<float>(c);
  const auto got = sess.run(softmax(y + 1.0f), y = steep);
  double sum = 0;
  for (int c = 0; c < 64; ++c) sum += std::exp(-4.0 * c);
  for (int c = 0; c < 21; ++c) CHECK(static_cast<double>(got(0, c)) == Approx(std::exp(-4.0 * c) / sum).epsilon(3e-6));
  for (int c = 30; c < 64; ++c) CHECK(got(0, c) == 0);
}

TEST_CASE("integers and truth values in rows", "[rows]") {
  session sess;
  tensor<std::int32_t, dyn, dyn> t({3, 70});
  std::int32_t k = 0;
  for (std::int32_t& v : t) v = (k++ * 37) % 101 - 50;
  const auto got =
      sess.run(where(whole == max<-1>(whole, keep_extents), whole - sum<-1>(whole, keep_extents), whole), whole = t);
  for (int r = 0; r < 3; ++r) {
    std::int32_t most = -1000, sum = 0;
    for (int c = 0; c < 70; ++c) {
      most = t(r, c) > most ? t(r, c) : most;
      sum += t(r, c);
    }
    for (int c = 0; c < 70; ++c) CHECK(got(r, c) == (t(r, c) == most ? t(r, c) - sum : t(r, c)));
  }
}

TEST_CASE("rows that turn out to be of other lengths", "[rows]") {
  // One unknown extent is taken for another that it meets; where it is not, the operations run one by one.
  session sess;
  tensor<float, dyn, dyn> wide({2, 3}), narrow({2, 1});
  for (int k = 0; k < 6; ++k) wide.data()[k] = static_cast<float>(k);
  narrow(0, 0) = 10;
  narrow(1, 0) = 20;
  constexpr auto program = y + x<float> - sum<-1>(x<float>, keep_extents);
  static_assert(plan_of(program).kernels == 1);
  const auto got = sess.run(program, y = wide, x<float> = narrow);
  for (int k = 0; k < 6; ++k) CHECK(got.data()[k] == static_cast<float>(k));
  const auto other = sess.run(program, y = narrow, x<float> = wide);
  CHECK(other(1, 2) == 20.0f + 5.0f - 12.0f);
}

TEST_CASE("row kernels on simulated GPUs, whole and split", "[rows]") {
  for (int gpus : {1, 2, 3}) {
    session_options options;
    options.allow_soft_placement = true;
    options.simulated_gpus = gpus;
    session sess{options};
    const operands<float> o(9, 50);
    const auto wanted = session{}.run(normalization(y, scale<float>, shift<float>), y = o.values,
                                      scale<float> = o.scales, shift<float> = o.shifts);
    const auto same = [&](const auto& got) {
      for (std::size_t k = 0; k < got.size(); ++k)
        if (std::fabs(got.data()[k] - wanted.data()[k]) > 1e-5f) return false;
      return true;
    };
    CHECK(same(sess.run(on<gpu<0>>(normalization(y, scale<float>, shift<float>)), y = o.values, scale<float> = o.scales,
                        shift<float> = o.shifts)));
    // A guard pulls the kernel apart: the mean on one device, the rest on another.
    const auto split = [&] {
      const auto mean_there = [&] {
        device_guard there{"/cpu:0"};
        return mean<-1>(y, keep_extents);
      }();
      const auto centred = y - mean_there;
      return centred * rsqrt(mean<-1>(square(centred), keep_extents) + 0.125f) * scale<float> + shift<float>;
    };
    device_guard here{"/gpu:0"};
    CHECK(same(sess.run(split(), y = o.values, scale<float> = o.scales, shift<float> = o.shifts)));
    const auto parts = [&] {
      device_guard there{gpus > 1 ? "/gpu:1" : "/cpu:0"};
      return softmax(y);
    }();
    const auto doubled = sess.run(parts * 2.0f, y = o.values);
    const auto plain = sess.run(softmax(y), y = o.values);
    for (std::size_t k = 0; k < plain.size(); ++k)
      CHECK(doubled.data()[k] == Approx(2 * plain.data()[k]).epsilon(1e-5));
  }
}

TEST_CASE("values that are kept between stages", "[rows]") {
  session sess;
  for (int n : {5, 64, 333}) {
    const operands<float> o(6, n);
    // Two dear values, of which each is used by two stages.
    const auto a = tanh(y);
    const auto b = exp(a - mean<-1>(a, keep_extents));
    const auto got = sess.run(a * b / sum<-1>(b, keep_extents) + max<-1>(b, keep_extents), y = o.values);
    for (int r = 0; r < 6; ++r) {
      std::vector<double> first, second;
      double mean = 0, sum = 0, most = -infinity;
      for (int c = 0; c < n; ++c) first.push_back(std::tanh(o.at(r, c)));
      for (double v : first) mean += v / n;
      for (double v : first) second.push_back(std::exp(v - mean));
      for (double v : second) sum += v;
      for (double v : second) most = std::fmax(most, v);
      for (int c = 0; c < n; ++c) {
        const auto k = static_cast<std::size_t>(c);
        CHECK(static_cast<double>(got(r, c)) == Approx(first[k] * second[k] / sum + most).epsilon(1e-5));
      }
    }
  }
}

}  // namespace
