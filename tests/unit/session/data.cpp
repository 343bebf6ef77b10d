// SPDX-License-Identifier: BSL-1.0
// Data itself in expressions: what has a name is read when the program runs, a temporary is kept.
#include <cmath>
#include <onto/onto.hpp>
#include <onto/tensor/shared_tensor.hpp>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn>;
constexpr auto w = variable<"w", float, 2>;
using row = tensor<float, dyn>;

row made(float first, float second) { return {first, second}; }

// Operators on the standard's own types alone are not ours.
template <class L, class R>
concept can_add = requires(const L& l, const R& r) {
  l + r;
};
static_assert(!can_add<std::vector<float>, std::vector<float>>);
static_assert(!can_add<std::vector<float>, float>);
static_assert(can_add<std::vector<float>, decltype(x)>);
static_assert(can_add<row, float>);
static_assert(!can_add<row, const char*>);
static_assert(!can_add<std::vector<float>, const char*>);
static_assert(!detail::data<std::vector<bool>> && detail::other_data<std::vector<bool>>);
static_assert(!detail::other_data<row> && !detail::other_data<float> && !detail::other_data<std::string>);

// The element type and static extents are in the type.
using four = std::array<int, 4>&;
static_assert(decltype(detail::leaf_of(std::declval<four>()))::facts.shape == extents(shape<4>{}));
static_assert(decltype(detail::leaf_of(std::declval<four>()))::facts.type == element::int32);

}  // namespace

TEST_CASE("Tensors, vectors, arrays and spans stand in expressions", "[data]") {
  session sess;
  const row t{1, 2};
  const std::vector<float> v{3, 4};
  const std::array<float, 2> a{5, 6};
  const std::span<const float> s(v);
  CHECK(sess.run(t + 2 * x, x = {10, 20}) == row{21, 42});
  CHECK(sess.run(x * v, x = {10, 20}) == row{30, 80});
  CHECK(sess.run(a - x, x = {1, 1}) == tensor<float, 2>{4, 5});
  CHECK(sess.run(s / t) == row{3, 2});
  CHECK(sess.run(0.5 * t) == row{0.5f, 1});
  CHECK(sess.run(t * 3_c) == row{3, 6});
  CHECK(sess.run(maximum(t, 1.5)) == row{1.5f, 2});
  CHECK(sess.run(where(x > t, v, 0), x = {2, 2}) == row{3, 0});
  CHECK(sess.run(concat<0>(t, v)) == row{1, 2, 3, 4});
  CHECK(sess.run(tensor_ref<float, dyn>(v) * x, x = {1, 2}) == row{3, 8});
}

TEST_CASE("A shared tensor is kept by the expression it stands in", "[data]") {
  const std::vector<float> v{3, 4};
  const auto doubled = [] {
    const shared_tensor<float, dyn> m(row{1, 2});
    return m * 2;
  }();
  CHECK(evaluate(doubled) == row{2, 4});
  const shared_tensor<float, 2> m(tensor<float, 2>{1, 2});
  CHECK(evaluate(v + m) == tensor<float, 2>{4, 6});
  CHECK(evaluate(sum(m)) == tensor<float>(3));
  CHECK(evaluate(x * m, x = v) == tensor<float, 2>{3, 8});
  CHECK(evaluate(cast<int>(-m)) == tensor<int, 2>{-1, -2});
}

TEST_CASE("A constant temporary is kept by the expression it stands in", "[data]") {
  const auto made = []() -> const tensor<float, 2> { return {3, 4}; };
  const auto of_one = sum(made());
  const auto of_values = softmax(made());
  const auto of_two = maximum(made(), x);
  const auto of_any = concat<0>(x, made());
  const tensor<float, 2> other{-1, -2};  // where the memory may be used again
  CHECK(evaluate(of_one) == tensor<float>(7));
  CHECK(evaluate(argmax(of_values)) == tensor<std::int64_t>(1));
  CHECK(evaluate(of_two, x = {5, 1}) == tensor<float, 2>{5, 4});
  CHECK(evaluate(of_any, x = other) == tensor<float, 4>{-1, -2, 3, 4});
}

TEST_CASE("Functions take data", "[data]") {
  session sess;
  const tensor<float, 2, 2> m{{1, 2}, {3, 4}};
  CHECK(sess.run(matmul(m, m)) == tensor<float, 2, 2>{{7, 10}, {15, 22}});
  CHECK(sess.run(transpose(m)) == tensor<float, 2, 2>{{1, 3}, {2, 4}});
  CHECK(sess.run(+m) == m);
  CHECK(sess.run(sum<1>(m)) == tensor<float, 2>{3, 7});
  CHECK(sess.run(max<0>(m, keep_extents)) == tensor<float, 1, 2>{{3, 4}});
  CHECK(sess.run(cast<int>(sqrt(square(m)))) == tensor<int, 2, 2>{{1, 2}, {3, 4}});
  CHECK(sess.run(slice<1, 2>(m)) == tensor<float, 1, 2>{{3, 4}});
  CHECK(sess.run(slice<range<1, 2>, range<0, 1>>(m)) == tensor<float, 1, 1>{{3}});
  CHECK(sess.run(reshape<4>(m)) == tensor<float, 4>{1, 2, 3, 4});
  CHECK(sess.run(clip(m, 2, 3)) == tensor<float, 2, 2>{{2, 2}, {3, 3}});
  CHECK(sess.run(flip<0>(m)) == tensor<float, 2, 2>{{3, 4}, {1, 2}});
  CHECK(sess.run(var<0>(m)) == tensor<float, 2>{1, 1});
  const std::vector<float> v{3, 1, 2};
  CHECK(sess.run(concat<0>(v, v, reshape<4>(m))) == tensor<float, dyn>{3, 1, 2, 3, 1, 2, 1, 2, 3, 4});
  CHECK(evaluate(one_hot<3>(std::vector<std::uint8_t>{2, 0, 255})) ==
        tensor<float, 3, 3>{{0, 0, 1}, {1, 0, 0}, {0, 0, 0}});
  CHECK(evaluate(one_hot<2, double>(tensor<std::int64_t, 2>{-1, 1})) == tensor<double, 2, 2>{{0, 0}, {0, 1}});
  const row some{5, 6};
  CHECK(evaluate(zeros_like(some) + ones_like(some) * 2_c) == row{2, 2});
}

TEST_CASE("Words take two of the standard's own types", "[data]") {
  const std::vector<float> v{1, 4}, u{3, 2};
  const std::array<float, 2> a{2, 2};
  CHECK(evaluate(maximum(v, u)) == row{3, 4});
  CHECK(evaluate(minimum(v, 2)) == row{1, 2});
  CHECK(evaluate(matmul(v, u)) == tensor<float>(11));
  CHECK(evaluate(pow(v, a)) == tensor<float, 2>{1, 16});
  CHECK(evaluate(mod(u, a)) == tensor<float, 2>{1, 0});
  CHECK(evaluate(atan2(v, v))(0) == std::atan2(1.0f, 1.0f));
}

TEST_CASE("Data with a name is read when the program runs", "[data]") {
  session sess;
  row t{1, 2};
  const auto e = x + t;
  const auto step = sess.prepare(e);
  CHECK(sess.run(e, x = {0, 0}) == row{1, 2});
  t(1) = 5;
  CHECK(sess.run(e, x = {0, 0}) == row{1, 5});
  CHECK(step(x = {1, 0}) == row{2, 5});
  t = row{7, 8, 9};  // other memory, and another shape
  CHECK(sess.run(e, x = {0, 0, 0}) == row{7, 8, 9});
  CHECK(step(x = {1, 0, 0}) == row{8, 8, 9});
  CHECK_THROWS_AS(step(x = {1, 0}), invalid_argument_error);
}

TEST_CASE("A temporary is kept as long as the expression", "[data]") {
  session sess;
  const auto e = [] { return x * made(2, 3) + std::vector<float>{1, 1}; }();
  CHECK(sess.run(e, x = {1, 1}) == row{3, 4});
  const auto copy = e;
  CHECK(sess.run(copy, x = {2, 2}) == row{5, 7});
  CHECK(sess.run(made(1, 2) * made(3, 4)) == row{3, 8});
  CHECK(sess.run(exp(made(0, 0))) == row{1, 1});
}

TEST_CASE("Two tensors of equal type and values are two, one used twice is one", "[data]") {
  session sess{{.simulated_gpus = 1}};
  row t{1, 2}, u{1, 2};
  const auto apart = (x + t) * (x + u), once = (x + t) * (x + t);
  CHECK(sess.run(apart, x = {1, 1}) == row{4, 9});
  const auto step = sess.prepare(apart);
  CHECK(step(x = {1, 1}) == row{4, 9});
  u = {0, 0};
  CHECK(sess.run(apart, x = {1, 1}) == row{2, 3});
  CHECK(step(x = {1, 1}) == row{2, 3});
  CHECK(sess.run(once, x = {1, 1}) == row{4, 9});
}

TEST_CASE("A tensor that was moved from is refused", "[data]") {
  session sess;
  tensor<float, 2> t{1, 2};
  const auto e = t * 2;
  const tensor<float, 2> other(std::move(t));
  CHECK_THROWS_AS(sess.run(e), failed_precondition_error);
  t = {3, 4};
  CHECK(sess.run(e) == tensor<float, 2>{6, 8});
}

TEST_CASE("Variables are assigned data", "[data]") {
  session sess;
  const std::vector<float> v{1, 2};
  sess.run(assign(w, v));
  sess.run(assign_add(w, tensor<float, 2>{1, 1}));
  CHECK(sess.run(w) == tensor<float, 2>{2, 3});
}

TEST_CASE("Tensors themselves are compared as values", "[data]") {
  const row t{1, 2}, u{1, 2};
  const bool equal = t == u;
  CHECK(equal);
  session sess;
  CHECK(sess.run(x == t, x = {1, 3}) == tensor<bool, dyn>{true, false});
}

TEST_CASE("A tensor beside anything but tensors of its kind is compared element by element", "[data]") {
  const row t{1, 2}, u{1, 3};
  const std::vector<float> v{5, 2};
  CHECK((t != u && !(t == u) && t == row{1, 2}));
  CHECK(evaluate(t == 2) == tensor<bool, dyn>{false, true});
  CHECK(evaluate(2 != t) == tensor<bool, dyn>{true, false});
  CHECK(evaluate(t == v) == tensor<bool, dyn>{false, true});
  CHECK(evaluate((constant(t) == u) & (t > 0)) == tensor<bool, dyn>{true, false});
  CHECK(evaluate(t == tensor<float>(1.f)) == tensor<bool, dyn>{true, false});
  static_assert(std::equality_comparable<row>);
}

TEST_CASE("A nested list of another shape names the placeholder that it was fed to", "[data]") {
  constexpr auto m = placeholder<"m", float, 2, 2>;
  CHECK_THROWS_WITH(evaluate(m, m = {{1, 2, 3}, {4, 5, 6}}),
                    Catch::Contains("[onto.tensor]") && Catch::Contains("'m'"));
  CHECK(evaluate(m, m = {{1, 2}, {3, 4.5}}) == tensor<float, 2, 2>{{1, 2}, {3, 4.5}});
}

TEST_CASE("A number that is fed is one the element type holds", "[data]") {
  constexpr auto level = placeholder<"level", std::uint8_t>;
  constexpr auto choice = placeholder<"choice", bool>;
  constexpr auto small = placeholder<"small", half>;
  for (const int fits : {0, 7, 255}) CHECK(evaluate(cast<int>(level), level = fits) == fits);
  for (const std::int64_t lost : {-1ll, 256ll, 1ll << 40})
    CHECK_THROWS_WITH(evaluate(level, level = lost),
                      Catch::Contains("[onto.tensor] a value is outside") && Catch::Contains("'level'"));
  CHECK_THROWS_WITH(evaluate(choice, choice = 2), Catch::Contains("[onto.tensor] a value is outside"));
  CHECK(evaluate(choice, choice = 1) == true);
  CHECK(evaluate(small, small = 0.5) == half(0.5f));
  CHECK_THROWS_WITH(tensor<std::uint8_t>(300), Catch::Contains("[onto.tensor] a value is outside"));
  const int lost = 300;
  CHECK_THROWS_WITH((variable<"v", std::uint8_t, 2>(lost)), Catch::Contains("[onto.tensor] a value is outside"));
  CHECK_THROWS_WITH((variable<"v", std::uint8_t>(lost)), Catch::Contains("[onto.tensor] a value is outside"));
}

TEST_CASE("results of rank 0 are numbers among numbers, and operands beside tensors", "[session]") {
  session sess;
  constexpr auto v = placeholder<"v", float, dyn>;
  const auto sum_of = sess.run(sum(v), v = {1.f, 2.f}), greatest = sess.run(max(v), v = {1.f, 2.f});
  CHECK((sum_of > greatest && greatest < sum_of && sum_of >= 3.f && sum_of != greatest));
  const double total = sum_of + greatest * 2.f - sum_of / greatest;
  CHECK(total == 5.5);
  CHECK(-sum_of == -3.f);
  CHECK(evaluate(sum(sum_of)) == tensor<float>(3));
  CHECK(evaluate(max(greatest)) == tensor<float>(2));
  CHECK(std::sqrt(sum_of * 3.f) == 3.f);
  const tensor<float, 3> t = {1, 2, 3};
  CHECK(evaluate(t * sum_of + greatest * t) == tensor<float, 3>{5, 10, 15});
}

struct scaled : elementwise<> {
  static constexpr std::string_view name = "Scaled";
  template <class T>
  ONTO_HD static T apply(T a, T b) {
    return a * b;
  }
};

TEST_CASE("results of rank 0 stand beside the standard's own types", "[data]") {
  const std::vector<float> v{1, 2, 3};
  const auto m = evaluate(mean(v));
  CHECK(evaluate(v * m) == tensor<float, dyn>{2, 4, 6});
  CHECK(evaluate((m - v) / 2.0f) == tensor<float, dyn>{0.5f, 0, -0.5f});
  CHECK(evaluate(v == m) == tensor<bool, dyn>{false, true, false});
  const float twice = m * m / 2.0f + m;  // and two of them are numbers
  CHECK(twice == 4.0f);
}

TEST_CASE("words that C++ has no function of take a tensor of rank 0", "[data]") {
  session sess;
  const tensor<float> total = sess.run(sum(constant({1.f, -3.f})));
  CHECK(evaluate(relu(total)) == tensor<float>(0));
  CHECK(evaluate(sign(total)) == tensor<float>(-1));
  CHECK(evaluate(square(total)) == tensor<float>(4));
  CHECK(evaluate(sigmoid(tensor<float>(0))) == tensor<float>(0.5f));
  CHECK(evaluate(rsqrt(square(total))) == tensor<float>(0.5f));
  CHECK(evaluate(gelu(tensor<float>(0))) == tensor<float>(0));
  CHECK(evaluate(tensor<float, 2>{1, 2} * square(total)) == tensor<float, 2>{4, 8});
}

TEST_CASE("a tensor of rank 0 stands where a word takes a number", "[data]") {
  session sess;
  const tensor<float> two(2.f);
  const tensor<onto::half> part(onto::half(0.5f));
  const tensor<float, 3> t{1, 2, 3};
  constexpr auto v = placeholder<"v", float, 3>;
  CHECK(sess.run(clip(v, 0, two), v = t) == tensor<float, 3>{1, 2, 2});
  CHECK(evaluate(clip(t, two, 2.5f)) == tensor<float, 3>{2, 2, 2.5f});
  CHECK(sess.run(full_like(v, two)) == tensor<float, 3>{2, 2, 2});
  CHECK(evaluate(fill<float, 3>(two)) == tensor<float, 3>{2, 2, 2});
  CHECK(evaluate(fill<float, 3>(part)) == tensor<float, 3>{0.5f, 0.5f, 0.5f});
  CHECK(evaluate(linspace<float, 3>(0, two)) == tensor<float, 3>{0, 1, 2});
  CHECK(sess.run(pad<padding<1>>(v, two), v = t) == tensor<float, 5>{2, 1, 2, 3, 2});
  CHECK(evaluate(pad<padding<1>>(t, two)) == tensor<float, 5>{2, 1, 2, 3, 2});
  CHECK(sess.run(call<scaled>(v, two), v = t) == tensor<float, 3>{2, 4, 6});
  CHECK(evaluate(call<scaled>(t, 2)) == tensor<float, 3>{2, 4, 6});
  CHECK_THROWS_AS((fill<std::int8_t, 3>(tensor<int>(300))), invalid_argument_error);
}

TEST_CASE("a tensor of rank 0 is a seed and a learning rate, which runs read", "[data]") {
  session sess;
  tensor<int> seed(3);
  const auto numbers = random_uniform<float, 4>(seed);
  CHECK(sess.run(numbers) == evaluate(random_uniform<float, 4>(3)));
  seed = 4;
  CHECK(sess.run(numbers) == evaluate(random_uniform<float, 4>(4)));
  CHECK(evaluate(random_normal<float, 4>(seed)) == evaluate(random_normal<float, 4>(4)));

  const auto u = variable<"u", float, 2>({1, 2});
  tensor<double> rate(0.25);
  const auto step = minimize(sgd{}, learning_rate(rate), sum(u * u));
  sess.initialize(step);
  sess.run(step);
  CHECK(sess.run(u) == tensor<float, 2>{0.5f, 1});
  rate = 0.5;
  sess.run(step);
  CHECK(sess.run(u) == tensor<float, 2>{0, 0});
  const auto by_number = minimize(sgd{.rate = rate}, sum(u * u));
  sess.run(assign(u, 2));
  sess.run(by_number);
  CHECK(sess.run(u) == tensor<float, 2>{0, 0});
}

TEST_CASE("Variables are assigned values in braces", "[data]") {
  session sess;
  constexpr auto m = variable<"m", float, 2, 2>;
  constexpr auto k = variable<"k", onto::half, dyn>;
  sess.run(assign(w, {1, 2.5}));
  sess.run(assign_add(w, {1, 1}));
  sess.run(assign_sub(on<cpu<0>>(w), {0, 0.5f}));
  sess.run(assign(m, {{1, 2}, {3, 4}}));
  sess.run(assign(k, {1, 2, 3}));
  CHECK(sess.run(w) == tensor<float, 2>{2, 3});
  CHECK(sess.run(m) == tensor<float, 2, 2>{{1, 2}, {3, 4}});
  CHECK(sess.run(sum(cast<float>(k))) == 6);
  CHECK_THROWS_AS(assign(w, {1, 2, 3}), invalid_argument_error);
}

TEST_CASE("Braces of the placeholder's own elements are fed", "[data]") {
  session sess;
  constexpr auto h = placeholder<"h", onto::half, dyn>;
  constexpr auto g = placeholder<"g", bfloat16, dyn, dyn>;
  CHECK(sess.run(sum(cast<float>(h)), h = {onto::half(1), onto::half(2)}) == 3);
  CHECK(sess.run(sum(cast<float>(g)), g = {{bfloat16(1), bfloat16(2)}, {bfloat16(3), bfloat16(4)}}) == 10);
}
