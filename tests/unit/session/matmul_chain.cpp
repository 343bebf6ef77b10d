// SPDX-License-Identifier: BSL-1.0
// Chains of matrix products that are computed in another order than they are written: their values, their places.
#include <onto/onto.hpp>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", double, 7, 5>;
constexpr auto b = placeholder<"b", double, 5, 9>;
constexpr auto third = placeholder<"c", double, 9, 2>;
constexpr auto x = placeholder<"x", double, 2, 1>;

template <int M, int N>
tensor<double, M, N> values(int seed) {
  tensor<double, M, N> t;
  for (double& v : t) v = static_cast<double>((seed = (seed * 37 + 11) % 101) - 50) / 16;
  return t;
}

const auto A = values<7, 5>(1);
const auto B = values<5, 9>(2);
const auto C = values<9, 2>(3);
const auto X = values<2, 1>(4);

/// The product in the order it is written, in double: with these values nothing is rounded.
tensor<double, 7, 1> written() {
  session sess;
  const tensor<double, 7, 9> ab = sess.run(matmul(a, b), a = A, b = B);
  constexpr auto d = placeholder<"d", double, 7, 9>;
  const tensor<double, 7, 2> abc = sess.run(matmul(d, third), d = ab, third = C);
  constexpr auto e = placeholder<"e", double, 7, 2>;
  return sess.run(matmul(e, x), e = abc, x = X);
}

bool equal(const tensor<double, 7, 1>& p, const tensor<double, 7, 1>& q) {
  for (std::size_t k = 0; k < 7; ++k)
    if (p.data()[k] != q.data()[k]) return false;
  return true;
}

}  // namespace

TEST_CASE("a chain of products has the value it is written for, in whatever order it is computed", "[session]") {
  session sess;
  const auto expected = written();
  CHECK(equal(sess.run(matmul(matmul(matmul(a, b), third), x), a = A, b = B, third = C, x = X), expected));
  CHECK(equal(sess.run(matmul(a, matmul(matmul(b, third), x)), a = A, b = B, third = C, x = X), expected));
  CHECK(equal(sess.run(matmul(matmul(a, b), matmul(third, x)), a = A, b = B, third = C, x = X), expected));
  const auto transposed = sess.run(matmul(matmul(transpose(x), transpose(third)), matmul(transpose(b), transpose(a))),
                                   a = A, b = B, third = C, x = X);
  for (int k = 0; k < 7; ++k) CHECK(transposed(0, k) == expected(k, 0));
}

TEST_CASE("two chains of one run, with a sum after one of them", "[session]") {
  session sess;
  constexpr auto y = placeholder<"y", double, 1>;
  const auto expected = written();
  const auto [p, q] = sess.run(
      fetches(matmul(matmul(matmul(a, b), third), x) + y, matmul(matmul(transpose(x), transpose(third)), transpose(b))),
      a = A, b = B, third = C, x = X, y = tensor<double, 1>{1});
  for (int k = 0; k < 7; ++k) CHECK(p(k, 0) == expected(k, 0) + 1);
  const auto bcx = sess.run(matmul(b, matmul(third, x)), b = B, third = C, x = X);
  for (int k = 0; k < 5; ++k) CHECK(q(0, k) == bcx(k, 0));
}

TEST_CASE("the products of a chain stay where their guards have them", "[session]") {
  session_options o;
  o.simulated_gpus = 2;
  o.allow_soft_placement = true;
  session sess(o);
  REQUIRE(sess.devices().size() == 3);
  const auto expected = written();
  const auto guarded = [] {
    device_guard outer("/gpu:0");
    const auto inner = [] {
      device_guard g("/gpu:1");
      return matmul(a, b);
    }();
    return matmul(matmul(inner, third), x);
  }();
  CHECK(equal(sess.run(guarded, a = A, b = B, third = C, x = X), expected));
  int on[2] = {};
  for (const placement_entry& entry : sess.placement(guarded).nodes)
    if (entry.operation == "MatMul") ++on[entry.assigned.to_string().back() - '0'];
  CHECK(on[0] == 2);
  CHECK(on[1] == 1);
}
