// SPDX-License-Identifier: BSL-1.0
// Concatenations of concatenations are one kernel, which copies each part to where it ends up.
#include <onto/onto.hpp>

#include <string>

#include "catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto y = placeholder<"y", float, dyn, dyn>;

tensor<float, dyn, dyn> numbered(int rows, int columns, float first) {
  tensor<float, dyn, dyn> t({rows, columns});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) t(i, j) = first + static_cast<float>(i * columns + j);
  return t;
}

/// `b` behind `a` along an axis, as two loops have it.
tensor<float, dyn, dyn> joined(int axis, const tensor<float, dyn, dyn>& a, const tensor<float, dyn, dyn>& b) {
  const int rows = a.shape()[0] + (axis == 0 ? b.shape()[0] : 0),
            columns = a.shape()[1] + (axis == 1 ? b.shape()[1] : 0);
  tensor<float, dyn, dyn> t({rows, columns});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      t(i, j) = i < a.shape()[0] && j < a.shape()[1] ? a(i, j)
                : axis == 0                          ? b(i - a.shape()[0], j)
                                                     : b(i, j - a.shape()[1]);
  return t;
}

}  // namespace

TEST_CASE("concatenations inside each other, along the same axis and along others", "[concat]") {
  session sess;
  for (const auto& [rows, columns] : {std::pair{3, 4}, {1, 1}, {0, 2}, {40, 70}}) {
    const auto a = numbered(rows, columns, 1), b = numbered(rows, columns, 1000);
    const auto square = joined(0, joined(1, a, b), joined(1, b, a));
    const auto e = concat<0>(concat<1>(x, y), concat<1>(y, x));
    STATIC_REQUIRE(plan_of(e).kernels == 1);
    CHECK(sess.run(e, x = a, y = b) == square);
    CHECK(evaluate(e, x = a, y = b) == square);
    const auto wide = concat<1>(concat<0>(y, x), e, concat<0>(x, y));
    STATIC_REQUIRE(plan_of(wide).kernels == 1);
    CHECK(sess.run(wide, x = a, y = b) == joined(1, joined(1, joined(0, b, a), square), joined(0, a, b)));
    CHECK(sess.run(concat<0>(x, concat<0>(y, concat<0>(x, y)), y) * 2.f, x = a, y = b) ==
          evaluate(concat<0>(x, y, x, y, y) * 2.f, x = a, y = b));
    // The same concatenation as two parts of another one, and one that is fetched too.
    const auto row = concat<1>(x, y);
    CHECK(sess.run(concat<0>(row, row), x = a, y = b) == joined(0, joined(1, a, b), joined(1, a, b)));
    const auto [alone, both] = sess.run(fetches(row, concat<0>(row, concat<1>(y, x))), x = a, y = b);
    CHECK(alone == joined(1, a, b));
    CHECK(both == square);
  }
}

TEST_CASE("parts of a concatenation that are turned, computed, or of another type", "[concat]") {
  session sess;
  const auto a = numbered(3, 4, 1), b = numbered(4, 3, 50);
  tensor<float, dyn, dyn> expected({3, 12});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 12; ++j) expected(i, j) = j < 4 ? a(i, j) : j < 8 ? b(j - 4, i) : a(i, 3 - (j - 8)) * 2;
  const auto e = concat<1>(concat<1>(x, transpose(y)), flip<1>(x * 2.f));
  CHECK(sess.run(e, x = a, y = b) == expected);

  tensor<bool, dyn> flags{true, false};
  const auto p = placeholder<"p", bool, dyn>;
  CHECK(sess.run(concat<0>(concat<0>(p, !p), p), p = flags) ==
        tensor<bool, dyn>{true, false, false, true, true, false});
  const auto t = placeholder<"t", text, dyn>;
  CHECK(sess.run(concat<0>(t, concat<0>(constant({"b", "c"}), t)), t = {"a long text, which is not kept inside"}) ==
        tensor<text, dyn>{"a long text, which is not kept inside", "b", "c", "a long text, which is not kept inside"});
}

TEST_CASE("guards pull concatenations apart again", "[concat]") {
  session sess{{.simulated_gpus = 2}};
  const auto a = numbered(3, 4, 1), b = numbered(3, 4, 1000);
  const auto square = joined(0, joined(1, a, b), joined(1, b, a));
  const auto upper = [](const char* device) {
    device_guard g{device};
    return concat<1>(x, y);
  };
  CHECK(sess.run(concat<0>(upper("/gpu:1"), concat<1>(y, x)), x = a, y = b) == square);
  CHECK(sess.run(on<cpu<0>>(concat<0>(upper("/gpu:0"), on<gpu<1>>(concat<1>(y, x)))), x = a, y = b) == square);
  CHECK(sess.run(on<gpu<0>>(concat<0>(concat<1>(x, y), concat<1>(y, x))), x = a, y = b) == square);
}

TEST_CASE("of equal types, concatenations that values tell apart", "[concat]") {
  session sess;
  const auto a = numbered(2, 2, 1);
  const auto beside = [](float f) { return concat<1>(x, x * f); };
  CHECK(sess.run(concat<0>(beside(2), beside(2)), x = a)(3, 3) == 8);
  const auto two = sess.run(concat<0>(beside(2), beside(3)), x = a);
  CHECK(two(1, 3) == 8);
  CHECK(two(3, 3) == 12);
}

TEST_CASE("stacks of stacks, and of concatenations, are one kernel", "[concat]") {
  session sess{{.simulated_gpus = 2}};
  const auto outer = stack<0>(stack<0>(x, y), stack<0>(y, x));
  const auto inner = stack<-1>(stack<-1>(x, y), stack<1>(y, x));  // the second puts its axis between those of x
  const auto mixed = concat<0>(concat<1>(x, y), squeeze<0>(stack<0>(concat<1>(y, x))));
  STATIC_REQUIRE(plan_of(outer).kernels == 1);
  STATIC_REQUIRE(plan_of(mixed).kernels == 1);
  const auto pulled = [](const char* device) {
    device_guard g{device};
    return concat<1>(x, y);
  };
  for (const int rows : {0, 1, 3}) {
    const int columns = 2;  // as many as are stacked
    const auto a = numbered(rows, columns, 1), b = numbered(rows, columns, 1000);
    const auto of_outer = sess.run(outer, x = a, y = b);
    const auto of_inner = sess.run(inner, x = a, y = b);
    const auto pulled_apart = sess.run(stack<0>(pulled("/gpu:1"), concat<1>(y, x)), x = a, y = b);
    const auto on_gpu = sess.run(on<gpu<0>>(stack<0>(stack<0>(x, y), stack<0>(y, x))), x = a, y = b);
    CHECK(sess.run(mixed, x = a, y = b) == joined(0, joined(1, a, b), joined(1, b, a)));
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < columns; ++c) {
            const float expected = (i == j ? a : b)(r, c);
            CHECK(of_outer(i, j, r, c) == expected);
            CHECK(pulled_apart(i, r, j * columns + c) == expected);
            CHECK(on_gpu(i, j, r, c) == expected);
            // of_inner(r, c, j, i): where i is 0, j is what was stacked last; where it is 1, that is c.
            CHECK(of_inner(r, c, j, i) == (i == 0 ? (j == 0 ? a : b)(r, c) : (c == 0 ? b : a)(r, j)));
          }
  }
}

TEST_CASE("concatenations of vectors in several axes are parts of others", "[concat]") {
  session s;
  constexpr auto a = placeholder<"a", float, 3>;
  constexpr auto b = placeholder<"b", float, dyn>;
  constexpr auto column = placeholder<"column", float, 2, 1>;
  const tensor<float, 3> first{1, 2, 3};
  const tensor<float, dyn> second{4, 5, 6};
  const tensor<float, 2, 1> beside{{7}, {8}};
  const tensor<float, dyn, dyn> wanted{{1, 2, 3, 7}, {4, 5, 6, 8}};
  const auto run = [&](const auto& e) { return s.run(e, a = first, b = second, column = beside); };
  CHECK(run(concat<1>(reshape<2, 3>(concat<0>(a, a)), column))(1, 0) == 1);
  CHECK(run(concat<1>(reshape<2, 3>(concat<0>(a, b)), column)) == wanted);
  CHECK(run(concat<1>(reshape<2, dyn>(concat<0>(a, b)), column)) == wanted);
  CHECK(run(stack<1>(reshape<2, 3>(concat<0>(a, b)), broadcast_to<2, 3>(column)))(1, 0, 2) == 6);
  CHECK(run(pad<padding<0>, padding<1>>(reshape<2, 3>(concat<0>(a, b))))(1, 3) == 6);
  CHECK(run(concat<0>(reshape<6, 1>(concat<0>(a, b)), column))(4, 0) == 5);
  constexpr auto m = placeholder<"m", float, 2, 3>;
  const auto middle = slice<1, 3>(reshape<4>(slice<range<>, range<0, 2>>(m)));
  CHECK(s.run(gradient(sum(square(middle)), m), m = {{1, 2, 3}, {4, 5, 6}}) ==
        tensor<float, 2, 3>{{0, 4, 0}, {8, 0, 0}});
}

TEST_CASE("of equal types, stacks that values tell apart", "[concat]") {
  session sess;
  const auto a = numbered(2, 2, 1);
  const auto beside = [](float f) { return concat<1>(x, x * f); };
  CHECK(sess.run(stack<0>(beside(2), beside(2)), x = a)(1, 1, 3) == 8);
  const auto two = sess.run(stack<0>(beside(2), beside(3)), x = a);
  CHECK(two(0, 1, 3) == 8);
  CHECK(two(1, 1, 3) == 12);
}
