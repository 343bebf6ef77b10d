// SPDX-License-Identifier: BSL-1.0
// Running programs: every kind of feed, one fetch and several, prepared runs, shapes known late.
#include <onto/onto.hpp>

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto y = placeholder<"y", float, 3>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto half_open = placeholder<"half_open", float, 2, dyn>;
constexpr auto list = placeholder<"list", double, dyn>;
constexpr auto number = placeholder<"number", float>;
constexpr auto flags = placeholder<"flags", bool, 3>;
constexpr auto addend = placeholder<"addend", float, 2, 2>;
constexpr auto cube = placeholder<"cube", std::int64_t, 2, 2, 2>;

const tensor<float, 2, 3> values{{1, 2, 3}, {4, 5, 6}};

/// A program that looks like nothing else and gives its operand back.
template <class E>
auto same(const E& e) {
  return transpose(transpose(e) * 1);
}

struct halve : elementwise<> {
  static constexpr std::string_view name = "Halve";
  template <class T>
  ONTO_HD static T apply(T v) {
    return v / T(2);
  }
};

}  // namespace

TEST_CASE("a placeholder is fed with a tensor, a vector, an array, a span with a shape, a nested list", "[session]") {
  session sess;
  SECTION("a tensor") { CHECK(sess.run(same(x), x = values) == values); }
  SECTION("a temporary tensor") { CHECK(sess.run(same(x), x = tensor<float, 2, 3>{{1, 2, 3}, {4, 5, 6}}) == values); }
  SECTION("a tensor whose extents its type does not know") {
    const tensor<float, dyn, dyn> open_values = values;
    CHECK(sess.run(same(x), x = open_values) == values);
    CHECK(sess.run(same(half_open), half_open = open_values) == values);
    CHECK(sess.run(same(half_open), half_open = values) == values);
    CHECK(sess.run(same(open), open = values) == values);
  }
  SECTION("a nested list") {
    CHECK(sess.run(same(x), x = {{1, 2, 3}, {4, 5, 6}}) == values);
    CHECK(sess.run(same(open), open = {{1, 2, 3}, {4, 5, 6}}) == values);
  }
  SECTION("a vector, where the shape is known or there is one axis") {
    const std::vector<float> v{1, 2, 3, 4, 5, 6};
    CHECK(sess.run(same(x), x = v) == values);
    const std::vector<double> d{1, 2, 3};
    CHECK(sess.run(list + list, list = d) == tensor<double, 3>{2, 4, 6});
    CHECK(sess.run(list + list, list = std::vector<double>{}).size() == 0);
  }
  SECTION("std::array and a C array of one axis") {
    const std::array<float, 3> v{1, 2, 3};
    const float w[] = {1, 2, 3};
    CHECK(sess.run(y * y, y = v) == tensor<float, 3>{1, 4, 9});
    CHECK(sess.run(y * y, y = w) == tensor<float, 3>{1, 4, 9});
  }
  SECTION("a C array of several axes") {
    const float v[2][3] = {{1, 2, 3}, {4, 5, 6}};
    CHECK(sess.run(same(x), x = v) == values);
    CHECK(sess.run(same(open), open = v) == values);
    const std::int64_t w[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    CHECK(sess.run(sum(cube), cube = w) == 36);
  }
  SECTION("arrays in an array") {
    const std::array<std::array<float, 3>, 2> v{{{1, 2, 3}, {4, 5, 6}}};
    CHECK(sess.run(same(x), x = v) == values);
    CHECK(sess.run(same(open), open = std::array<std::array<float, 3>, 2>{{{1, 2, 3}, {4, 5, 6}}}) == values);
  }
  SECTION("a span or a pointer with a shape") {
    const std::vector<float> v{1, 2, 3, 4, 5, 6};
    CHECK(sess.run(same(open), open = tensor_ref<float, dyn, dyn>(std::span(v), {2, 3})) == values);
    CHECK(sess.run(same(x), x = tensor_ref<float, 2, 3>(v.data(), {2, 3})) == values);
  }
  SECTION("one value") {
    CHECK(sess.run(number * number, number = 3.0f) == 9.0f);
    CHECK(sess.run(number * number, number = tensor<float>(4.0f)) == 16.0f);
  }
  SECTION("bool") { CHECK(sess.run(!flags, flags = {true, false, true}) == tensor<bool, 3>{false, true, false}); }
}

TEST_CASE("a feed is read from the caller's memory", "[session]") {
  tensor<float, 2, 3> t = values;
  const auto feed = (x = t);
  CHECK(feed.data == t.data());
  t(0, 0) = 100;
  session sess;
  CHECK(sess.run(sum(x), feed) == 120.0f);
}

TEST_CASE("a feed of another shape is refused before anything runs", "[session]") {
  session sess;
  CHECK_THROWS_AS(sess.run(same(x), x = std::vector<float>(5)), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(same(x), x = tensor<float, dyn, dyn>({3, 3})), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(same(half_open), half_open = tensor<float, dyn, dyn>({3, 3})), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(same(open), open = {{1, 2}, {3}}), invalid_argument_error);
  CHECK(sess.statistics(cpu<0>{}).kernels == 0);
}

TEST_CASE("a fetch has the type of its expression", "[session]") {
  session sess;
  auto known = sess.run(x + y, x = values, y = {1, 2, 3});
  auto late = sess.run(open + y, open = values, y = {1, 2, 3});
  auto one = sess.run(sum(x), x = values);
  auto index = sess.run(argmax<1>(x), x = values);
#ifndef __CUDACC__  // nvcc cannot spell these types outside a template
  STATIC_REQUIRE(std::is_same_v<decltype(known), tensor<float, 2, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(late), tensor<float, dyn, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(one), tensor<float>>);
  STATIC_REQUIRE(std::is_same_v<decltype(index), tensor<std::int64_t, 2>>);
#endif
  CHECK(known == tensor<float, 2, 3>{{2, 4, 6}, {5, 7, 9}});
  CHECK(late == known);
  CHECK(one == 21.0f);
  CHECK(index == tensor<std::int64_t, 2>{2, 2});
}

TEST_CASE("several fetches come as a tuple and share their work", "[session]") {
  session sess;
  const auto before = sess.statistics(cpu<0>{}).kernels;
  const auto product = matmul(x, transpose(x));
  auto [p, s, twice, symbol, view] = sess.run(fetches(product, sum(product), product, x, transpose(x)), x = values);
  CHECK(p == tensor<float, 2, 2>{{14, 32}, {32, 77}});
  CHECK(s == 155.0f);
  CHECK(twice == p);
  CHECK(symbol == values);
  CHECK(view == tensor<float, 3, 2>{{1, 4}, {2, 5}, {3, 6}});
  CHECK(sess.statistics(cpu<0>{}).kernels - before ==
        plan_of(fetches(product, sum(product), product, x, transpose(x))).kernels);
}

TEST_CASE("a fetch may be a symbol, a constant or a view", "[session]") {
  for (const int gpus : {0, 1}) {
    session sess{{.simulated_gpus = gpus}};
    CHECK(sess.run(x, x = values) == values);
    CHECK(sess.run(constant({1.f, 2.f})) == tensor<float, 2>{1, 2});
    CHECK(sess.run(slice<1, 2>(x), x = values) == tensor<float, 1, 3>{{4, 5, 6}});
    CHECK(sess.run(reshape<3, 2>(x), x = values) == tensor<float, 3, 2>{{1, 2}, {3, 4}, {5, 6}});
    CHECK(sess.run(reshape<6>(transpose(x)), x = values) == tensor<float, 6>{1, 4, 2, 5, 3, 6});
    CHECK(sess.run(named<"still_x">(x), x = values) == values);
  }
}

TEST_CASE("a fetch outlives the session, and a run leaves its feeds alone", "[session]") {
  const tensor<float, 2, 3> before = values;
  tensor<float, 2, 3> result;
  {
    session sess{{.simulated_gpus = 2}};
    result = sess.run(on<gpu<1>>(tanh(on<gpu<0>>(x - x))), x = values);
  }
  CHECK(result == tensor<float, 2, 3>());
  CHECK(values == before);
}

TEST_CASE("a prepared run repeats", "[session]") {
  session sess;
  auto step = sess.prepare(sum(open * open));
  for (int k = 1; k < 6; ++k) {
    tensor<float, dyn, dyn> t({k, 2 * k});
    for (float& v : t) v = 2;
    CHECK(step(open = t) == static_cast<float>(8 * k * k));
  }
  auto both = sess.prepare(fetches(x + x, sum(x)));
  for (int k = 0; k < 3; ++k) {
    auto [twice, total] = both(x = values);
    CHECK(twice == tensor<float, 2, 3>{{2, 4, 6}, {8, 10, 12}});
    CHECK(total == 21.0f);
  }
}

TEST_CASE("shapes that come with the feeds may change from run to run", "[session]") {
  session sess{{.simulated_gpus = 1}};
  for (const int rows : {1, 3, 0, 5, 3, 1, 40, 2}) {
    for (const int columns : {1, 2, 7}) {
      tensor<float, dyn, dyn> t({rows, columns});
      float next = 0;
      for (float& v : t) v = next++;
      const auto result = sess.run(fetches(matmul(open, transpose(open)), sum<0>(open), open + 1), open = t);
      CHECK(std::get<0>(result).shape() == std::array<int, 2>{rows, rows});
      CHECK(std::get<1>(result).shape() == std::array<int, 1>{columns});
      float total = 0;
      for (const float v : std::get<1>(result)) total += v;
      CHECK(total == static_cast<float>(rows * columns * (rows * columns - 1) / 2));
      if (rows > 0) CHECK(std::get<2>(result)(rows - 1, columns - 1) == next);
    }
  }
}

TEST_CASE("scalars are values of the run, not of the type", "[session]") {
  for (const int gpus : {0, 1, 2}) {
    session sess{{.simulated_gpus = gpus}};
    for (const float factor : {2.0f, 3.0f, -1.0f}) {
      CHECK(sess.run(sum(factor * x + 1), x = values) == factor * 21 + 6);
      CHECK(sess.run(factor * matmul(x, transpose(x)) - 2 * addend, x = values, addend = {{1, 2}, {3, 4}}) ==
            tensor<float, 2, 2>{{14 * factor - 2, 32 * factor - 4}, {32 * factor - 6, 77 * factor - 8}});
    }
  }
}

// A GPU's reductions and row kernels ask for memory to work in before the run, with the scalars of their maps in hand.
TEST_CASE("scalars reach every kind of kernel, of every device", "[session]") {
  for (const int gpus : {0, 1, 2}) {
    session sess{{.simulated_gpus = gpus}};
    for (const float factor : {2.0f, -3.0f}) {
      const float f = factor;
      CHECK(sess.run(factor * x - 1, x = values) ==
            tensor<float, 2, 3>{{f - 1, 2 * f - 1, 3 * f - 1}, {4 * f - 1, 5 * f - 1, 6 * f - 1}});
      CHECK(sess.run(sum<0>(factor * x + 1), x = values) == tensor<float, 3>{5 * f + 2, 7 * f + 2, 9 * f + 2});
      CHECK(sess.run(max<1>(factor * x + 1), x = values) ==
            (f > 0 ? tensor<float, 2>{3 * f + 1, 6 * f + 1} : tensor<float, 2>{f + 1, 4 * f + 1}));
      CHECK(sess.run(argmax<1>(factor * x + 1), x = values) ==
            (f > 0 ? tensor<std::int64_t, 2>{2, 2} : tensor<std::int64_t, 2>{0, 0}));
      CHECK(sess.run(sum(softmax(factor * x)), x = values) == Approx(2.0f));
      const auto centred = factor * x - mean<1>(factor * x, keep_extents);
      CHECK(sess.run(centred * 2 + 1, x = values) ==
            tensor<float, 2, 3>{{1 - 2 * f, 1, 1 + 2 * f}, {1 - 2 * f, 1, 1 + 2 * f}});
      const auto [scaled, total] = sess.run(fetches(factor * x, sum(factor * x)), x = values);
      CHECK(scaled(1, 2) == 6 * factor);
      CHECK(total == 21 * factor);
    }
  }
}

TEST_CASE("constants keep their values, named or not", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const auto c = constant<"c">(values);
  CHECK(sess.run(on<gpu<0>>(x - c), x = values) == tensor<float, 2, 3>());
  CHECK(sess.run(c * constant({1.f, 0.f, 2.f})) == tensor<float, 2, 3>{{1, 0, 6}, {4, 0, 12}});
  CHECK(sess.run(constant(values) + constant(1.f)) == tensor<float, 2, 3>{{2, 3, 4}, {5, 6, 7}});
}

TEST_CASE("an operation of one's own runs in the same kernel", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const auto e = sum(call<halve>(x + x));
  CHECK(sess.run(e, x = values) == 21.0f);
  CHECK(sess.statistics(gpu<0>{}).kernels == 1);
}

TEST_CASE("devices() lists the CPU, then the GPUs by index, and calls simulated ones simulated", "[session]") {
  session sess{{.simulated_gpus = 11}};
  const auto devices = sess.devices();
  REQUIRE(devices.size() >= 12);
  CHECK(devices[0].name.to_string() == "/job:localhost/replica:0/task:0/device:CPU:0");
  for (std::size_t k = 1; k < devices.size(); ++k) {
    CHECK(devices[k].name.to_string() == "/job:localhost/replica:0/task:0/device:GPU:" + std::to_string(k - 1));
    CHECK(device_name::parse(devices[k].name.to_string()) == devices[k].name);
  }
  CHECK(devices.back().description.find("simulated") != std::string::npos);
}

TEST_CASE("options that make no sense are refused in a sentence", "[session]") {
  CHECK_THROWS_AS((session{{.simulated_gpus = -1}}), invalid_argument_error);
  CHECK_THROWS_AS((session{{.simulated_gpus = 100000}}), invalid_argument_error);
  CHECK_THROWS_AS((session{{.cpu_threads = -1}}), invalid_argument_error);
  CHECK_THROWS_WITH((session{{.simulated_gpus = -1}}), "[onto.option] simulated_gpus is -1; it is 0 to 1024");
  CHECK_THROWS_AS((session{}.statistics(gpu<1000>{})), not_found_error);
}

TEST_CASE("two products are added, scaled, subtracted", "[session]") {
  constexpr auto a = placeholder<"a", float, 2, 2>;
  constexpr auto b = placeholder<"b", float, 2, 2>;
  const tensor<float, 2, 2> A{{1, 2}, {3, 4}}, B{{0, 1}, {2, 3}};  // AB = [[4 7], [8 15]], BA = [[3 4], [11 16]]
  session sess;
  CHECK(sess.run(matmul(a, b) + matmul(b, a), a = A, b = B) == tensor<float, 2, 2>{{7, 11}, {19, 31}});
  CHECK(sess.run(matmul(a, b) - 2.0f * matmul(b, a), a = A, b = B) == tensor<float, 2, 2>{{-2, -1}, {-14, -17}});
  CHECK(sess.run(relu(3.0f * matmul(a, b) - matmul(b, a)), a = A, b = B) == tensor<float, 2, 2>{{9, 17}, {13, 29}});
}

TEST_CASE("what makes several is run, prepared and planned as a list of them", "[session]") {
  constexpr auto x = placeholder<"x", float, 4>;
  const tensor<float, 4> X{1, 2, 3, 4};
  session sess;
  const auto [loss, slope] = sess.run(value_and_gradient(sum(square(x)), x), x = X);
  CHECK(loss == 30);
  CHECK(slope == tensor<float, 4>{2, 4, 6, 8});
  auto step = sess.prepare(split<2>(x));
  const auto [first, second] = step(x = X);
  CHECK(first == tensor<float, 2>{1, 2});
  CHECK(second == tensor<float, 2>{3, 4});
  const auto [value, twice] = evaluate(value_and_gradient(sum(square(x)), x), x = X);
  CHECK(value == 30);
  CHECK(twice == slope);
  constexpr auto total = sum(square(x));
  CHECK(&plan_of(value_and_gradient(total, x)) == &plan_of(fetches(total, gradient(total, x))));
}

TEST_CASE("a tuple among those that are fetched stands for its expressions, in their order", "[session]") {
  constexpr auto x = placeholder<"x", float, 4>;
  const tensor<float, 4> X{1, 2, 3, 4};
  constexpr auto total = sum(square(x));
  constexpr auto program = fetches(x * 2_c, split<2>(x), total, gradients(total, x));
  const auto as_said = [](const auto& several) {
    const auto& [twice, first, second, all, slope] = several;
    CHECK(twice == tensor<float, 4>{2, 4, 6, 8});
    CHECK(first == tensor<float, 2>{1, 2});
    CHECK(second == tensor<float, 2>{3, 4});
    CHECK(all == 30);
    CHECK(slope == tensor<float, 4>{2, 4, 6, 8});
  };
  session sess;
  as_said(sess.run(program, x = X));
  as_said(sess.prepare(program)(x = X));
  as_said(evaluate(program, x = X));
  static_assert(std::is_same_v<decltype(fetches(total, boost::hana::make_tuple(x, total))),
                               decltype(fetches(total, std::tuple{x, total}))>);
  CHECK(&plan_of(fetches(total, gradients(total, x))) == &plan_of(fetches(total, gradient(total, x))));

  tensor<float> all;
  tensor<float, 2> first, second;
  sess.run_to(std::tie(all, first, second), fetches(total, split<2>(x)), x = X);
  CHECK(all == 30);
  CHECK(second == tensor<float, 2>{3, 4});
}

TEST_CASE("several are placed together", "[session]") {
  constexpr auto x = placeholder<"x", float, 4>;
  const tensor<float, 4> X{1, 2, 3, 4};
  constexpr auto total = sum(square(x));
  constexpr auto listed = on<gpu<0>>(fetches(total, x * 2_c));
  CHECK(&plan_of(listed) == &plan_of(fetches(on<gpu<0>>(total), on<gpu<0>>(x * 2_c))));
  constexpr auto slopes = on<gpu<0>>(gradients(total, x));
  CHECK(&plan_of(fetches(slopes)) == &plan_of(on<gpu<0>>(gradient(total, x))));
  session sess{{.log = nullptr, .simulated_gpus = 1}};
  const auto [all, twice] = sess.run(listed, x = X);
  CHECK(all == 30);
  CHECK(twice == tensor<float, 4>{2, 4, 6, 8});
  for (const placement_entry& n : sess.placement(listed).nodes)
    if (n.operation != "Placeholder") CHECK(n.assigned.to_string().ends_with("/device:GPU:0"));
}
