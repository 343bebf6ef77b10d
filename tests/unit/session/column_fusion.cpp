// SPDX-License-Identifier: BSL-1.0
// Kernels of rows that lie along another axis than the last compute what their operations say: columns of memory, of
// every number and length, and axes in the middle.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../catch.hpp"

namespace {

using namespace onto;

template <class T>
constexpr auto x = placeholder<"x", T, dyn, dyn, dyn>;
template <class T>
constexpr auto by_row = placeholder<"by_row", T, dyn, 1>;  // of each element of a column
template <class T>
constexpr auto by_column = placeholder<"by_column", T, dyn>;

template <class T>
double number(T v) {
  return static_cast<double>(static_cast<computed_t<element_of<T>>>(v));
}
template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 2e-14 : std::is_same_v<T, float> ? 4e-6 : std::is_same_v<T, half> ? 4e-3 : 3e-2;
}
template <class Tensor>
void fill_with_numbers(Tensor& t, std::uint64_t k) {
  using T = typename Tensor::element_type;
  for (T& v : t) v = static_cast<T>(static_cast<float>((++k * 2654435761u >> 7) % 1009) / 126.0f - 4.0f);
}

/// A matrix for each outer index, of whose columns the functions are.
template <class T>
struct columns {
  tensor<T, dyn, dyn, dyn> values;
  tensor<T, dyn, 1> rows;
  tensor<T, dyn> across;
  int outer, n, width;

  columns(int o, int rows_of, int w)
      : values({o, rows_of, w}), rows({rows_of, 1}), across({w}), outer(o), n(rows_of), width(w) {
    fill_with_numbers(values, 1);
    fill_with_numbers(rows, 2);
    fill_with_numbers(across, 3);
  }
  /// Where a column begins; its rows are `width` apart.
  std::size_t first(int o, int c) const {
    return static_cast<std::size_t>(o) * static_cast<std::size_t>(n * width) + static_cast<std::size_t>(c);
  }
  std::vector<double> column(int o, int c) const {
    std::vector<double> v(static_cast<std::size_t>(n));
    std::size_t at = first(o, c);
    for (double& e : v) {
      e = number(values.data()[at]);
      at += static_cast<std::size_t>(width);
    }
    return v;
  }
  /// Compares a result with `expected(column, row, across)` for each column of the operand.
  template <class Got, class Expected>
  void compare(const char* what, const Got& got, const Expected& expected) const {
    REQUIRE(got.size() == values.size());
    double worst = 0;
    for (int o = 0; o < outer; ++o)
      for (int c = 0; c < width; ++c) {
        const std::vector<double> wanted = expected(column(o, c), c);
        std::size_t at = first(o, c);
        for (const double w : wanted) {
          const double f = number(got.data()[at]);
          at += static_cast<std::size_t>(width);
          if (!(w == f || (w != w && f != f)))
            worst = std::fmax(worst, w != w || f != f ? 1e9 : std::fabs(w - f) / (1 + std::fabs(w)));
        }
      }
    CAPTURE(what, outer, n, width, worst);
    CHECK(worst <= tolerance<T>());
  }
};

std::vector<double> normalized(std::vector<double> v) {
  long double mean = 0, variance = 0;
  for (double e : v) mean += e;
  mean /= static_cast<long double>(v.size());
  for (double e : v) variance += (e - mean) * (e - mean);
  variance /= static_cast<long double>(v.size());
  for (double& e : v) e = static_cast<double>((e - mean) / std::sqrt(variance + 0.125L));
  return v;
}
std::vector<double> powers(std::vector<double> v) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double e : v) most = e > most || e != e ? e : most;
  for (double& e : v) sum += e = std::exp(e - most);
  for (double& e : v) e /= sum;
  return v;
}

template <class E>
constexpr auto normalization(const E& e) {
  const auto centred = e - mean<1>(e, keep_extents);
  return centred * rsqrt(mean<1>(square(centred), keep_extents) + 0.125_c);
}
template <class E>
constexpr auto powers_of(const E& e) {
  const auto p = exp(e - max<1>(e, keep_extents));
  return p / sum<1>(p, keep_extents);
}

template <class T>
void check(session& sess, int outer, int n, int width) {
  const columns<T> o(outer, n, width);
  constexpr auto scaled = normalization(x<T>) * by_row<T> + by_column<T>;
  static_assert(plan_of(scaled).kernels == 1 && plan_of(powers_of(x<T>)).kernels == 1);
  o.compare("layer normalization", sess.run(scaled, x<T> = o.values, by_row<T> = o.rows, by_column<T> = o.across),
            [&](std::vector<double> v, int c) {
              v = normalized(v);
              for (std::size_t r = 0; r < v.size(); ++r)
                v[r] = v[r] * number(o.rows.data()[r]) + number(o.across.data()[c]);
              return v;
            });
  if (n > 0)  // of no elements there is no maximum
    o.compare("softmax written out", sess.run(powers_of(x<T>), x<T> = o.values),
              [](std::vector<double> v, int) { return powers(std::move(v)); });
  o.compare("softmax", sess.run(softmax<1>(x<T>), x<T> = o.values),
            [](std::vector<double> v, int) { return powers(std::move(v)); });
  o.compare("softmax of a map",
            sess.run(softmax<1>(x<T> * by_row<T> + by_column<T>), x<T> = o.values, by_row<T> = o.rows,
                     by_column<T> = o.across),
            [&](std::vector<double> v, int c) {
              for (std::size_t r = 0; r < v.size(); ++r)
                v[r] = v[r] * number(o.rows.data()[r]) + number(o.across.data()[c]);
              return powers(std::move(v));
            });
  const auto got = sess.run(sum<1>(abs(x<T> - mean<1>(x<T>, keep_extents))), x<T> = o.values);
  REQUIRE(got.size() == static_cast<std::size_t>(outer * width));
  double worst = 0;
  for (int k = 0; k < outer * width && n > 0; ++k) {
    const std::vector<double> v = o.column(k / width, k % width);
    double mean = 0, sum = 0;
    for (double e : v) mean += e / n;
    for (double e : v) sum += std::fabs(e - mean);
    worst = std::fmax(worst, std::fabs(number(got.data()[k]) - sum) / (1 + sum));
  }
  CAPTURE(outer, n, width, worst);
  CHECK(worst <= tolerance<T>());
}

template <class T>
void check_shapes(session& sess) {
  for (int width : {1, 2, 3, 7, 10, 16, 33, 64, 100, 129}) check<T>(sess, 2, 37, width);
  for (int n : {1, 2, 8, 15, 16, 17, 200}) check<T>(sess, 3, n, 5);
  check<T>(sess, 1, 700, 10);
  check<T>(sess, 1, 5, 1300);  // several blocks, the last a part
  check<T>(sess, 2, 40, 1040);
  check<T>(sess, 0, 5, 5);
  check<T>(sess, 2, 0, 5);
  check<T>(sess, 2, 5, 0);
}

TEST_CASE("columns of every number and length", "[rows][columns]") {
  for (int threads : {1, 3}) {
    session sess{{.cpu_threads = threads}};
    check_shapes<float>(sess);
    check_shapes<half>(sess);
    if (threads == 1) continue;
    check_shapes<double>(sess);
    check_shapes<bfloat16>(sess);
  }
}

TEST_CASE("few long columns are the work of all threads", "[rows][columns]") {
  for (int threads : {1, 3}) {
    session sess{{.cpu_threads = threads}};
    check<float>(sess, 1, 60000, 3);
    check<float>(sess, 1, 20000, 33);
    check<half>(sess, 1, 20001, 1);
    check<double>(sess, 2, 30000, 7);
  }
}

TEST_CASE("results past the caches, and kept values in them", "[rows][columns]") {
  session sess;
  check<float>(sess, 1, 1024, 4096);
  check<float>(sess, 1, 4100, 1000);
}

constexpr auto y = placeholder<"y", float, dyn, dyn>;
constexpr auto z = placeholder<"z", float, dyn, dyn>;

TEST_CASE("the first axis need not be kept", "[rows][columns]") {
  session sess;
  tensor<float, dyn, dyn> t({50, 6});
  fill_with_numbers(t, 5);
  constexpr auto standard = (y - mean<0>(y)) / (max<0>(abs(y)) + 1_c);
  static_assert(plan_of(standard).kernels == 1);
  const auto got = sess.run(standard, y = t);
  for (int c = 0; c < 6; ++c) {
    double mean = 0, most = 0;
    for (int r = 0; r < 50; ++r)
      mean += static_cast<double>(t(r, c)) / 50, most = std::fmax(most, std::fabs(static_cast<double>(t(r, c))));
    for (int r = 0; r < 50; ++r)
      CHECK(static_cast<double>(got(r, c)) == Approx((static_cast<double>(t(r, c)) - mean) / (most + 1)).margin(1e-6));
  }
}

TEST_CASE("columns of views are brought, also of one whose columns are rows of memory", "[rows][columns]") {
  session sess;
  for (int n : {1, 17, 64, 300})
    for (int width : {1, 5, 40, 300}) {
      tensor<float, dyn, dyn> straight({n, width}), turned({width, n});
      fill_with_numbers(straight, 7);
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < width; ++c) turned(c, r) = straight(r, c);
      constexpr auto of = [](const auto& e) { return (e - mean<0>(e)) * rsqrt(mean<0>(square(e)) + 0.125_c); };
      const auto wanted = sess.run(of(y), y = straight);
      CHECK(sess.run(of(transpose(y)), y = turned) == wanted);
      tensor<float, dyn, dyn> wide({n, 2 * width});
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < width; ++c) wide(r, 2 * c) = straight(r, c);
      CHECK(sess.run(of(slice<range<>, range<0, to_end, 2>>(y)), y = wide) == wanted);
    }
}

TEST_CASE("infinities and NaN stay in their columns", "[rows][columns]") {
  session sess;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (int n : {3, 16, 100, 300})
    for (int width : {2, 20, 300}) {
      tensor<float, dyn, dyn> t({n, width});
      for (float& v : t) v = 1;
      t(0, 0) = nan;
      t(n - 1, 1) = -inf;
      const auto soft = sess.run(softmax<0>(y * 2_c), y = t);
      const auto written = sess.run(exp(y - max<0>(y)) / sum<0>(exp(y - max<0>(y))), y = t);
      const auto alone = sess.run(log_softmax<0>(y), y = t);
      for (const auto* got : {&soft, &written}) {
        for (int r = 0; r < n; ++r) CHECK(std::isnan((*got)(r, 0)));
        CHECK((*got)(n - 1, 1) == 0);
        CHECK((*got)(0, 1) == Approx(1.0f / static_cast<float>(n - 1)));
        for (int c = 2; c < width; ++c) CHECK((*got)(n / 2, c) == Approx(1.0f / static_cast<float>(n)));
      }
      CHECK(std::isnan(alone(1, 0)));
      CHECK(alone(n - 1, 1) == -inf);
      const auto shown = sess.run(y - max<0>(y), y = t);
      CHECK(std::isnan(shown(1, 0)));
      CHECK(shown(n - 1, 1) == -inf);
      CHECK(shown(0, width - 1) == 0);
    }
}

TEST_CASE("integers and truth values in columns", "[rows][columns]") {
  constexpr auto whole = placeholder<"whole", std::int32_t, dyn, dyn>;
  session sess;
  tensor<std::int32_t, dyn, dyn> t({70, 3});
  std::int32_t k = 0;
  for (std::int32_t& v : t) v = (k++ * 37) % 101 - 50;
  constexpr auto program = where((whole == max<0>(whole)) | all<0>(whole < 0_c), whole - sum<0>(whole), whole);
  static_assert(plan_of(program).kernels == 1);
  const auto got = sess.run(program, whole = t);
  for (int c = 0; c < 3; ++c) {
    std::int32_t most = -1000, sum = 0;
    for (int r = 0; r < 70; ++r) most = t(r, c) > most ? t(r, c) : most, sum += t(r, c);
    for (int r = 0; r < 70; ++r) CHECK(got(r, c) == (t(r, c) == most ? t(r, c) - sum : t(r, c)));
  }
}

TEST_CASE("columns that turn out to be others", "[rows][columns]") {
  // One unknown extent is taken for another that it meets; where it is not, the operations run one by one.
  session sess;
  tensor<float, dyn, dyn> tall({3, 2}), flat({1, 2});
  for (int k = 0; k < 6; ++k) tall.data()[k] = static_cast<float>(k);
  flat(0, 0) = 10;
  flat(0, 1) = 20;
  constexpr auto program = y + z - sum<0>(z);
  static_assert(plan_of(program).kernels == 1);
  const auto got = sess.run(program, y = tall, z = flat);
  for (int k = 0; k < 6; ++k) CHECK(got.data()[k] == static_cast<float>(k));
  const auto other = sess.run(program, y = flat, z = tall);
  CHECK(other(2, 1) == 20.0f + 5.0f - 9.0f);
}

TEST_CASE("numbers of generators are those of their elements, columns or not", "[rows][columns]") {
  session sess;
  constexpr auto s = placeholder<"s", float, 40, 12>;
  tensor<float, 40, 12> t;
  for (float& v : t) v = 1;
  constexpr auto counted = reshape<40, 12>(cast<float>(iota<std::int32_t, 480>()));
  const auto got = sess.run((s + random_uniform<float, 40, 12>(3_c)) / sum<0>(s), s = t);
  const auto noise = sess.run(random_uniform<float, 40, 12>(3_c));
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(got.data()[k] == Approx((1 + noise.data()[k]) / 40));
  const auto numbers = sess.run(s * counted - sum<0>(s), s = t);
  for (std::size_t k = 0; k < numbers.size(); ++k) CHECK(numbers.data()[k] == static_cast<float>(k) - 40);
}

TEST_CASE("two kept values, of which one is in columns of the result that are apart", "[rows][columns]") {
  constexpr int n = 70000, width = 40;
  session sess;
  tensor<float, dyn, dyn> t({n, width});
  fill_with_numbers(t, 13);
  constexpr auto a = tanh(y);
  constexpr auto b = exp(a - mean<0>(a));
  const auto got = sess.run(a * b / sum<0>(b) + max<0>(b), y = t);
  double worst = 0;
  for (int c = 0; c < width; ++c) {
    double mean = 0, sum = 0, most = 0;
    for (int r = 0; r < n; ++r) mean += std::tanh(static_cast<double>(t(r, c))) / n;
    const auto second = [&](int r) { return std::exp(std::tanh(static_cast<double>(t(r, c))) - mean); };
    for (int r = 0; r < n; ++r) sum += second(r), most = std::fmax(most, second(r));
    for (int r = 0; r < n; ++r)
      worst = std::fmax(worst, std::fabs(static_cast<double>(got(r, c)) - most -
                                         std::tanh(static_cast<double>(t(r, c))) * second(r) / sum));
  }
  CHECK(worst < 1e-5);
}

TEST_CASE("programs of rows and of columns", "[rows][columns]") {
  session sess;
  tensor<float, dyn, dyn> t({20, 30});
  fill_with_numbers(t, 11);
  // Values that are kept between stages, two of them; into a variable that is read.
  constexpr auto a = tanh(y);
  constexpr auto b = exp(a - mean<0>(a));
  const auto got = sess.run(a * b / sum<0>(b) + max<0>(b), y = t);
  for (int c = 0; c < 30; ++c) {
    double mean = 0, sum = 0, most = 0;
    std::vector<double> first, second;
    for (int r = 0; r < 20; ++r) first.push_back(std::tanh(static_cast<double>(t(r, c)))), mean += first.back() / 20;
    for (double v : first) second.push_back(std::exp(v - mean));
    for (double v : second) sum += v, most = std::fmax(most, v);
    for (std::size_t r = 0; r < 20; ++r)
      CHECK(static_cast<double>(got(static_cast<int>(r), c)) ==
            Approx(first[r] * second[r] / sum + most).epsilon(1e-5));
  }
  constexpr auto w = variable<"w", float, 20, 30>(0_c);
  constexpr auto fed = placeholder<"fed", float, 20, 30>;
  tensor<float, 20, 30> u;
  fill_with_numbers(u, 11);
  (void)sess.run(assign(w, fed), fed = u);
  const auto changed = sess.run(assign(w, w - mean<0>(w)));
  const auto once_more = sess.run(named<"w now">(w));
  CHECK(changed == once_more);
  double sum = 0;
  for (int r = 0; r < 20; ++r) sum += static_cast<double>(changed(r, 4));
  CHECK(sum == Approx(0).margin(1e-5));
  // In rows and in columns.
  const auto both = sess.run(softmax<0>(softmax(y)), y = t);
  for (int c = 0; c < 30; ++c) {
    double all = 0;
    for (int r = 0; r < 20; ++r) all += static_cast<double>(both(r, c));
    CHECK(all == Approx(1));
  }
  // Evaluated in line.
  tensor<float, 3, 2> small{{1, 2}, {3, 4}, {8, 6}};
  constexpr auto at_once = placeholder<"at_once", float, 3, 2>;
  CHECK(evaluate(at_once - mean<0>(at_once), at_once = small) == tensor<float, 3, 2>{{-3, -2}, {-1, 0}, {4, 2}});
}

TEST_CASE("kernels of columns on simulated GPUs, whole and split", "[rows][columns]") {
  for (int gpus : {1, 2}) {
    session_options options;
    options.allow_soft_placement = true;
    options.simulated_gpus = gpus;
    session sess{options};
    const columns<float> o(2, 50, 9);
    const auto wanted = session{}.run(normalization(x<float>), x<float> = o.values);
    const auto same = [&](const auto& got) {
      for (std::size_t k = 0; k < got.size(); ++k)
        if (std::fabs(got.data()[k] - wanted.data()[k]) > 1e-5f) return false;
      return true;
    };
    CHECK(same(sess.run(on<gpu<0>>(normalization(x<float>)), x<float> = o.values)));
    // A guard pulls the kernel apart: the mean on one device, the rest on another.
    const auto split = [&] {
      const auto mean_there = [&] {
        device_guard there{"/cpu:0"};
        return mean<1>(x<float>, keep_extents);
      }();
      const auto centred = x<float> - mean_there;
      return centred * rsqrt(mean<1>(square(centred), keep_extents) + 0.125_c);
    };
    device_guard here{"/gpu:0"};
    CHECK(same(sess.run(split(), x<float> = o.values)));
    const auto parts = [&] {
      device_guard there{gpus > 1 ? "/gpu:1" : "/cpu:0"};
      return softmax<1>(x<float>);
    }();
    const auto doubled = sess.run(parts * 2.0f, x<float> = o.values);
    const auto plain = sess.run(softmax<1>(x<float>), x<float> = o.values);
    for (std::size_t k = 0; k < plain.size(); ++k)
      CHECK(doubled.data()[k] == Approx(2 * plain.data()[k]).epsilon(1e-5));
  }
}

}  // namespace
