// SPDX-License-Identifier: BSL-1.0
// Words made of reductions and products compute what NumPy computes in double.
#include "words.hpp"

using namespace onto;
using namespace onto_test;

namespace {

/// The first row of a matrix.
template <class E>
constexpr auto row(const E& x) {
  return squeeze<0>(slice<0, 1>(x));
}

#define WORD(...) words.check(#__VA_ARGS__, sess.run(on<Place>(__VA_ARGS__), x = X, y = Y), tolerance)

template <class T, int Rows, int Columns, class Place>
void check_computed(session& sess, Place) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-15 : sizeof(T) == 4 ? 1e-6 : 2e-3;
  numpy_words words("computed " + numpy_name(element_of<T>), 19);
  constexpr auto x = placeholder<"x", T, Rows, Columns>;
  constexpr auto y = placeholder<"y", T, Rows, Columns>;
  tensor<T, 3, 4> X, Y;
  words.fill("x", X);
  words.fill("y", Y);
  WORD(var(x));
  WORD(var<0>(x));
  WORD(var<-1>(x, keep_extents));
  WORD(stddev(x));
  WORD(stddev<1>(x));
  WORD(norm(x));
  WORD(norm<0>(x, keep_extents));
  WORD(logsumexp(x));
  WORD(logsumexp<0>(x));
  WORD(logsumexp<1>(x, keep_extents));
  words.check("linspace<T, 7>(-1, 2)", sess.run(on<Place>(linspace<T, 7>(-1, 2))), tolerance);
  words.check("linspace<T, 1>(3, 4)", sess.run(on<Place>(linspace<T, 1>(3, 4))), tolerance);
  WORD(matmul(x, row(y)));
  WORD(matmul(row(transpose(x)), y));
  WORD(matmul(row(x), row(y)));
  WORD(dot(row(x), row(y)));
  WORD(dot(x, transpose(y)));
  WORD(matmul(stack(x, y), row(y)));
  WORD(matmul(row(transpose(x)), stack(x, y)));
}

}  // namespace

TEST_CASE("words made of reductions and products compute what NumPy computes", "[session]") {
  session sess{{.simulated_gpus = 1}};
  check_computed<float, 3, 4>(sess, cpu<0>{});
  check_computed<double, dyn, dyn>(sess, gpu<0>{});
  check_computed<half, 3, 4>(sess, gpu<0>{});
}

TEST_CASE("logsumexp neither overflows nor loses infinity", "[session]") {
  session sess;
  constexpr auto x = placeholder<"x", double, dyn>;
  const double inf = HUGE_VAL;
  const auto of = [&](const tensor<double, dyn>& X) { return double(sess.run(logsumexp(x), x = X)); };
  CHECK(of(tensor<double, 2>{1000, 1000}) == Approx(1000 + std::log(2)));
  CHECK(of(tensor<double, 2>{-1000, -1000}) == Approx(-1000 + std::log(2)));
  CHECK(of(tensor<double, 2>{-inf, 3}) == Approx(3));
  CHECK(of(tensor<double, 2>{-inf, -inf}) == -inf);
  CHECK(of(tensor<double, 2>{inf, 3}) == inf);
  CHECK(std::isnan(of(tensor<double, 2>{NAN, 3})));
}

TEST_CASE("vectors of different lengths have no product, though one has length 1", "[session]") {
  session sess;
  constexpr auto v = placeholder<"v", float, dyn>;
  constexpr auto w = placeholder<"w", float, dyn>;
  CHECK_THROWS_AS(sess.run(dot(v, w), v = tensor<float, 1>{2}, w = tensor<float, 3>{1, 2, 3}), invalid_argument_error);
}
