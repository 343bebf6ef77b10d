// SPDX-License-Identifier: BSL-1.0
// What is wrong with the data of a run is said in a sentence: operation, operands, shapes; and the session goes on.
#include <onto/onto.hpp>

#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, dyn, dyn>;
constexpr auto b = placeholder<"b", float, dyn, dyn>;
constexpr auto row = placeholder<"row", float, dyn>;
constexpr auto n = placeholder<"n", std::int32_t, dyn, dyn>;

using matrix = tensor<float, dyn, dyn>;

template <class F>
std::string refusal(F run) {
  try {
    run();
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("shapes that do not fit are said with the operation, its operands and both shapes", "[session]") {
  for (const int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    const auto of = [&](const auto& e, matrix l, matrix r) { return refusal([&] { sess.run(e, a = l, b = r); }); };
    CHECK(of(a + b, matrix({2, 3}), matrix({3, 2})) ==
          "[onto.shape] Add (Add): the operands' extents differ and neither is 1; reshape, slice or transpose one of "
          "them; "
          "operands: a [2, 3], b [3, 2]");
    CHECK(of(matmul(a, b), matrix({2, 3}), matrix({2, 3})) ==
          "[onto.shape] MatMul (MatMul): columns of the left and rows of the right differ; transpose one with "
          "transpose(x); "
          "operands: a [2, 3], b [2, 3]");
    CHECK(of(concat<0>(a, b), matrix({2, 3}), matrix({2, 4})).find("operands: a [2, 3], b [2, 4]") !=
          std::string::npos);
    CHECK(of(add_n(a, b, a), matrix({2, 3}), matrix({1, 3})).find("AddN (AddN)") != std::string::npos);
    CHECK(of(max<0>(a) + sum<0>(b), matrix({0, 3}), matrix({2, 3}))
              .find("Max (Max): a minimum or maximum over no elements") != std::string::npos);
    CHECK(of(named<"mixed">(exp(a) * b), matrix({2, 3}), matrix({2, 4})).find("[onto.shape] mixed (Mul)") == 0);
    CHECK(of(reshape<7>(a) * sum(b), matrix({2, 3}), matrix({2, 4}))
              .find("Reshape (Reshape): the numbers of elements differ") != std::string::npos);
    CHECK(sess.statistics(cpu<0>{}).kernels == 0);
    // And it goes on.
    CHECK(sess.run(sum(matmul(a, b)), a = matrix{{1, 2}}, b = matrix{{3}, {4}}) == 11.0f);
  }
}

TEST_CASE("the result of an operation is an operand by its own name", "[session]") {
  session sess;
  CHECK(refusal([&] {
          sess.run(matmul(a, matmul(a, b)), a = matrix({2, 3}), b = matrix({3, 4}));
        }) ==
        "[onto.shape] MatMul_1 (MatMul): columns of the left and rows of the right differ; transpose one with "
        "transpose(x); "
        "operands: a [2, 3], MatMul [2, 4]");
}

TEST_CASE("shapes are checked before anything runs, also where the mistake is last", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const auto late = exp(tanh(a)) + b;
  CHECK_THROWS_AS(sess.run(fetches(sum(a), late), a = matrix({2, 3}), b = matrix({5, 5})), invalid_argument_error);
  CHECK(sess.statistics(gpu<0>{}).transfers == 0);
  CHECK(sess.statistics(gpu<0>{}).kernels == 0);
}

TEST_CASE("extents of 1 and 0 that come at run time broadcast or are empty", "[session]") {
  session sess{{.simulated_gpus = 1}};
  CHECK(sess.run(a + b, a = {{1, 2, 3}}, b = {{10}, {20}}) == matrix{{11, 12, 13}, {21, 22, 23}});
  CHECK(sess.run(a + row, a = {{1}, {2}}, row = {1, 2}) == matrix{{2, 3}, {3, 4}});
  CHECK(sess.run(a + b, a = matrix({0, 3}), b = matrix({1, 3})).shape() == std::array<int, 2>{0, 3});
  CHECK(sess.run(sum(a), a = matrix({0, 3})) == 0.0f);
  CHECK(sess.run(matmul(a, b), a = matrix({2, 0}), b = matrix({0, 2})) == matrix({2, 2}));
  // An addend that turns out to stretch the product is added after it.
  CHECK(sess.run(matmul(a, a) + b, a = matrix{{2}}, b = matrix{{1, 2}, {3, 4}}) == matrix{{5, 6}, {7, 8}});
  CHECK(sess.run(relu(2 * matmul(a, a) - 3 * b), a = matrix{{2}}, b = matrix{{1, 2}, {3, 4}}) ==
        matrix{{5, 2}, {0, 0}});
}

TEST_CASE("a scalar that the element type does not hold is refused where it is written", "[session]") {
  CHECK(refusal([] { (void)(n + 1.5); }).find("[onto.element]") == 0);
  CHECK(refusal([] { (void)(n * (std::int64_t{1} << 40)); }).find("[onto.element]") == 0);
  CHECK(refusal([] { (void)(a + 0.1); }).find("[onto.element]") == 0);
  session sess;
  CHECK(sess.run(sum(n + 2.0), n = {{1, 2}}) == 7);
}

TEST_CASE("a feed of other extents than the placeholder's is refused", "[session]") {
  session sess;
  constexpr auto fixed = placeholder<"fixed", float, 2, dyn>;
  CHECK(
      refusal([&] {
        sess.run(sum(fixed), fixed = matrix({3, 3}));
      }) ==
      "[onto.tensor] shape [3, 3] does not fit a tensor of type shape [2, ?]; change the shape, or make the extent dyn "
      "in the type; it was fed to placeholder 'fixed'");
  CHECK(sess.run(sum(fixed), fixed = matrix{{1, 2, 3}, {1, 2, 3}}) == 12.0f);
}

TEST_CASE("every message begins with its tag", "[session]") {
  session sess;
  CHECK(refusal([&] { sess.run(a + b, a = matrix({2, 3}), b = matrix({3, 2})); }).find("[onto.shape]") == 0);
  CHECK(refusal([&] { (void)session{{.cpu_threads = -3}}; }) ==
        "[onto.option] cpu_threads is -3; it is 1 to 4096, or 0 for one a core");
}
