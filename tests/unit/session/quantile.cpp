// SPDX-License-Identifier: BSL-1.0
// Quantiles: NumPy's results, rows of every length beside a plain sort, and what is not finite.
#include <onto/sort.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "words.hpp"

using namespace onto;
using namespace onto_test;

namespace {

constexpr auto m = placeholder<"m", double, dyn, dyn>;
constexpr auto parts = placeholder<"parts", double, dyn>;

#define WORD(...) words.check(#__VA_ARGS__, sess.run(on<Place>(__VA_ARGS__), x = X, y = Y, q = Q), tolerance)

template <class T, int Rows, int Columns, class Place>
void check_quantiles(session& sess, Place) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-15 : sizeof(T) == 4 ? 1e-6 : 2e-3;
  numpy_words words("quantiles " + numpy_name(element_of<T>), 15, 3);
  constexpr auto x = placeholder<"x", T, Rows, Columns>;
  constexpr auto y = placeholder<"y", T, Rows, Columns>;
  constexpr auto q = placeholder<"q", double, dyn>;
  tensor<T, 3, 4> X, Y;
  tensor<double, 5> Q;
  words.fill("x", X);
  words.fill("y", Y);
  words.fill("q", Q);
  WORD(median(x));
  WORD(median<0>(x));
  WORD(median<-1>(x, keep_extents));
  WORD(median(x, keep_extents));
  WORD(quantile(x, 0.3));
  WORD(quantile<1>(x, 0.9_c));
  WORD(quantile<0>(x, 1.0 / 3));
  WORD(quantile<1>(x, 0, keep_extents));
  WORD(quantile(x, q));
  WORD(quantile<0>(x, q));
  WORD(quantile<1>(x, q));
  WORD(quantile<1>(x, q, keep_extents));
  WORD(quantile(x, q, keep_extents));
  words.check("median<1>(y)", sess.run(on<Place>(median<1>(y)), y = Y));  // exactly
  words.check("median(y)", sess.run(on<Place>(median(y)), y = Y));
}

/// A quantile of `n` elements a step apart, beside a plain sort.
double between(std::vector<double> v, double part) {
  std::sort(v.begin(), v.end());
  const double place = part * static_cast<double>(v.size() - 1), before = std::floor(place);
  const double a = v[static_cast<std::size_t>(before)], b = v[static_cast<std::size_t>(std::ceil(place))];
  return a + (b - a) * (place - before);
}

}  // namespace

TEST_CASE("quantiles are NumPy's", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_quantiles<float, 3, 4>(sess, cpu<0>{});
  check_quantiles<double, dyn, dyn>(sess, gpu<0>{});
  check_quantiles<half, 3, dyn>(sess, cpu<0>{});
}

TEST_CASE("quantiles of rows and columns of every length", "[session]") {
  session sess{{.cpu_threads = 2}};
  const std::vector<double> wanted{0, 0.1, 0.5, 0.77, 1};
  for (const int n : {1, 2, 3, 10, 101, 5000}) {
    INFO(n);
    tensor<double, dyn, dyn> t({4, n});
    std::uint32_t k = static_cast<std::uint32_t>(n);
    for (auto& v : t) v = static_cast<double>((k = k * 1664525u + 1013904223u) >> 8) / 1000;
    const auto rows = sess.run(quantile<1>(m, parts), m = t, parts = wanted);
    const auto columns = sess.run(quantile<0>(transpose(m), parts), m = t, parts = wanted);
    CHECK(rows == columns);
    const auto middle = sess.run(median<1>(m), m = t);
    for (int r = 0; r < 4; ++r) {
      const std::vector<double> row(t.begin() + r * n, t.begin() + (r + 1) * n);
      CHECK(middle(r) == Approx(between(row, 0.5)));
      for (int p = 0; p < 5; ++p) CHECK(rows(p, r) == Approx(between(row, wanted[static_cast<std::size_t>(p)])));
    }
  }
}

TEST_CASE("the part of a quantile is from 0 to 1", "[session]") {
  session sess;
  const tensor<double, dyn> t{3, 1, 2};
  CHECK_THROWS_WITH(quantile(m, 1.5), Catch::Contains("[onto.number] quantile: a part of the elements is from 0 to 1"));
  CHECK_THROWS_AS(quantile(m, -0.1), invalid_argument_error);
  CHECK_THROWS_AS(quantile(m, NAN), invalid_argument_error);
  // Where the run knows the part, there is nothing to be found there, also of elements that are one number.
  const std::vector<double> beside{-1, 95, NAN, 0.5, 1};
  for (const tensor<double, dyn>& of : {t, tensor<double, dyn>{2, 2, 2}}) {
    const auto got = evaluate(quantile(of, beside));
    CHECK((std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[2])));
    CHECK(got[3] == 2);
    CHECK(got[4] == of[0]);
  }
  CHECK_THROWS_AS(sess.run(median<1>(m), m = tensor<double, dyn, dyn>({2, 0})), invalid_argument_error);
}

TEST_CASE("between two equal infinities a quantile is that infinity, and between others nothing", "[session]") {
  const double inf = INFINITY;
  CHECK(evaluate(quantile(tensor<double, 3>{1, -inf, -inf}, 0.25)) == -inf);
  CHECK(evaluate(quantile(tensor<double, 3>{inf, 1, inf}, 0.75_c)) == inf);
  CHECK(evaluate(quantile(tensor<double, 2>{inf, 2}, 0.0)) == 2);
  CHECK(evaluate(median(tensor<double, 3>{inf, 1, 2})) == 2);
  CHECK(std::isnan(static_cast<double>(evaluate(median(tensor<double, 2>{inf, -inf})))));
}

TEST_CASE("data has quantiles, and they have gradients", "[session]") {
  session sess;
  const tensor<double, dyn> t{4, 1, 3, 2};
  CHECK(evaluate(median(t)) == tensor<double>(2.5));
  CHECK(evaluate(quantile<0>(t, 0.25, keep_extents)) == tensor<double, 1>{1.75});
  CHECK(evaluate(median(std::vector<float>{5, 1, 3})) == tensor<float>(3));
  CHECK(evaluate(quantile(t, {0.25, 0.5})) == tensor<double, 2>{1.75, 2.5});
  CHECK(evaluate(quantile<0>(t * 2_c, {0, 1.0}, keep_extents)) == tensor<double, 2, 1>{{2}, {8}});
  CHECK_THROWS_AS(quantile(t, {0.25, 25}), invalid_argument_error);
  constexpr auto x = placeholder<"x", double, 4>;
  CHECK(get<0>(sess.run(gradients(median(x), x), x = t)) == tensor<double, 4>{0, 0, 0.5, 0.5});
  CHECK(get<0>(sess.run(gradients(quantile(x, 0.25_c), x), x = t)) == tensor<double, 4>{0, 0.25, 0, 0.75});
  // Between equal elements, too, and none of it by infinities that are equal.
  const tensor<double, 4> equal{0, 2, 2, 5};
  CHECK(sess.run(gradient(median(x), x), x = equal) == tensor<double, 4>{0, 0.5, 0.5, 0});
  CHECK(sess.run(gradient(median(x * x), x), x = equal) == tensor<double, 4>{0, 2, 2, 0});
  CHECK(sess.run(gradient(quantile(x, 0.5), x), x = equal) == tensor<double, 4>{0, 0.5, 0.5, 0});
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(sess.run(median(x), x = {1, inf, inf, inf}) == inf);
  CHECK(sess.run(gradient(median(x), x), x = {1, inf, inf, inf}) == tensor<double, 4>{0, 1, 0, 0});
}
