// SPDX-License-Identifier: BSL-1.0
// What is written once runs once, and what only values tell apart is right: equal types with equal and with different
// scalars, constants and guards.
#include <onto/onto.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4>;
constexpr auto m = placeholder<"m", float, 2, 2>;
const tensor<float, 4> in{0.1f, 0.2f, -0.3f, 0.4f};
const tensor<float, 2, 2> mixing{{0.5f, 0.25f}, {0.125f, 1.0f}};

template <class F>
void check(const tensor<float, 4>& got, F expected) {
  for (int k = 0; k < 4; ++k) CHECK(got(k) == Approx(expected(in(k))).epsilon(1e-5));
}

/// The kernels of one run on the CPU.
template <class E, class... Feeds>
std::int64_t kernels_of(session& sess, const E& e, const Feeds&... feeds) {
  const std::int64_t before = sess.statistics(device_name::parse("/cpu:0")).kernels;
  sess.run(e, feeds...);
  return sess.statistics(device_name::parse("/cpu:0")).kernels - before;
}

auto grown(float rate) { return exp(x * rate); }

template <int N>
auto halved(const auto& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    const auto below = halved<N - 1>(e);
    return matmul(below, below) * 0.5f;
  }
}

/// The same built anew below each operand, with a value of its own on each side.
template <int N>
auto built_apart(float left, float right) {
  if constexpr (N == 0)
    return x * left;
  else
    return built_apart<N - 1>(left, right) + built_apart<N - 1>(right, right);
}

/// `N` levels of one object each, used twice.
template <int N>
auto levels(float value) {
  if constexpr (N == 0) {
    return x * value;
  } else {
    const auto below = levels<N - 1>(value);
    return maximum(below, tanh(below) * value);
  }
}

}  // namespace

TEST_CASE("nodes that values tell apart each compute what is in their kernel", "[session]") {
  session sess{{.cpu_threads = 1}};
  const auto h = tanh(x) + 1;
  const auto two = fetches(h * 2, h * 3.5f);
  CHECK(kernels_of(sess, two, x = in) == 2);
  const auto [twice, more] = sess.run(two, x = in);
  check(twice, [](float v) { return (std::tanh(v) + 1) * 2; });
  check(more, [](float v) { return (std::tanh(v) + 1) * 3.5f; });
  const auto sums = fetches(sum(exp(x) * 2), sum(exp(x) * 3), sum(exp(x) * 4));
  CHECK(kernels_of(sess, sums, x = in) == 3);
  const auto [a, b, c] = sess.run(sums, x = in);
  CHECK(b == Approx(1.5f * a));
  CHECK(c == Approx(2 * a));
  // What is fetched, too, is in memory.
  CHECK(kernels_of(sess, fetches(h, h * 2, h * 3.5f), x = in) == 3);
}

TEST_CASE("an object that is used twice is one node, whatever stands in it", "[session][identity]") {
  session sess;
  SECTION("100 levels of products are 100 products") {
    const auto e = halved<100>(m);
    const tensor<float, 2, 2> twos{{2, 0}, {0, 2}};  // squared and halved: itself
    CHECK(kernels_of(sess, e, m = twos) == 100);
    CHECK(sess.run(e, m = twos)(0, 0) == 2);
  }
  SECTION("a constant is copied to a device once") {
    session_options o;
    o.simulated_gpus = 1;
    session with_gpu{o};
    const auto c = constant({1.f, 2.f, 3.f, 4.f});
    const auto once = on<gpu<0>>(softmax(x + c) * (x - c));
    with_gpu.run(once, x = in);
    CHECK(with_gpu.statistics(device_name::parse("/gpu:0")).transfers == 3);  // x, c, and the result
    CHECK(plan_of(once).transfers == 3);
    const auto two = on<gpu<0>>(softmax(x + c) * (x - constant({4.f, 3.f, 2.f, 1.f})));
    with_gpu.run(two, x = in);
    CHECK(with_gpu.statistics(device_name::parse("/gpu:0")).transfers == 3 + 4);
  }
  SECTION("an object under a guard") {
    const auto guarded = [] {
      device_guard g{"/cpu:0"};
      return exp(x) * 2.f;
    }();
    check(sess.run(guarded / (1.f + guarded), x = in), [](float v) { return 2 * std::exp(v) / (1 + 2 * std::exp(v)); });
  }
}

TEST_CASE("equal types with different values", "[session][identity]") {
  session sess;
  SECTION("are right, and one kernel") {
    const auto e = exp(x * 2.f) + exp(x * 3.f);
    check(sess.run(e, x = in), [](float v) { return std::exp(2 * v) + std::exp(3 * v); });
    CHECK(kernels_of(sess, e, x = in) == 1);
  }
  SECTION("a helper called with 2 and with 3") {
    check(sess.run(grown(2) * grown(3), x = in), [](float v) { return std::exp(5 * v); });
    const auto [two, three] = sess.run(fetches(grown(2), grown(3)), x = in);
    check(two, [](float v) { return std::exp(2 * v); });
    check(three, [](float v) { return std::exp(3 * v); });
  }
  SECTION("gelu") {
    const auto gelu = 0.5f * x * (1.f + tanh(0.8f * (x + 0.04f * x * x * x)));
    check(sess.run(gelu, x = in), [](float v) { return 0.5f * v * (1 + std::tanh(0.8f * (v + 0.04f * v * v * v))); });
    CHECK(kernels_of(sess, gelu, x = in) == 1);
  }
  SECTION("a loop that makes a list") {
    std::vector<decltype(grown(1))> list;
    for (int k = 0; k < 5; ++k) list.push_back(grown(static_cast<float>(k)));
    for (int k = 0; k < 5; ++k) {
      const float rate = static_cast<float>(k);
      check(sess.run(list[static_cast<std::size_t>(k)] + list[2], x = in),
            [rate](float v) { return std::exp(rate * v) + std::exp(2 * v); });
    }
  }
  SECTION("to the bit: zeros of both signs, and NaN") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto e = 1.f / (abs(x) * 0.f) + 1.f / (abs(x) * -0.f);  // infinity of both signs
    CHECK(std::isnan(sess.run(e, x = in)(0)));
    const auto f = x * nan + x * 1.f;
    CHECK(std::isnan(sess.run(f, x = in)(0)));
    const auto g = exp(x * nan) + exp(x * nan);  // one value: its bits are equal
    CHECK(std::isnan(sess.run(g, x = in)(1)));
    CHECK(sess.placement(g).told_apart == 0);
  }
  SECTION("below products, reductions, softmax and epilogues") {
    const tensor<float, 2, 2> unit{{1, 0}, {0, 1}};
    CHECK(sess.run(matmul(m * 2.f, m) + matmul(m * 3.f, m), m = unit)(0, 0) == 5);
    CHECK(sess.run(matmul(m, m) * 2.f + matmul(m, m) * 3.f, m = unit)(1, 1) == 5);
    CHECK(sess.run(relu(matmul(m, m) * 2.f - m) * relu(matmul(m, m) * 3.f - m), m = unit)(1, 1) == 2);
    CHECK(sess.run(sum(m * 2.f) + sum(m * 3.f), m = unit)() == 10);
    CHECK(sess.run(sum<0>(m * 2.f) * max<0>(m * 3.f), m = unit)(1) == 6);
    CHECK(sess.run(sum(square(m * 2.f - m * 3.f)), m = unit)() == 2);
    const auto soft = softmax(m * 2.f) + softmax(m * 3.f);
    const double e2 = std::exp(2.0), e3 = std::exp(3.0);
    CHECK(static_cast<double>(sess.run(soft, m = unit)(0, 0)) == Approx(e2 / (e2 + 1) + e3 / (e3 + 1)));
    CHECK(sess.run(concat<0>(m * 2.f, m * 3.f), m = unit)(2, 0) == 3);
    CHECK(sess.run(transpose(m * 2.f) - transpose(m * 3.f), m = unit)(0, 0) == -1);
  }
  SECTION("two constants of one shape, one of them used twice") {
    const auto a = constant({1.f, 2.f, 3.f, 4.f}), b = constant({5.f, 6.f, 7.f, 8.f});
    check(sess.run((x + a) * (x + b) - (x + a), x = in), [&, k = 0](float v) mutable {
      const float p = static_cast<float>(k++);
      return (v + 1 + p) * (v + 5 + p) - (v + 1 + p);
    });
  }
}

TEST_CASE("values that change from run to run split and merge nodes", "[session][identity]") {
  session sess;
  const auto program = [](float a, float b) { return exp(x * a) / (1.f + exp(x * b)); };
  for (const auto& [a, b] : {std::pair{2.f, 3.f}, {2.f, 2.f}, {3.f, 2.f}, {2.f, 3.f}, {4.f, 4.f}}) {
    const float p = a, q = b;
    const auto expected = [p, q](float v) { return std::exp(v * p) / (1 + std::exp(v * q)); };
    check(sess.run(program(a, b), x = in), expected);
    const auto step = sess.prepare(program(a, b));
    for (int run = 0; run < 4; ++run) check(step(x = in), expected);
    CHECK(sess.placement(program(a, b)).told_apart == (a == b ? 0 : 2));
    CHECK(kernels_of(sess, program(a, b), x = in) == 1);
  }
}

TEST_CASE("what values tell apart is said", "[session][identity]") {
  std::string log;
  session_options o;
  o.log_device_placement = true;
  o.log = [&](std::string_view line) { log += std::string(line) + "\n"; };
  session sess{o};
  const auto different = grown(2) + grown(3);
  CHECK(plan_of(different).depends_on_values);
  CHECK(plan_of(different).nodes == 4);
  CHECK(sess.placement(different).nodes.size() == 6);
  CHECK(sess.placement(different).told_apart == 2);
  CHECK(sess.placement(different).to_json().find("\"told_apart\": 2}") != std::string::npos);
  sess.run(different, x = in);
  CHECK(log.find("2 nodes more than plan_of counts: values differ where types are equal") != std::string::npos);
  log.clear();
  sess.run(grown(2) + grown(2), x = in);
  CHECK(log.find("plan_of") == std::string::npos);
}

TEST_CASE("guards tell nodes with values apart", "[session][identity]") {
  session_options o;
  o.simulated_gpus = 2;
  session sess{o};
  const auto under = [](const char* place, float value) {
    device_guard g{place};
    return x * value;
  };
  const auto both = under("/gpu:0", 2) + under("/gpu:1", 2);
  const placement_report where = sess.placement(both);
  CHECK(where.told_apart == 1);
  CHECK(where.at("Mul").assigned.to_string() == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(where.at("Mul_1").assigned.to_string() == "/job:localhost/replica:0/task:0/device:GPU:1");
  check(sess.run(both, x = in), [](float v) { return 4 * v; });
  CHECK(sess.placement(under("/gpu:0", 2) + under("/gpu:0", 2)).told_apart == 0);

  // An object in two scopes of one device is one node, in scopes of two it is two.
  const auto h = exp(x * 2.f);
  CHECK(sess.placement(on<gpu<0>>(h) + on<gpu<0>>(h)).nodes.size() == 4);
  CHECK(sess.placement(on<gpu<0>>(h) + on<gpu<1>>(h)).nodes.size() == 6);
  check(sess.run(on<gpu<0>>(h) + on<gpu<1>>(h), x = in), [](float v) { return 2 * std::exp(2 * v); });

  // What holds no value is one node, and can be in one place.
  const auto no_value = [](const char* place) {
    device_guard g{place};
    return exp(x);
  };
  CHECK_THROWS_WITH(sess.run(no_value("/gpu:0") + no_value("/gpu:1"), x = in),
                    Catch::Contains("[onto.guard]") && Catch::Contains("written twice, under different device guards"));
}

TEST_CASE("a guard counts below what is written twice", "[session][identity]") {
  session_options o;
  o.simulated_gpus = 1;
  session sess{o};
  const auto twice = Catch::Contains("written twice, under different device guards");
  const auto inner = [](const char* place) {
    device_guard g{place};
    return exp(x);
  };
  CHECK_THROWS_WITH(sess.run(fetches(tanh(exp(x)), tanh(inner("/cpu:0"))), x = in), twice);
  CHECK_THROWS_WITH(sess.run(tanh(sin(exp(x))) + tanh(sin(inner("/cpu:0"))), x = in), twice);
  check(sess.run(tanh(inner("/cpu:0")) + tanh(inner("/cpu:0")), x = in),
        [](float v) { return 2 * std::tanh(std::exp(v)); });
  CHECK(sess.placement(tanh(inner("/cpu:0")) + tanh(inner("/cpu:0"))).at("Exp").assigned.to_string() ==
        "/job:localhost/replica:0/task:0/device:CPU:0");

  // Where there are values it is another node.
  const auto scaled = [](const char* place) {
    device_guard g{place};
    return x * 2.f;
  };
  const placement_report where = sess.placement(exp(x * 2.f) + exp(scaled("/cpu:0")));
  CHECK(where.told_apart == 2);
  CHECK(where.at("Mul").assigned.to_string() == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(where.at("Mul_1").assigned.to_string() == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK_THROWS_WITH(evaluate(tanh(exp(x)) + tanh(inner("/gpu:1")), x = in),
                    Catch::Contains("[onto.run] evaluate runs on cpu<0>, and a device_guard asks for"));
}

namespace {

/// More states than are compared before a session refines: each level has a tensor and an operation of its own.
template <int Levels, class E>
auto deep(const E& e, const tensor<float, 4>& t) {
  if constexpr (Levels == 0)
    return e;
  else
    return deep<Levels - 1>(tanh(e * t), t);
}

}  // namespace

TEST_CASE("long expressions of data that are written twice are one", "[session][identity]") {
  session sess;
  const tensor<float, 4> t{1, 0.5f, 2, -1}, other{1, 0.5f, 2, 1};
  const auto twice = deep<40>(x, t) + deep<40>(x, t), apart = deep<40>(x, t) + deep<40>(x, other);
  CHECK(sess.placement(twice).told_apart == 0);
  CHECK(sess.placement(apart).told_apart > 0);
  const tensor<float, 4> one = sess.run(deep<40>(x, t), x = in), two = sess.run(deep<40>(x, other), x = in);
  const auto is_sum = [&](const tensor<float, 4>& got, const tensor<float, 4>& second) {
    for (int k = 0; k < 4; ++k) CHECK(got(k) == Approx(one(k) + second(k)).epsilon(1e-5));
  };
  is_sum(sess.run(twice, x = in), one);
  is_sum(sess.run(apart, x = in), two);
  is_sum(evaluate(twice, x = in), one);
  is_sum(evaluate(apart, x = in), two);
}

TEST_CASE("a name stands for one value", "[session][identity]") {
  session sess;
  const auto scaled = [](float value) { return named<"h">(x * value); };
  CHECK_THROWS_WITH(sess.run(scaled(2) + scaled(3), x = in), Catch::Contains("'h' stands for two different things"));
  check(sess.run(scaled(2) + scaled(2), x = in), [](float v) { return 4 * v; });
  const auto above = [&](float value) { return exp(scaled(value)) * value; };
  CHECK_THROWS_WITH(sess.run(above(2) + above(3), x = in), Catch::Contains("'h' stands for two different things"));
  const auto c = [](float value) { return constant<"c">({value, 2.f, 3.f, 4.f}); };
  CHECK_THROWS_WITH(sess.run(x + c(1) * c(2), x = in), Catch::Contains("'c' stands for two different things"));
}

TEST_CASE("a name stands for one value without a session, too", "[evaluate][identity]") {
  const auto two = Catch::Contains("stands for two different things");
  const auto scaled = [](float value) { return named<"h">(x * value); };
  CHECK_THROWS_WITH(evaluate(scaled(2) + scaled(3), x = in), two);
  CHECK_THROWS_WITH(evaluate(sum(scaled(2)) + sum(scaled(3)), x = in), two);
  CHECK_THROWS_WITH(evaluate(fetches(scaled(2), scaled(3)), x = in), two);
  CHECK_THROWS_WITH(evaluate(gradient(sum(scaled(2)) + sum(scaled(3)), x), x = in), two);
  tensor<float, 4> out, also;
  CHECK_THROWS_WITH(evaluate_to(out, scaled(2) * scaled(3), x = in), two);
  CHECK_THROWS_WITH(evaluate_to(std::tie(out, also), fetches(exp(scaled(2)), exp(scaled(3))), x = in), two);
  check(evaluate(scaled(2) + scaled(2), x = in), [](float v) { return 4 * v; });
  check(evaluate(exp(scaled(2)) - sum(scaled(2)) + sum(scaled(2)), x = in), [](float v) { return std::exp(2 * v); });
  const auto c = [](float value) { return constant<"c">({value, 2.f, 3.f, 4.f}); };
  CHECK_THROWS_WITH(evaluate(c(1) + c(2)), two);
  CHECK(evaluate(c(1) + c(1))(3) == 8);
  const tensor<float, 4> one{1, 2, 3, 4}, other{5, 6, 7, 8};
  CHECK_THROWS_WITH(evaluate(named<"t">(one + x) + named<"t">(other + x), x = in), two);
  constexpr auto d = placeholder<"d", float, dyn>;
  const auto open = [&](float value) { return named<"o">(d * value); };
  CHECK_THROWS_WITH(evaluate(open(2) + open(3), d = one), two);
  CHECK(evaluate(open(2) + open(2), d = one)(3) == 16);
}

TEST_CASE("a variable's initial value is one", "[session][identity]") {
  session sess;
  const auto began = [](float value) { return variable<"v", float, 2>({value, 2}); };
  const auto differ = Catch::Contains("'v' stands for two different things");
  CHECK_THROWS_WITH(sess.run(initialize(began(1), began(3))), differ);
  CHECK_THROWS_WITH(sess.initialize(fetches(began(1), began(3))), differ);
  CHECK_THROWS_WITH(sess.initialize(began(1) * 2, sum(began(3))), differ);
  sess.initialize(began(1) * 2, sum(began(1)));
  CHECK(sess.run(began(1))(0) == 1);
  const auto w = [](float value) { return variable<"w", float, 4>(value); };
  CHECK_THROWS_WITH(sess.initialize(w(1) + w(2)), Catch::Contains("'w' stands for two different things"));
  const auto same = w(3) * (x + w(3));
  sess.initialize(same);
  check(sess.run(same, x = in), [](float v) { return 3 * (v + 3); });
  // Initial values that hold values, and differ where types are equal.
  const auto u = variable<"u", float, 4>(fill<float, 4>(2.f) * fill<float, 4>(5.f));
  sess.initialize(u);
  CHECK(sess.run(u)(3) == 10);
  CHECK_THROWS_WITH(sess.run(fetches(assign(u, x * 2.f), assign(u, x * 3.f)), x = in), Catch::Contains("'u' twice"));
}

TEST_CASE("expressions built apart are compared in linear time", "[session][identity]") {
  session sess;
  // Two objects of 60 levels each: 2^60 paths, were they walked one by one.
  const auto one = levels<60>(0.5f), other = levels<60>(0.5f), third = levels<60>(0.75f);
  CHECK(sess.placement(one + other).told_apart == 0);
  CHECK(sess.placement(one + third).told_apart > 0);
  CHECK(sess.run(one - other, x = in)(0) == 0);
  const auto alone = sess.run(one, x = in), beside = sess.run(third, x = in), both = sess.run(one + third, x = in);
  for (int k = 0; k < 4; ++k) CHECK(both(k) == Approx(alone(k) + beside(k)));
  // And what differs in one leaf of many.
  check(sess.run(built_apart<5>(1.f, 2.f), x = in), [](float v) { return 63 * v; });
}

TEST_CASE("an initial value built apart is compared in linear time", "[session][identity]") {
  session sess;
  const auto initial = [](float value) { return variable<"v", float, 2, 2>(halved<40>(fill<float, 2, 2>(value))); };
  sess.initialize(initial(1) + initial(1));
  CHECK_THROWS_WITH(sess.initialize(initial(1) + initial(2)), Catch::Contains("'v' stands for two different things"));
}
