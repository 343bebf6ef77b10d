// SPDX-License-Identifier: BSL-1.0
// Losses and layers of training beside PyTorch, with extents in the type and at run time; initializers and dropout by
// their statistics.
#include "training.hpp"

#include <limits>

using namespace onto;
using onto_test::expected;
using onto_test::table;

namespace {

inline constexpr auto s = placeholder<"s", double, 4, 5>;
inline constexpr auto t = placeholder<"t", double, 4, 5>;
inline constexpr auto k = placeholder<"k", std::int32_t, 4>;
inline constexpr auto sd = placeholder<"s", double, dyn, dyn>;
inline constexpr auto td = placeholder<"t", double, dyn, dyn>;
inline constexpr auto kd = placeholder<"k", std::int32_t, dyn>;

const auto scores = table<4, 5>([](double n) { return 3 * std::sin(2 * n + 1); });
const auto targets = table<4, 5>([](double n) { return 0.5 + 0.5 * std::sin(n); });
const tensor<std::int32_t, 4> labels{0, 3, 4, 1};

/// A value and its gradient by `at`, beside the row.
template <class Loss, class Symbol, class Tensor, class... Feeds>
void check(const std::string& name, const Loss& loss, const Symbol& by, const Tensor& at, const Feeds&... feeds) {
  const std::vector<double>& wanted = expected(name);
  INFO(name);
  session run;
  run.initialize(loss);
  const auto [value, g] = run.run(fetches(loss, gradient(loss, by)), by = at, feeds...);
  CHECK(static_cast<double>(value) == Approx(wanted[0]).epsilon(1e-10));
  REQUIRE(wanted.size() == 1 + g.size());
  for (std::size_t n = 0; n < g.size(); ++n) CHECK(g.data()[n] == Approx(wanted[1 + n]).epsilon(1e-10).margin(1e-12));
}

const auto shares = [] { return session().run(softmax(cos(reshape<4, 5>(iota<double, 20>())))); }();
constexpr auto weights = cos(3_c * reshape<4, 5>(iota<double, 20>()));
constexpr auto gain = 1_c + 0.1_c * iota<double, 5>();
constexpr auto shift = 0.2_c * iota<double, 5>() - 0.3_c;

// The gradient of a softmax's cross entropy is one kernel over rows.
static_assert(plan_of(gradient(softmax_cross_entropy(s, k), s)).kernels == 1);
static_assert(plan_of(gradient(softmax_cross_entropy(s, t), s)).kernels == 1);
static_assert(plan_of(gradient(sigmoid_cross_entropy(s, t), s)).kernels == 1);
static_assert(plan_of(gradient(mean_squared_error(s, t), s)).kernels == 1);
static_assert(plan_of(gradient(huber(s, t), s)).kernels <= 2);
static_assert(plan_of(layer_norm(s, placeholder<"gain", double, 5>, placeholder<"shift", double, 5>)).kernels == 1);

}  // namespace

TEST_CASE("losses are PyTorch's", "[training]") {
  check("softmax_cross_entropy indices", softmax_cross_entropy(s, k), s, scores, k = labels);
  check("softmax_cross_entropy indices", softmax_cross_entropy(sd, kd), sd, scores, kd = labels);
  check("softmax_cross_entropy shares", softmax_cross_entropy(s, t), s, scores, t = shares);
  check("softmax_cross_entropy shares", softmax_cross_entropy(sd, td), sd, scores, td = shares);
  check("sigmoid_cross_entropy", sigmoid_cross_entropy(s, t), s, scores, t = targets);
  check("sigmoid_cross_entropy", sigmoid_cross_entropy(sd, td), sd, scores, td = targets);
  check("sigmoid_cross_entropy far", sigmoid_cross_entropy(s, t), s,
        table<4, 5>([](double n) { return 1200 * std::sin(2 * n + 1); }), t = targets);
  check("mean_squared_error", mean_squared_error(s, t), s, scores, t = targets);
  check("huber", huber(s, t), s, scores, t = targets);
  check("huber delta", huber(s, t, 0.7), s, scores, t = targets);
}

TEST_CASE("losses are reduced as is asked for", "[training]") {
  session run;
  const auto [each, all, mean_of] =
      run.run(fetches(softmax_cross_entropy<reduction::none>(s, k), softmax_cross_entropy<reduction::sum>(s, k),
                      softmax_cross_entropy(s, k)),
              s = scores, k = labels);
  CHECK(each.size() == 4);
  CHECK(static_cast<double>(all) == Approx(each(0) + each(1) + each(2) + each(3)));
  CHECK(static_cast<double>(all) == Approx(4 * static_cast<double>(mean_of)));
  const tensor<std::int32_t, 4> unknown{-1, 3, 4, 99};
  const auto some = run.run(softmax_cross_entropy<reduction::none>(s, k), s = scores, k = unknown);
  CHECK(some(0) == 0);
  CHECK(some(1) == each(1));
  CHECK(some(3) == 0);
}

TEST_CASE("each score has a target of its own: what has one element is not stretched", "[training]") {
  constexpr auto scores = placeholder<"rows", float, dyn, 3>;
  constexpr auto classes = placeholder<"classes", int, dyn>;
  constexpr auto shares = placeholder<"shares", float, dyn, 3>;
  constexpr auto a = placeholder<"a", float, dyn>;
  constexpr auto b = placeholder<"b", float, dyn>;
  const tensor<float, dyn, 3> rows{{1, 2, 3}, {2, 3, 4}, {0, 0, 1}}, one{{1, 0, 0}};
  const std::vector<int> label{1}, labels{0, 1, 2};
  const std::vector<float> numbers{1, 2, 3}, number{1};
  session s;
  const auto refused = [](const auto& run) {
    std::string said;
    try {
      run();
    } catch (const invalid_argument_error& e) {
      said = e.what();
    }
    return said.find("a loss compares each score with a target of its own") != std::string::npos;
  };
  CHECK(refused([&] { s.run(softmax_cross_entropy(scores, classes), scores = rows, classes = label); }));
  CHECK(refused([&] { s.run(softmax_cross_entropy(scores, shares), scores = rows, shares = one); }));
  CHECK(refused([&] { s.run(mean_squared_error(a, b), a = numbers, b = number); }));
  CHECK(refused([&] { s.run(huber(a, b), a = number, b = numbers); }));
  CHECK(refused([&] { s.run(sigmoid_cross_entropy(a, b), a = numbers, b = number); }));
  CHECK(refused([&] { s.run(gradient(mean_squared_error(a, b), a), a = numbers, b = number); }));

  // Numbers, and axes that the types say to be 1, are for all examples.
  CHECK(s.run(softmax_cross_entropy<reduction::none>(scores, classes), scores = rows, classes = labels).size() == 3);
  CHECK(float(s.run(mean_squared_error(a, 1.f), a = numbers)) == Approx(5.f / 3));
  constexpr auto column = placeholder<"column", float, dyn, 1>;
  CHECK(s.run(mean_squared_error<reduction::none>(scores, column), scores = rows,
              column = tensor<float, dyn, 1>{{1}, {2}, {3}})
            .size() == 9);
}

TEST_CASE("a class with no chance costs nothing where it is not asked for", "[training]") {
  auto masked = scores;
  masked(0, 2) = -INFINITY;
  session run;
  const auto [value, g] =
      run.run(fetches(softmax_cross_entropy(s, k), gradient(softmax_cross_entropy(s, k), s)), s = masked, k = labels);
  CHECK(std::isfinite(static_cast<double>(value)));
  CHECK(g(0, 2) == 0);
}

TEST_CASE("normalization is PyTorch's", "[training]") {
  check("layer_norm", sum(weights * layer_norm(s, gain, shift)), s, scores);
  check("layer_norm", sum(weights * layer_norm(sd, gain, shift)), sd, scores);
  check("batch_norm", sum(weights * batch_norm<"bn">(s, gain, shift)), s, scores);
}

TEST_CASE("batch normalization is over all axes but the last, of any rank", "[training]") {
  // Rows of a matrix, of a sequence and of pictures are the same rows.
  constexpr auto rows = batch_norm<"of_rows">(s, gain, shift);
  constexpr auto sequence = batch_norm<"of_sequence">(reshape<2, 2, 5>(s), gain, shift);
  constexpr auto pictures = batch_norm<"of_pictures">(reshape<2, 1, 2, 5>(s), gain, shift);
  constexpr auto by_rows = gradient(sum(weights * rows), s);
  constexpr auto by_sequence = gradient(sum(weights * reshape<4, 5>(sequence)), s);
  constexpr auto by_pictures = gradient(sum(weights * reshape<4, 5>(pictures)), s);
  session run;
  run.initialize(rows);
  run.initialize(sequence);
  run.initialize(pictures);
  const auto [a, b, c] = run.run(fetches(rows, sequence, pictures), s = scores);
  const auto [ga, gb, gc] = run.run(fetches(by_rows, by_sequence, by_pictures), s = scores);
  for (std::size_t n = 0; n < 20; ++n) {
    CHECK(b.data()[n] == Approx(a.data()[n]));
    CHECK(c.data()[n] == Approx(a.data()[n]));
    CHECK(gb.data()[n] == Approx(ga.data()[n]));
    CHECK(gc.data()[n] == Approx(ga.data()[n]));
  }
  const auto mean = run.run(variable<"of_rows/mean", double, 5>),
             other = run.run(variable<"of_pictures/mean", double, 5>);
  const auto variance = run.run(variable<"of_sequence/variance", double, 5>);
  for (int n = 0; n < 5; ++n) {
    CHECK(other(n) == Approx(mean(n)));
    CHECK(variance(n) == Approx(run.run(variable<"of_rows/variance", double, 5>)(n)));
  }
}

TEST_CASE("batch normalization moves its statistics, and uses them after training", "[training]") {
  constexpr auto loss = sum(weights * batch_norm<"bn">(s, gain, shift));
  constexpr auto use = sum(weights * batch_norm_inference<"bn">(s, gain, shift));
  session run;
  run.initialize(loss);
  run.run(loss, s = scores);
  const auto& wanted = expected("batch_norm statistics");
  const auto mean_of = run.run(variable<"bn/mean", double, 5>);
  const auto variance = run.run(variable<"bn/variance", double, 5>);
  for (int n = 0; n < 5; ++n) {
    CHECK(mean_of(n) == Approx(wanted[static_cast<std::size_t>(n)]));
    CHECK(variance(n) == Approx(wanted[static_cast<std::size_t>(n) + 5]));
  }
  const auto& after = expected("batch_norm inference");
  const auto [value, g] = run.run(fetches(use, gradient(use, s)), s = scores);
  CHECK(static_cast<double>(value) == Approx(after[0]));
  for (std::size_t n = 0; n < 20; ++n) CHECK(g.data()[n] == Approx(after[1 + n]));
  // A gradient alone moves them too, once.
  run.run(gradient(loss, s), s = scores);
  CHECK(run.run(variable<"bn/mean", double, 5>)(1) == Approx(mean_of(1) * 1.9));
}

TEST_CASE("minimize trains what the loss changes with, and not the statistics", "[training]") {
  constexpr auto g = variable<"gain", double, 5>(ones<double, 5>());
  constexpr auto step = minimize<sgd{.rate = 0.1}>(sum(weights * batch_norm<"bn">(s, g, shift)));
  session run;
  run.initialize(step);
  run.run(step, s = scores);
  const auto mean_of = run.run(variable<"bn/mean", double, 5>);
  CHECK(mean_of(0) == Approx(expected("batch_norm statistics")[0]));
  CHECK(run.run(g)(0) != 1);
}

TEST_CASE("local response normalization is TensorFlow's", "[training]") {
  static constexpr auto image = placeholder<"image", double, 1, 2, 2, 7>;
  const auto values = table<1, 2, 2, 7>([](double n) { return 2 * std::sin(n); });
  constexpr auto wave = cos(3_c * reshape<1, 2, 2, 7>(iota<double, 28>()));
  check("local_response_norm", sum(wave * local_response_norm<2>(image, 2_c, 0.1_c, 0.75_c)), image, values);
}

TEST_CASE("the rate of dropout is a share", "[training]") {
  static constexpr auto x = placeholder<"x", float, 3>;
  for (const double rate : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_WITH(dropout(x, rate, 7), "[onto.number] dropout: the rate is a share of the elements, 0 to 1");
    CHECK_THROWS_AS(dropout(x, tensor<float>{static_cast<float>(rate)}, 7), invalid_argument_error);
  }
  session run;
  run.initialize(dropout(x, 0, 7));
  CHECK(run.run(dropout(x, 0, 7), x = {1.f, 2.f, 3.f}) == tensor<float, 3>{1, 2, 3});
  CHECK(run.run(dropout(x, 1.0, 7), x = {1.f, 2.f, 3.f}) == tensor<float, 3>{0, 0, 0});
}

TEST_CASE("dropout leaves a share out, another one each step, and its gradient the same", "[training]") {
  static constexpr auto x = placeholder<"x", float, 100, 100>;
  static constexpr auto xd = placeholder<"x", float, dyn, dyn>;
  constexpr auto out = dropout(x, 0.3_c, 7_c);
  const tensor<float, 100, 100> ones_ = session().run(ones<float, 100, 100>());
  session run;
  run.initialize(out);
  const auto [y, g, other] = run.run(fetches(out, gradient(sum(out), x), dropout(x, 0.3_c, 8_c)), x = ones_);
  const auto at_run_time = run.run(dropout(xd, 0.3, 7), xd = ones_);
  int zeros_ = 0, different = 0;
  bool same = true;
  for (std::size_t n = 0; n < y.size(); ++n) {
    zeros_ += y.data()[n] == 0 ? 1 : 0;
    same = same && y.data()[n] == g.data()[n] && y.data()[n] == at_run_time.data()[n];
    same = same && (y.data()[n] == 0 || y.data()[n] == Approx(1 / 0.7));
    different += y.data()[n] != other.data()[n] ? 1 : 0;
  }
  CHECK(same);
  CHECK(std::abs(zeros_ - 3000) < 200);  // 4 standard deviations
  CHECK(std::abs(different - 4200) < 250);
  const auto again = run.run(out, x = ones_);
  run.run(assign_add(training_step(), 1_c));
  const auto next = run.run(out, x = ones_);
  int moved = 0;
  for (std::size_t n = 0; n < y.size(); ++n) {
    same = same && again.data()[n] == y.data()[n];
    moved += next.data()[n] != y.data()[n] ? 1 : 0;
  }
  CHECK(same);
  CHECK(std::abs(moved - 4200) < 250);
}

TEST_CASE("initializers have the spread that their names promise", "[training]") {
  const auto spread = [](const auto& e) {
    session run;
    const auto [mean_of, deviation, least, most] = run.run(fetches(mean(e), stddev(e), min(e), max(e)));
    CHECK(std::abs(static_cast<double>(mean_of)) < 0.02 * static_cast<double>(deviation));
    return std::array{static_cast<double>(deviation), static_cast<double>(least), static_cast<double>(most)};
  };
  const auto t1 = spread(truncated_normal<float, 300, 200>(0.05, 3));
  CHECK(t1[0] == Approx(0.05 * 0.8796).epsilon(0.01));
  CHECK(t1[1] >= -0.1);
  CHECK(t1[2] <= 0.1);
  CHECK(t1[2] > 0.099);
  const auto u = spread(glorot_uniform<float, 300, 200>(4));
  CHECK(u[0] == Approx(std::sqrt(2.0 / 500)).epsilon(0.01));
  CHECK(u[2] <= std::sqrt(6.0 / 500));
  CHECK(u[2] > 0.999 * std::sqrt(6.0 / 500));
  CHECK(spread(glorot_normal<float, 300, 200>(5))[0] == Approx(std::sqrt(2.0 / 500)).epsilon(0.01));
  CHECK(spread(he_normal<double, 300, 200>(6_c))[0] == Approx(std::sqrt(2.0 / 300)).epsilon(0.01));
  CHECK(spread(he_uniform<float, 5, 5, 12, 200>(7))[0] == Approx(std::sqrt(2.0 / 300)).epsilon(0.01));
}
