// SPDX-License-Identifier: BSL-1.0
// What is added to a product with a vector, in its kernel: of the result's shape, one for all, a view, of extents that
// only the run knows; beside loops in double. The numbers are such that nothing is rounded.
#include <onto/onto.hpp>

#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto m = placeholder<"m", double, 3, 4>;
template <fixed_string Name>
constexpr auto of = placeholder<Name, double, 3, 4>;
constexpr auto r = placeholder<"r", double, 4>;
constexpr auto t = placeholder<"t", double, 3>;
constexpr auto batch = placeholder<"batch", double, 2, 3, 4>;
constexpr auto batch_2 = placeholder<"batch_2", double, 2, 3, 4>;
constexpr auto batch_3 = placeholder<"batch_3", double, 2, 3, 4>;
constexpr auto open = placeholder<"open", double, dyn, dyn>;
constexpr auto open_row = placeholder<"open_row", double, dyn>;
constexpr auto open_addend = placeholder<"open_addend", double, dyn>;

double number(int k) { return static_cast<double>(k * 37 % 101 - 50) / 16; }

/// Another sequence for each `seed`.
template <class Tensor>
Tensor filled(Tensor made, int seed) {
  for (double& v : made) v = number(seed++);
  return made;
}

const auto M = filled(tensor<double, 3, 4>(), 1);
const auto R = filled(tensor<double, 4>(), 20);
const auto T = filled(tensor<double, 3>(), 31);

double product(int row) {
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += M(row, k) * R(k);
  return sum;
}
double from_left(int column) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += T(k) * M(k, column);
  return sum;
}

}  // namespace

TEST_CASE("a vector is added to the product of a matrix and a vector, on either side", "[session]") {
  constexpr auto one = placeholder<"one", double, 1>;
  constexpr auto single = placeholder<"single", double>;
  constexpr auto wide = placeholder<"wide", double, 3, 2>;
  const auto w = filled(tensor<double, 3, 2>(), 7);
  const auto column = squeeze<1>(onto::slice<range<>, range<1, 2>>(wide));
  // Each of another matrix: a product that several read is none's alone.
  const auto all = fetches(matmul(of<"m1">, r) + t, t - matmul(of<"m2">, r), relu(0.5 * matmul(of<"m3">, r) - 2.0 * t),
                           matmul(of<"m4">, r) + one, matmul(of<"m5">, r) - column, matmul(of<"m6">, r) + single,
                           matmul(t, of<"m7">) + r);
  CHECK(plan_of(all).kernels == 7);
  const auto [sum, difference, positive, with_one, of_column, with_number, left] =
      session().run(all, of<"m1"> = M, of<"m2"> = M, of<"m3"> = M, of<"m4"> = M, of<"m5"> = M, of<"m6"> = M,
                    of<"m7"> = M, r = R, t = T, one = {2.5}, single = 1.5, wide = w);
  for (int k = 0; k < 3; ++k) {
    CHECK(sum(k) == product(k) + T(k));
    CHECK(difference(k) == T(k) - product(k));
    const double expected = 0.5 * product(k) - 2 * T(k);
    CHECK(positive(k) == (expected > 0 ? expected : 0));
    CHECK(with_one(k) == product(k) + 2.5);
    CHECK(of_column(k) == product(k) - w(k, 1));
    CHECK(with_number(k) == product(k) + 1.5);
  }
  for (int k = 0; k < 4; ++k) CHECK(left(k) == from_left(k) + R(k));
}

TEST_CASE("what is added to many products with one vector is for all, for each, or for each of them", "[session]") {
  constexpr auto whole = placeholder<"whole", double, 2, 3>;
  constexpr auto each = placeholder<"each", double, 2, 1>;
  const auto many = filled(tensor<double, 2, 3, 4>(), 3);
  const auto added = filled(tensor<double, 2, 3>(), 50);
  const auto two = filled(tensor<double, 2, 1>(), 60);
  const auto all = fetches(matmul(batch, r) + t, matmul(batch_2, r) + each, whole - matmul(batch_3, r));
  CHECK(plan_of(all).kernels == 3);
  const auto [of_all, of_each, of_whole] =
      session().run(all, batch = many, batch_2 = many, batch_3 = many, r = R, t = T, each = two, whole = added);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 3; ++i) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += many(b, i, k) * R(k);
      CHECK(of_all(b, i) == sum + T(i));
      CHECK(of_each(b, i) == sum + two(b, 0));
      CHECK(of_whole(b, i) == added(b, i) - sum);
    }
}

TEST_CASE("extents that only the run knows: an addend that is larger than the product widens it", "[session]") {
  session sess;
  STATIC_REQUIRE(plan_of(matmul(open, open_row) + open_addend).kernels == 1);
  auto step = sess.prepare(matmul(open, open_row) + open_addend);
  for (const int rows : {1, 3, 0, 70})
    for (const int inner : {1, 5, 0, 40})
      for (const int added : {1, rows}) {
        INFO(rows << " x " << inner << ", " << added << " added");
        const auto a = filled(tensor<double, dyn, dyn>({rows, inner}), rows);
        const auto v = filled(tensor<double, dyn>({inner}), inner);
        const auto c = filled(tensor<double, dyn>({added}), 5);
        const auto made = step(open = a, open_row = v, open_addend = c);
        REQUIRE(made.shape()[0] == rows);
        for (int i = 0; i < rows; ++i) {
          double sum = 0;
          for (int k = 0; k < inner; ++k) sum += a(i, k) * v(k);
          CHECK(made(i) == sum + c(added == 1 ? 0 : i));
        }
      }
  const auto widened =
      step(open = filled(tensor<double, dyn, dyn>({1, 2}), 1), open_row = filled(tensor<double, dyn>({2}), 2),
           open_addend = filled(tensor<double, dyn>({4}), 3));
  REQUIRE(widened.shape()[0] == 4);
  for (int i = 0; i < 4; ++i) CHECK(widened(i) == number(1) * number(2) + number(2) * number(3) + number(3 + i));
}

TEST_CASE("the sum of two products with vectors, and a variable that one is subtracted from", "[session]") {
  session sess;
  constexpr auto n = placeholder<"n", double, 3, 3>;
  const auto N = filled(tensor<double, 3, 3>(), 9);
  STATIC_REQUIRE(plan_of(matmul(m, r) + matmul(n, t)).kernels == 2);
  const auto both = sess.run(matmul(m, r) + matmul(n, t), m = M, r = R, n = N, t = T);
  for (int i = 0; i < 3; ++i) {
    double sum = product(i);
    for (int k = 0; k < 3; ++k) sum += N(i, k) * T(k);
    CHECK(both(i) == sum);
  }
  constexpr auto kept = variable<"kept", double, 3>;
  sess.run(assign(kept, t), t = T);
  const auto moved = sess.run(assign_sub(kept, matmul(m, r)), m = M, r = R);
  const auto again = sess.run(kept);
  for (int i = 0; i < 3; ++i) {
    CHECK(moved(i) == T(i) - product(i));
    CHECK(again(i) == moved(i));
  }
}
