// SPDX-License-Identifier: BSL-1.0
// Programs without a session, and results in memory of the caller's.
#include <onto/onto.hpp>

#include <array>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn>;
constexpr auto m = placeholder<"m", float, 2, 2>;
using row = tensor<float, dyn>;
using square_matrix = tensor<float, 2, 2>;

}  // namespace

TEST_CASE("evaluate computes without a session", "[evaluate]") {
  const row t{1, 2};
  CHECK(evaluate(t + 2 * x, x = {10, 20}) == row{21, 42});
  CHECK(evaluate(sum(t)) == tensor<float>(3));
  const float total = evaluate(sum(t));
  CHECK(total == 3);
  const auto [twice, half] = evaluate(fetches(2 * t, t / 2));
  CHECK(twice == row{2, 4});
  CHECK(half == row{0.5f, 1});
  CHECK(evaluate(on<cpu<0>>(-t)) == row{-1, -2});
  CHECK_THROWS_AS(evaluate(x + t, x = {1, 2, 3}), invalid_argument_error);
  CHECK(evaluate(x + t, x = {1, 2}) == row{2, 4});
}

TEST_CASE("Results go into tensors, spans, vectors and arrays", "[evaluate]") {
  const square_matrix a{{1, 2}, {3, 4}};
  square_matrix t;
  std::vector<float> v(4);
  std::array<float, 4> s{};
  tensor<float, dyn, dyn> open;
  evaluate_to(t, a + m, m = a);
  evaluate_to(v, a * 3);
  evaluate_to(std::span<float>(s), a * 4);
  evaluate_to(open, a * 5);
  CHECK(t == square_matrix{{2, 4}, {6, 8}});
  CHECK(v == std::vector<float>{3, 6, 9, 12});
  CHECK(s == std::array<float, 4>{4, 8, 12, 16});
  CHECK(open == tensor<float, dyn, dyn>{{5, 10}, {15, 20}});
  evaluate_to(tensor_ref<float, 2, 2>(v), a * 1);
  CHECK(v == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("A result of one element goes into a variable", "[evaluate]") {
  const row t{1, 2, 6};
  float total = 0, mean_of_all = 0;
  std::int64_t at = -1;
  bool any_above = false;
  text longest;
  row twice;
  evaluate_to(total, sum(t));
  CHECK(total == 9);
  evaluate_to(std::tie(mean_of_all, at, any_above), fetches(mean(t), argmax(t), any(t > 5)));
  CHECK(mean_of_all == 3);
  CHECK(at == 2);
  CHECK(any_above);
  session sess;
  sess.run_to(total, max(x), x = t);
  CHECK(total == 6);
  const auto into = sess.prepare(fetches(x * 2, sum(x))).to(std::tie(twice, total));
  for (int k = 1; k < 4; ++k) {
    into(x = row{1, static_cast<float>(k)});
    CHECK(twice == row{2, static_cast<float>(2 * k)});
    CHECK(total == static_cast<float>(1 + k));
  }
  constexpr auto number = placeholder<"number", float>;
  total = 3;
  const auto add = sess.prepare(number + 1).to(total);
  for (int k = 0; k < 3; ++k) add(number = total);  // what is written is read
  CHECK(total == 6);
  sess.run_to(longest, constant(text("of some length, and more than a handle holds")));
  CHECK(longest == text("of some length, and more than a handle holds"));
}

TEST_CASE("An output that fits keeps its memory", "[evaluate]") {
  session sess;
  row t{1, 2};
  const float* const memory = t.data();
  sess.run_to(t, 2 * x, x = {3, 4});
  CHECK(t.data() == memory);
  CHECK(t == row{6, 8});
  const auto step = sess.prepare(x + 1);
  step.to(t)(x = {1, 1});
  CHECK(t.data() == memory);
  CHECK(t == row{2, 2});
  const auto into = step.to(t);
  CHECK(std::is_class_v<decltype(into)>);
  sess.run_to(t, 2 * x, x = {3, 4, 5});  // takes the result's shape
  CHECK(t == row{6, 8, 10});
}

TEST_CASE("Several results have an output each", "[evaluate]") {
  session sess;
  row a;
  tensor<float> b;
  std::vector<float> c(2);
  sess.run_to(std::tie(a, b), fetches(2 * x, sum(x)), x = {1, 2});
  CHECK(a == row{2, 4});
  CHECK(b == 3.0f);
  auto into = sess.prepare(fetches(-x, sum(x))).to(std::tie(c, b));
  into(x = {4, 5});
  CHECK(c == std::vector<float>{-4, -5});
  CHECK(b == 9.0f);
}

TEST_CASE("A program may write what it reads", "[evaluate]") {
  session sess{{.simulated_gpus = 1}};
  square_matrix t{{1, 2}, {3, 4}};
  evaluate_to(t, transpose(t));
  CHECK(t == square_matrix{{1, 3}, {2, 4}});
  evaluate_to(t, matmul(m, t), m = t);
  CHECK(t == square_matrix{{7, 15}, {10, 22}});
  sess.run_to(t, transpose(m) + 1, m = t);
  CHECK(t == square_matrix{{8, 11}, {16, 23}});

  std::vector<float> v(1000);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<float>(k);
  const std::span<float> values(v);
  evaluate_to(values.subspan(1), tensor_ref<float, 999>(values.first(999)) + 0);  // moved up by one
  bool moved = v[0] == 0;
  for (std::size_t k = 1; k < v.size(); ++k) moved = moved && v[k] == static_cast<float>(k - 1);
  CHECK(moved);
}

TEST_CASE("An output that is read may become another shape", "[evaluate]") {
  session sess{{.simulated_gpus = 1}};
  constexpr auto y = placeholder<"y", float, dyn>;
  row t{1, 2, 3};
  evaluate_to(t, concat<0>(x, x), x = t);
  CHECK(t == row{1, 2, 3, 1, 2, 3});
  sess.run_to(t, concat<0>(x, x + 1), x = t);
  CHECK(t == row{1, 2, 3, 1, 2, 3, 2, 3, 4, 2, 3, 4});
  sess.run_to(t, slice<0, 3>(x) * 2, x = t);
  CHECK(t == row{2, 4, 6});
  const auto twice = sess.prepare(concat<0>(x, x));
  twice.to(t)(x = t);
  CHECK(t == row{2, 4, 6, 2, 4, 6});
  row one{5};
  evaluate_to(one, x + y, x = one, y = t);  // a single loop
  CHECK(one == row{7, 9, 11, 7, 9, 11});
  row sums;
  sess.run_to(std::tie(t, sums), fetches(slice<range<1, 3>>(x), concat<0>(x, x) + 1), x = t);
  CHECK(t == row{4, 6});
  CHECK(sums == row{3, 5, 7, 3, 5, 7, 3, 5, 7, 3, 5, 7});
}

TEST_CASE("Large results need no alignment", "[evaluate]") {
  constexpr std::size_t count = std::size_t{1} << 24;
  std::vector<float> memory(count + 1);
  const std::vector<float> ones(count, 1.0f);
  evaluate_to(std::span<float>(memory).subspan(1), x + x, x = ones);
  bool right = memory[0] == 0;
  for (std::size_t k = 1; k <= count; ++k) right = right && memory[k] == 2;
  CHECK(right);
}

TEST_CASE("Outputs that do not fit are refused before anything runs", "[evaluate]") {
  session sess;
  std::vector<float> v(3);
  tensor<float, 3> three;
  row shared{1, 2};
  CHECK_THROWS_WITH(
      sess.run_to(v, x + 1, x = {1, 2}),
      "[onto.run] an output of shape [3] is given for a result of shape [2]; give one of that shape, or as "
      "many elements");
  CHECK_THROWS_AS(sess.run_to(three, x + 1, x = {1, 2}), invalid_argument_error);
  CHECK_THROWS_WITH(sess.run_to(std::tie(shared, shared), fetches(x + 1, x + 2), x = {1, 2}),
                    "[onto.run] two outputs of a run share memory; give each memory of its own");
  CHECK(shared == row{1, 2});
  // Where the results differ in shape, and one tensor would take that of the last.
  CHECK_THROWS_WITH(sess.run_to(std::tie(shared, shared), fetches(concat<0>(x, x), x + 2), x = {1, 2, 3}),
                    "[onto.run] two outputs of a run share memory; give each memory of its own");
  auto both = sess.prepare(fetches(x + 1, x + 2));
  CHECK_THROWS_AS(both.to(std::tie(shared, shared)), invalid_argument_error);
  CHECK_THROWS_AS(evaluate_to(std::tie(shared, shared), fetches(x + 1, x + 2), x = {1}), invalid_argument_error);
  CHECK(shared == row{1, 2});
  sess.run_to(three, x + 1, x = {1, 2, 3});
  CHECK(three == tensor<float, 3>{2, 3, 4});
}

TEST_CASE("a callable into memory of the caller's is called where it is constant", "[session]") {
  session sess;
  static constexpr auto v = placeholder<"v", float, 3>;
  const auto both = sess.prepare(fetches(v + 1_c, v * 2_c));
  std::vector<float> memory(3);
  const std::span<float> view(memory);
  tensor<float, 3> doubled;
  const auto into = both.to(std::tie(view, doubled));
  const auto run_once = [into](const tensor<float, 3>& data) { into(v = data); };
  run_once({1, 2, 3});
  CHECK(memory == std::vector<float>{2, 3, 4});
  CHECK(doubled == tensor<float, 3>{2, 4, 6});
}
