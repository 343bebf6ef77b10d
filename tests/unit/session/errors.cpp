// SPDX-License-Identifier: BSL-1.0
// What is wrong with the data of a run is said in a sentence: operation, operands, shapes; and the session goes on.
#include <onto/onto.hpp>

#include <string>
#include <utility>
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
          "them, or keep a reduced axis: sum<1>(x, keep_extents); "
          "operands: a [2, 3], b [3, 2]");
    CHECK(of(matmul(a, b), matrix({2, 3}), matrix({2, 3})) ==
          "[onto.shape] MatMul (MatMul): columns of the left and rows of the right differ; transpose one with "
          "transpose(x), or make columns of a batch's vectors with expand_dims<-1>(x); "
          "operands: a [2, 3], b [2, 3]");
    CHECK(of(concat<0>(a, b), matrix({2, 3}), matrix({2, 4})).find("operands: a [2, 3], b [2, 4]") !=
          std::string::npos);
    CHECK(of(add_n(a, b, a), matrix({2, 3}), matrix({1, 3})).find("AddN (AddN)") != std::string::npos);
    CHECK(of(max<0>(a) + sum<0>(b), matrix({0, 3}), matrix({2, 3}))
              .find("Max (Max): a minimum or maximum over no elements") != std::string::npos);
    CHECK(of(named<"mixed">(exp(a) * b), matrix({2, 3}), matrix({2, 4})).find("[onto.shape] mixed (Mul)") == 0);
    CHECK(of(reshape<7>(a) * sum(b), matrix({2, 3}), matrix({2, 4}))
              .find("Reshape (Reshape): the numbers of elements differ") != std::string::npos);
    CHECK(of(reshape<dyn, 5>(a) * sum(b), matrix({4, 3}), matrix({2, 4})) ==
          "[onto.shape] Reshape (Reshape): the numbers of elements differ; one extent may be dyn to be computed; "
          "operands: a [4, 3]; asked for: [?, 5]");
    CHECK(of(reshape<dyn>(expand_dims<2>(a) * reshape<1, 1, dyn>(b)), matrix({50000, 1}), matrix({50000, 1})) ==
          "[onto.shape] Reshape_2 (Reshape): an axis would have more than 2147483647 elements; leave it as several "
          "axes; operands: Mul [50000, 1, 50000]");
    CHECK(
        of(squeeze<1>(slice<range<>, range<-1, to_end>>(a)) + sum(b), matrix({2, 0}), matrix({2, 4})) ==
        "[onto.shape] StridedSlice (StridedSlice): the axis has fewer elements than are asked for, or than go into it; "
        "ask for fewer, or put fewer in; operands: a [2, 0]; asked for: [2, 1]");
    CHECK(of(reshape<2>(slice<0, 0>(a)) + sum(b), matrix({2, 3}), matrix({2, 4})).find("Reshape (Reshape): the") !=
          std::string::npos);
    CHECK(of(std::get<0>(split<2, 1>(a)) + sum(b), matrix({4, 3}), matrix({2, 4})).find("asked for: [4, 2, ?]") !=
          std::string::npos);
    CHECK(of(matmul(std::get<0>(split<2, 0>(reshape<dyn>(a))), reshape<dyn>(b)), matrix({2, 3}), matrix({1, 5})) ==
          "[onto.shape] MatMul (MatMul): columns of the left and rows of the right differ; transpose one with "
          "transpose(x), or make columns of a batch's vectors with expand_dims<-1>(x); operands: Reshape_2 [3], "
          "Reshape_4 [5]");
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
        "transpose(x), or make columns of a batch's vectors with expand_dims<-1>(x); "
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
  CHECK(refusal([] { (void)(n * (std::int64_t{1} << 40)); }).find("[onto.element]") == 0);
  session sess;
  CHECK(sess.run(sum(n + 2), n = {{1, 2}}) == 7);
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

TEST_CASE("a value of more bytes than a number counts is refused before anything runs, fetched or not", "[session]") {
  // Four axes of 65536 by broadcasting: 2^64 elements of four feeds.
  using line = tensor<float, dyn, dyn, dyn, dyn>;
  constexpr auto p = placeholder<"p", float, dyn, dyn, dyn, dyn>;
  constexpr auto q = placeholder<"q", float, dyn, dyn, dyn, dyn>;
  constexpr auto r = placeholder<"r", float, dyn, dyn, dyn, dyn>;
  constexpr auto s = placeholder<"s", float, dyn, dyn, dyn, dyn>;
  for (const int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    const auto run = [&](const auto& e, int extent) {
      return sess.run(e, p = line({extent, 1, 1, 1}), q = line({1, extent, 1, 1}), r = line({1, 1, extent, 1}),
                      s = line({1, 1, 1, extent}));
    };
    const auto refused = [&](const auto& e) {
      const std::string said = refusal([&] { run(e, 65536); });
      INFO(said);
      CHECK(said.find("[onto.shape] Add_2 (Add): the result has more than 2^63 - 1 bytes, fetched or not; use smaller "
                      "extents; operands: Add_1 [65536, 65536, 65536, 1], s [1, 1, 1, 65536]") == 0);
    };
    constexpr auto big = p + q + r + s;
    refused(sum(big));
    refused(max(big));
    refused(argmax<0>(reshape<-1>(big)));
    refused(mean(big));
    refused(sum(softmax(big)));
    refused(sum(concat<0>(big, big)));
    refused(big);
    refused(sum(slice<range<0, 1>>(big)));
    CHECK(sess.statistics(cpu<0>{}).kernels == 0);
    CHECK(run(sum(big), 3) == 0.0f);
    CHECK(run(sum(big), 0) == 0.0f);
  }
}

TEST_CASE("an extent of 0 makes any value small", "[session]") {
  constexpr auto p = placeholder<"p", float, dyn, dyn, dyn, dyn, dyn>;
  constexpr auto q = placeholder<"q", float, dyn, dyn, dyn, dyn, dyn>;
  using line = tensor<float, dyn, dyn, dyn, dyn, dyn>;
  session sess;
  const line none({65536, 65536, 65536, 65536, 0}), wide({1, 65536, 1, 1, 1});
  CHECK(none.size() == 0);
  CHECK(sess.run(sum(p + q), p = none, q = wide) == 0.0f);
  CHECK(sess.run(transpose(p * 2.0f), p = none).shape() == std::array{0, 65536, 65536, 65536, 65536});
  CHECK(sess.run(p * q, p = line({1, 0, 1, 1, 65536}), q = line({65536, 1, 1, 1, 1})).size() == 0);
  CHECK(sess.run(softmax<0>(p * 2.0f) + 1.0f, p = none).size() == 0);
  CHECK(sess.run(sum<0>(p + q), p = line({65536, 0, 65536, 65536, 65536}), q = line({1, 1, 1, 1, 1})).size() == 0);
  const auto kept = sess.run(sum<0, 1, 3, 4>(p * q), p = line({65536, 65536, 3, 0, 65536}), q = line({1, 1, 1, 1, 1}));
  CHECK(kept == tensor<float, dyn>{0, 0, 0});
}

TEST_CASE("a tensor that was moved from is no feed, no constant and no initial value", "[session]") {
  constexpr auto x = placeholder<"x", float, 2>;
  constexpr auto s = placeholder<"s", float>;
  session sess;
  tensor<float, 2> t{1, 2};
  tensor<float> number = 3.0f;
  const tensor<float, 2> kept = std::move(t);
  const tensor<float> kept_number = std::move(number);
  CHECK(refusal([&] { sess.run(x + x, x = t); }) ==
        "[onto.feed] placeholder 'x' has shape [2] and was fed [0]; feed data of that shape");
  CHECK(refusal([&] { sess.run(s + s, s = number); }) ==
        "[onto.feed] placeholder 's' was fed no values: a null pointer, or a tensor that was moved from");
  CHECK(refusal([&] { sess.run(x + x, x = tensor_ref<float, 2>(static_cast<const float*>(nullptr), {2})); }) ==
        "[onto.feed] placeholder 'x' was fed no values: a null pointer, or a tensor that was moved from");
  CHECK_THROWS_AS(constant(t), failed_precondition_error);
  CHECK_THROWS_AS(constant<"named">(number), failed_precondition_error);
  CHECK_THROWS_AS((variable<"w", float, 2>(t)), failed_precondition_error);
  CHECK(sess.run(x + s, x = kept, s = kept_number) == tensor<float, 2>{4, 5});
}

TEST_CASE("one value in braces feeds a placeholder of rank 1", "[session]") {
  session sess;
  CHECK(sess.run(row + row, row = {1}) == tensor<float, 1>{2});
  CHECK(sess.run(row + row, row = {1.5f}) == tensor<float, 1>{3});
}

TEST_CASE("every message begins with its tag", "[session]") {
  session sess;
  CHECK(refusal([&] { sess.run(a + b, a = matrix({2, 3}), b = matrix({3, 2})); }).find("[onto.shape]") == 0);
  CHECK(refusal([&] { (void)session{{.cpu_threads = -3}}; }) ==
        "[onto.option] cpu_threads is -3; it is 1 to 4096, or 0 for one a core");
}
