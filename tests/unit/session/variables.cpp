// SPDX-License-Identifier: BSL-1.0
// Variables: first values, assignments, what a run reads, and that a failure leaves them as they were.
#include <onto/onto.hpp>

#include <array>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "simulated.hpp"

using namespace onto;
using Catch::Matchers::Contains;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto row = placeholder<"row", float, 2>;
constexpr auto w = variable<"w", float, 2, 2>;
constexpr auto b = variable<"b", float, 2>;
constexpr auto grows = variable<"grows", float, dyn, dyn>;
constexpr auto count = variable<"count", std::int32_t>;

using matrix = tensor<float, 2, 2>;
const matrix start{{1, 2}, {3, 4}};

// A compiler makes what it can of these before the program starts.
const auto random_first = variable<"random first", float, 4>(random_normal<float, 4>(3));
constexpr auto random_in_type = variable<"random in the type", float, 4>(random_normal<float, 4>(3_c));

}  // namespace

TEST_CASE("a variable starts with its initial value once it is initialized", "[session]") {
  for (const int gpus : {0, 2}) {
    session sess{{.simulated_gpus = gpus}};
    SECTION("a tensor" + std::to_string(gpus)) {
      const auto v = w(start);
      sess.run(initialize(v));
      CHECK(sess.run(v) == start);
    }
    SECTION("a nested list" + std::to_string(gpus)) {
      const auto v = w({{1, 2}, {3, 4}});
      sess.initialize(v);
      CHECK(sess.run(v + 0) == start);
    }
    SECTION("one value for all elements" + std::to_string(gpus)) {
      const auto v = b(7.0f);
      sess.initialize(v);
      CHECK(sess.run(v) == tensor<float, 2>{7, 7});
    }
    SECTION("a number in the type" + std::to_string(gpus)) {
      constexpr auto v = b(7_c);
      constexpr auto scale = variable<"scale", double>(-0.5_c);
      const auto steps = variable<"steps", std::int64_t>(3_c);
      sess.initialize(v);
      sess.run(initialize(scale, steps));
      CHECK(sess.run(v) == tensor<float, 2>{7, 7});
      CHECK(sess.run(scale) == -0.5);
      CHECK(sess.run(steps) == 3);
    }
    SECTION("an expression" + std::to_string(gpus)) {
      const auto v = w(eye<float, 2>() + ones<float, 2>());
      sess.initialize(v);
      CHECK(sess.run(v) == matrix{{2, 1}, {1, 2}});
    }
    SECTION("several, found under the expression" + std::to_string(gpus)) {
      const auto layer = tanh(matmul(x, w(start)) + b(0.0f));
      sess.initialize(layer);
      CHECK(sess.run(layer, x = matrix{}) == matrix{});
      CHECK(sess.run(w) == start);
    }
    SECTION("again, and it is the first value again" + std::to_string(gpus)) {
      const auto v = b(1.0f);
      sess.run(initialize(v, w(start)));
      sess.run(assign_add(v, 1));
      sess.run(initialize(v));
      CHECK(sess.run(v) == tensor<float, 2>{1, 1});
    }
  }
}

TEST_CASE("a variable is state of the session: another session has its own", "[session]") {
  session one, two;
  one.run(assign(b, tensor<float, 2>{1, 2}.size() == 2 ? 5.0f : 0.0f));
  two.run(assign(b, 6.0f));
  CHECK(one.run(b) == tensor<float, 2>{5, 5});
  CHECK(two.run(b) == tensor<float, 2>{6, 6});
}

TEST_CASE("assign, assign_add and assign_sub give the new value and keep it", "[session]") {
  for (const int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    CHECK(sess.run(assign(w, x), x = start) == start);
    CHECK(sess.run(assign_add(w, x), x = start) == matrix{{2, 4}, {6, 8}});
    CHECK(sess.run(assign_sub(w, 1)) == matrix{{1, 3}, {5, 7}});
    CHECK(sess.run(w) == matrix{{1, 3}, {5, 7}});
    CHECK(sess.run(assign_add(w, matmul(w, x)), x = matrix{{1, 0}, {0, 1}}) == matrix{{2, 6}, {10, 14}});
    CHECK(sess.run(assign(w, transpose(w))) == matrix{{2, 10}, {6, 14}});
    CHECK(sess.run(sum(w)) == 32.0f);
    CHECK(sess.run(assign(w, row), row = {1, 2}) == matrix{{1, 2}, {1, 2}});
  }
}

TEST_CASE("a run reads variables as they were when it began", "[session]") {
  session sess{{.simulated_gpus = 1}};
  sess.run(assign(w, x), x = start);
  auto [now, before, doubled] = sess.run(fetches(assign_add(w, 10), w, w * 2));
  CHECK(now == matrix{{11, 12}, {13, 14}});
  CHECK(before == start);
  CHECK(doubled == matrix{{2, 4}, {6, 8}});
  CHECK(sess.run(w) == now);
}

TEST_CASE("an assignment is a value that goes on", "[session]") {
  session sess;
  sess.run(assign(w, x), x = start);
  CHECK(sess.run(sum(assign_add(w, 1) * 2)) == 28.0f);
  CHECK(sess.run(w) == matrix{{2, 3}, {4, 5}});
}

TEST_CASE("two variables can change in one run", "[session]") {
  session sess{{.simulated_gpus = 2}};
  sess.run(fetches(assign(on<gpu<0>>(w), x), assign(on<gpu<1>>(b), 1.0f)), x = start);
  sess.run(fetches(assign(on<gpu<0>>(w), w + b), assign(on<gpu<1>>(b), sum<0>(w))));
  CHECK(sess.run(w) == matrix{{2, 3}, {4, 5}});
  CHECK(sess.run(b) == tensor<float, 2>{4, 6});
}

TEST_CASE("a variable of unknown extents takes those of what it is given", "[session]") {
  session sess;
  sess.run(assign(grows, open), open = {{1, 2, 3}});
  CHECK(sess.run(grows) == tensor<float, dyn, dyn>{{1, 2, 3}});
  sess.run(assign_add(grows, 1));
  CHECK(sess.run(sum(grows)) == 9.0f);
  CHECK_THROWS_AS(sess.run(assign_add(grows, open), open = {{1, 2}, {3, 4}}), invalid_argument_error);
  CHECK_THROWS_WITH(sess.run(assign(grows, open), open = {{1, 2, 3}, {4, 5, 6}}),
                    "[onto.shape] Assign (Assign): the value does not broadcast to the variable, which keeps its "
                    "extents; assign one of that shape; operands: grows [1, 3], open [2, 3]");
  CHECK(sess.run(grows) == tensor<float, dyn, dyn>{{2, 3, 4}});
  // Of a lower rank it takes none.
  session other;
  const std::string none =
      "[onto.variable] variable 'grows' gets its extents from its first value; assign one of rank 2, not of rank ";
  CHECK_THROWS_WITH(other.run(assign(grows, 1)), none + "0");
  CHECK_THROWS_WITH(other.run(assign(grows, row), row = {1, 2}), none + "1");
  std::vector<float> out(4);
  CHECK_THROWS_WITH(other.run_to(out, assign(grows, 1)), none + "0");
  CHECK_THROWS_AS(other.run(grows), failed_precondition_error);
}

TEST_CASE("a variable without a value is refused by name, all of them at once", "[session]") {
  session sess;
  CHECK_THROWS_AS(sess.run(w + b), failed_precondition_error);
  CHECK_THROWS_WITH(
      sess.run(w + b),
      "[onto.variable] variables 'w', 'b' have no value yet; call session.initialize(e) or run(initialize(w)) first");
  CHECK_THROWS_AS(sess.run(assign_add(b, 1)), failed_precondition_error);
  CHECK_THROWS_WITH(sess.initialize(w + b), Contains("'w' has no initial value"));
  CHECK(sess.statistics(cpu<0>{}).kernels == 0);
  CHECK(sess.run(assign(b, 1)) == tensor<float, 2>{1, 1});
}

TEST_CASE("a run that is refused changes nothing", "[session]") {
  session sess{{.simulated_gpus = 1}};
  sess.run(fetches(assign(w, x), assign(b, 1)), x = start);
  // A shape.
  CHECK_THROWS_AS(sess.run(fetches(assign_add(w, 1), matmul(open, open)), open = {{1, 2, 3}}), invalid_argument_error);
  // A device.
  CHECK_THROWS_AS(sess.run(fetches(assign_add(w, 1), on<gpu<7>>(exp(b)))), invalid_argument_error);
  // A variable without a value.
  CHECK_THROWS_AS(sess.run(fetches(assign_add(w, 1), sum(grows))), failed_precondition_error);
  CHECK(sess.run(w) == start);
  CHECK(sess.run(assign_add(w, 1)) == matrix{{2, 3}, {4, 5}});
}

TEST_CASE("an int32 variable lives in host memory, others where they are used", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const auto c = count(std::int32_t{0} + zeros<std::int32_t>());
  sess.initialize(c);
  for (int k = 1; k < 4; ++k) CHECK(sess.run(assign_add(c, 1)) == k);
  CHECK(sess.placement(assign_add(c, 1)).at("count").assigned == device_name::local(cpu<0>::value));
  sess.run(assign(w, x), x = start);
  CHECK(sess.placement(exp(w)).at("w").assigned == device_name::local(gpu<0>::value));
}

TEST_CASE("a variable stays on its device, whoever uses it", "[session]") {
  session sess{onto_test::simulated_alone({.simulated_gpus = 2})};  // beside a real one copies go through the host
  REQUIRE(sess.devices().size() == 3);
  sess.run(assign(on<gpu<1>>(w), x), x = start);
  CHECK(sess.placement(on<cpu<0>>(exp(w))).at("w").assigned == device_name::local(gpu<1>::value));
  const auto copied = sess.statistics(gpu<1>{}).transfers;
  CHECK(sess.run(on<cpu<0>>(w + w)) == matrix{{2, 4}, {6, 8}});
  CHECK(sess.run(on<gpu<0>>(w - w)) == matrix{});
  CHECK(sess.statistics(gpu<1>{}).transfers == copied + 2);
}

TEST_CASE("two meanings of one name are refused, the same meaning twice is not", "[session]") {
  session sess;
  const auto first = constant<"c">({1.f, 2.f});
  const auto second = constant<"c">({1.f, 3.f});
  const auto equal = constant<"c">({1.f, 2.f});
  CHECK_THROWS_AS(sess.run(first + second), invalid_argument_error);
  CHECK_THROWS_WITH(sess.run(first + second), Contains("[onto.name] 'c' stands for two different things"));
  CHECK(sess.run(first + equal) == tensor<float, 2>{2, 4});

  const auto h = [](float factor) { return named<"h">(factor * x); };
  CHECK_THROWS_WITH(sess.run(h(2) + h(3), x = start), Contains("[onto.name] 'h' stands for two different things"));
  CHECK(sess.run(h(2) - h(2), x = start) == matrix{});

  CHECK_THROWS_WITH(sess.run(b(1.0f) + b(2.0f)), Contains("[onto.name] 'b' stands for two different things"));
}

TEST_CASE("a variable with an initial value and without one is the same variable", "[session]") {
  session sess;
  const auto v = b(3.0f);
  sess.initialize(v);
  CHECK(sess.run(b) == tensor<float, 2>{3, 3});
  CHECK(sess.run(v + b) == tensor<float, 2>{6, 6});
  CHECK(sess.run(fetches(assign_add(b, 1), v)) == std::tuple(tensor<float, 2>{4, 4}, tensor<float, 2>{3, 3}));
}

TEST_CASE("a first value is computed where the variable is, to the same bits", "[session][variable]") {
  session sess{onto_test::simulated_alone({.cpus = 2, .simulated_gpus = 2})};
  const auto value = [] { return tanh(sin(iota<float, 3000>() * 0.37f)) + random_normal<float, 3000>(1); };
  const auto here = variable<"here", float, 3000>(value());
  const auto there = variable<"there", float, 3000>(value());
  const auto other = variable<"other", float, 3000>(value());
  const auto asked = variable<"asked", float, 3000>(on<gpu<0>>(value()));
  sess.initialize(on<gpu<0>>(here), on<gpu<1>>(there), on<cpu<1>>(other));
  CHECK(sess.statistics("gpu:0").transfers == 1);  // the value that the assignment gives
  CHECK(sess.statistics("gpu:1").transfers == 1);
  CHECK(sess.statistics("cpu:1").transfers == 0);
  const tensor<float, 3000> expected = evaluate(value());
  CHECK(sess.run(here) == expected);
  CHECK(sess.run(there) == expected);
  CHECK(sess.run(other) == expected);

  // Unless it says itself where: then it is copied.
  sess.initialize(on<gpu<1>>(asked));
  CHECK(sess.placement(asked).at("asked").assigned == device_name::local(gpu<1>::value));
  CHECK(sess.run(asked) == expected);
}

TEST_CASE("random first values outside of functions have their seeds", "[session][variable]") {
  session sess;
  sess.run(initialize(random_first, random_in_type));
  const tensor<float, 4> numbers = evaluate(random_normal<float, 4>(3));
  CHECK(sess.run(random_first) == numbers);
  CHECK(sess.run(random_in_type) == numbers);
  CHECK(!(evaluate(random_normal<float, 4>(4_c)) == numbers));
  const tensor<float, 4> shape;
  CHECK(evaluate(random_uniform_like(shape + 0_c, 3)) == evaluate(random_uniform_like(shape + 0_c, 3_c)));
}
