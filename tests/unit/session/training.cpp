// SPDX-License-Identifier: BSL-1.0
// Steps of training: each optimizer with each option beside PyTorch for 100 steps, with options in the type and at run
// time, with extents that only the run knows, on several devices, prepared and under guards.
#include "training.hpp"

#include "simulated.hpp"

using namespace onto;
using onto_test::expected;
using onto_test::table;

namespace {

inline constexpr auto x = placeholder<"x", double, 16, 2>;
inline constexpr auto t = placeholder<"t", double, 16, 1>;
inline constexpr auto w1 = variable<"w1", double, 2, 8>(0.5_c * sin(reshape<2, 8>(iota<double, 16>()) + 1_c));
inline constexpr auto b1 = variable<"b1", double, 8>(0.1_c * cos(iota<double, 8>()));
inline constexpr auto w2 = variable<"w2", double, 8, 1>(0.5_c * cos(reshape<8, 1>(iota<double, 8>()) + 1_c));
inline constexpr auto b2 = variable<"b2", double, 1>(zeros<double, 1>());

constexpr auto loss_of(const auto& in, const auto& wanted, const auto& v1, const auto& c1, const auto& v2,
                       const auto& c2) {
  return mean(square(matmul(tanh(matmul(in, v1) + c1), v2) + c2 - wanted));
}
constexpr auto loss = loss_of(x, t, w1, b1, w2, b2);

const auto xs = table<16, 2>([](double k) { return std::sin(1 + 3 * k); });
tensor<double, 16, 1> targets() {
  tensor<double, 16, 1> y;
  for (int i = 0; i < 16; ++i) y(i, 0) = xs(i, 0) * xs(i, 1);
  return y;
}
const auto ts = targets();

/// 1, 2, 3, 4 in a column.
constexpr auto constant_of_four() { return reshape<4, 1>(iota<float, 4>()) + 1_c; }

/// What `v` was trained to, beside the row. `step` runs once.
template <class Step, class V>
void follow(const std::string& name, session& s, const V& v, const Step& step) {
  const std::vector<double>& wanted = expected(name);
  const int shown[] = {0, 1, 2, 9, 49, 99};
  INFO(name);
  int next = 0;
  for (int k = 0; k < 100; ++k) {
    const double now = step();
    if (next < 6 && k == shown[next]) CHECK(now == Approx(wanted[next++]).epsilon(1e-9));
  }
  const auto trained = s.run(v);
  REQUIRE(wanted.size() == 6 + trained.size());
  for (std::size_t k = 0; k < trained.size(); ++k) CHECK(trained.data()[k] == Approx(wanted[6 + k]).epsilon(1e-9));
  CHECK(static_cast<std::int64_t>(s.run(training_step())) == 100);
}

template <class Step>
void check(const std::string& name, const Step& step) {
  session s;
  s.initialize(step);
  auto prepared = s.prepare(step);
  follow(name, s, w1, [&] { return static_cast<double>(prepared(x = xs, t = ts)); });
}

template <class Step>
constexpr int kernels(const Step& step) {
  return plan_of(step).kernels;
}
constexpr auto plain = minimize<sgd{.rate = 0.1}>(loss);
constexpr auto momentum = minimize<sgd{.rate = 0.05, .momentum = 0.9}>(loss);
constexpr auto adaptive = minimize<adam{.rate = 0.02}>(loss);

}  // namespace

// Three kernels forward and five backward; the step counter; one for each matrix, in its gradient's product, and one
// for both vectors.
static_assert(kernels(plain) == 13);
// With momentum the products write that, and one more the matrices.
static_assert(kernels(momentum) == 14);
// One for all parameters; the numbers that they share are made where steps are counted.
static_assert(kernels(adaptive) == 13);
using at_run_time = decltype(minimize(adam{.rate = 0.02}, loss));
// A weight decay that only the run knows is part of the matrices' products: the vectors are another program.
static_assert(kernels(at_run_time{detail::state_ref{}}) == 14);

// Each option stands in the type of one of these, and each row of the table below, where an optimizer's rows are one
// type.
TEST_CASE("options in the type: PyTorch's trajectories", "[training]") {
  check("sgd", plain);
  check("sgd momentum", momentum);
  check("sgd nesterov", minimize<sgd{.rate = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01}>(loss));
  check("adam", adaptive);
  check("adam weight_decay",
        minimize<adam{.rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4, .weight_decay = 0.1}>(loss));
  check("adamw", minimize<adamw{.rate = 0.02}>(loss));
  check("rmsprop centered",
        minimize<rmsprop{
            .rate = 0.002, .alpha = 0.9, .epsilon = 1e-6, .momentum = 0.5, .centered = true, .weight_decay = 0.01}>(
            loss));
  check("adagrad decay",
        minimize<adagrad{.rate = 0.1, .rate_decay = 0.01, .initial_accumulator = 0.1, .weight_decay = 0.01}>(loss));
}

TEST_CASE("options at run time: the same trajectories", "[training]") {
  check("sgd", minimize(sgd{0.1}, loss));
  check("sgd momentum", minimize(sgd{.rate = 0.05, .momentum = 0.9}, loss));
  check("sgd nesterov",
        minimize(sgd{.rate = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01}, loss, w1, b1, w2, b2));
  check("sgd weight_decay", minimize(sgd{.rate = 0.1, .weight_decay = 0.01}, loss));
  check("adam", minimize(adam{.rate = 0.02}, loss));
  check("adam weight_decay",
        minimize(adam{.rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4, .weight_decay = 0.1}, loss));
  check("adamw", minimize(adamw{.rate = 0.02}, loss));
  check("rmsprop", minimize(rmsprop{.rate = 0.005}, loss));
  check("rmsprop momentum", minimize(rmsprop{.rate = 0.002, .momentum = 0.9}, loss));
  check("rmsprop centered",
        minimize(
            rmsprop{
                .rate = 0.002, .alpha = 0.9, .epsilon = 1e-6, .momentum = 0.5, .centered = true, .weight_decay = 0.01},
            loss));
  check("adagrad", minimize(adagrad{.rate = 0.1}, loss));
  check("adagrad decay",
        minimize(adagrad{.rate = 0.1, .rate_decay = 0.01, .initial_accumulator = 0.1, .weight_decay = 0.01}, loss));
}

TEST_CASE("a rate may be a schedule of the step", "[training]") {
  check("exponential", minimize<sgd{.momentum = 0.9}>(learning_rate(exponential_decay(0.1_c, 20_c, 0.5_c)), loss));
  check("staircase", minimize(sgd{.momentum = 0.9}, learning_rate(exponential_decay<true>(0.1, 20, 0.5)), loss));
  check("cosine", minimize<adam{}>(learning_rate(cosine_decay(0.05_c, 80_c, 0.1_c)), loss));
  check("warm_up", minimize<adam{}>(learning_rate(warm_up(0.05_c, 10_c)), loss));
}

TEST_CASE("a rate may be fed", "[training]") {
  static constexpr auto rate = placeholder<"rate", double>;
  constexpr auto step = minimize<sgd{}>(learning_rate(rate), loss);
  session s;
  s.initialize(step);
  follow("sgd", s, w1, [&] { return static_cast<double>(s.run(step, x = xs, t = ts, rate = tensor<double>(0.1))); });
}

TEST_CASE("gradients are clipped by their common norm", "[training]") {
  check("clip", minimize<sgd{.rate = 0.5, .momentum = 0.9}>(clip_by_global_norm(0.1_c), loss));
  check("clip", minimize(sgd{.rate = 0.5, .momentum = 0.9}, clip_by_global_norm(0.1), loss));

  constexpr auto most = placeholder<"most", double>;
  constexpr auto step = minimize<sgd{.rate = 0.5, .momentum = 0.9}>(clip_by_global_norm(most), loss);
  session s;
  s.initialize(step);
  follow("clip", s, w1, [&] { return static_cast<double>(s.run(step, x = xs, t = ts, most = 0.1)); });
}

TEST_CASE("a moving average of the parameters follows them", "[training]") {
  constexpr auto step = minimize<sgd{.rate = 0.1}>(moving_average(0.95_c), loss);
  session s;
  s.initialize(step);
  follow("average", s, average_of(w1), [&] { return static_cast<double>(s.run(step, x = xs, t = ts)); });
}

TEST_CASE("a scaled loss gives the same, and a step that is not finite is skipped", "[training]") {
  const auto step =
      minimize(adam{.rate = 0.02}, loss_scaling{.initial = 1024, .interval = 30}, clip_by_global_norm(1e9), loss);
  const auto scale = variable<"loss_scale", float>;
  session s;
  s.initialize(step);
  auto infinite = ts;
  infinite(3, 0) = INFINITY;
  const auto before = s.run(fetches(w1, b2));
  s.run(step, x = xs, t = infinite);
  const auto after = s.run(fetches(w1, b2, variable<"w1/adam_v", double, 2, 8>));
  CHECK(static_cast<float>(s.run(scale)) == 512);
  CHECK(std::get<0>(before)(1, 1) == std::get<0>(after)(1, 1));
  CHECK(std::get<1>(before)(0) == std::get<1>(after)(0));
  CHECK(std::get<2>(after)(0, 0) == 0);
  follow("adam", s, w1, [&] { return static_cast<double>(s.run(step, x = xs, t = ts)); });
  CHECK(static_cast<float>(s.run(scale)) == 512 * 8);  // raised after 30, 60 and 90 good steps
}

TEST_CASE("parameters of float, computed with in half precision", "[training]") {
  static constexpr auto v = variable<"v", float, 4, 1>(zeros<float, 4, 1>());
  static constexpr auto in = placeholder<"in", float, 64, 4>;
  constexpr auto guess = cast<float>(matmul(cast<onto::half>(in), cast<onto::half>(v)));
  constexpr auto miss = mean_squared_error(guess, matmul(in, constant_of_four()));
  const auto step = minimize(sgd{.rate = 0.2}, loss_scaling{}, miss);
  session s;
  s.initialize(step);
  const auto points = s.run(random_normal<float, 64, 4>(5));
  for (int k = 0; k < 60; ++k) s.run(step, in = points);
  const auto learned = s.run(v);
  for (int k = 0; k < 4; ++k) CHECK(learned(k, 0) == Approx(k + 1).epsilon(5e-3));
}

TEST_CASE("only the variables that are named learn", "[training]") {
  constexpr auto step = minimize<sgd{.rate = 0.1}>(loss, w1);
  session s;
  s.initialize(plain);
  const auto before = s.run(fetches(w1, w2));
  s.run(step, x = xs, t = ts);
  const auto after = s.run(fetches(w1, w2));
  CHECK(std::get<0>(before)(0, 0) != std::get<0>(after)(0, 0));
  CHECK(std::get<1>(before)(3, 0) == std::get<1>(after)(3, 0));
}

TEST_CASE("what an optimizer keeps are variables beside the parameter", "[training]") {
  session s;
  s.initialize(adaptive);
  s.run(adaptive, x = xs, t = ts);
  const auto g = s.run(variable<"w1/adam_m", double, 2, 8>);
  const auto v = s.run(variable<"w1/adam_v", double, 2, 8>);
  for (std::size_t k = 0; k < g.size(); ++k)  // after one step: 0.1 g and 0.001 g * g
    CHECK(v.data()[k] == Approx(0.1 * g.data()[k] * g.data()[k]));
}

/// Two losses that are lowered in turn, the second twice as often, and each of them in a session of its own.
template <class First, class Second>
static void check_in_turn(const First& first, const Second& second, const expression auto& a,
                          const expression auto& b) {
  session both, alone, other;
  both.initialize(first);
  both.initialize(second);
  alone.initialize(first);
  other.initialize(second);
  for (int k = 0; k < 5; ++k) {
    both.run(first);
    both.run(second);
    both.run(second);
    alone.run(first);
    other.run(second);
    other.run(second);
  }
  CHECK(both.run(a) == alone.run(a));
  CHECK(both.run(b) == other.run(b));
  CHECK(static_cast<std::int64_t>(both.run(training_step())) == 15);
}

TEST_CASE("optimizers of two losses in one session do not count each other's steps", "[training]") {
  constexpr auto a = variable<"a", double>(0_c);
  constexpr auto b = variable<"b", double>(2_c);
  constexpr auto e = variable<"e", double>(1_c);
  const auto near = square(a - 1) + square(e);
  const auto far = square(b + 7);
  check_in_turn(minimize(adam{.rate = 0.1}, near), minimize(adam{.rate = 0.2}, far), a, b);
  check_in_turn(minimize<adamw{.rate = 0.1}>(near), minimize<adam{.rate = 0.2}>(far), a, b);
  check_in_turn(minimize(adagrad{.rate = 0.1, .rate_decay = 0.5}, near),
                minimize<adagrad{.rate = 0.1, .rate_decay = 0.5}>(far), a, b);
  check_in_turn(minimize(adam{}, loss_scaling{}, moving_average(0.9), near), minimize(adam{}, far), a, b);
}

TEST_CASE("extents that only the run knows", "[training]") {
  static constexpr auto in = placeholder<"x", double, dyn, dyn>;
  static constexpr auto wanted = placeholder<"t", double, dyn, 1>;
  static constexpr auto v1 = variable<"w1", double, dyn, dyn>;
  static constexpr auto v2 = variable<"w2", double, dyn, 1>;
  constexpr auto step = minimize<adam{.rate = 0.02}>(loss_of(in, wanted, v1, b1, v2, b2));
  session s, first;
  s.run(assign(v1, first.run(0.5_c * sin(reshape<2, 8>(iota<double, 16>()) + 1_c))));
  s.run(assign(v2, first.run(0.5_c * cos(reshape<8, 1>(iota<double, 8>()) + 1_c))));
  s.initialize(step);
  follow("adam", s, v1, [&] { return static_cast<double>(s.run(step, in = xs, wanted = ts)); });
}

TEST_CASE("updates run where the variables are", "[training]") {
  // The first layer on one GPU, the second on the other; parameters without a device go where they are used.
  constexpr auto hidden = on<gpu<0>>(tanh(matmul(x, w1) + b1));
  constexpr auto apart = on<gpu<1>>(mean(square(matmul(hidden, w2) + on<cpu<0>>(b2) - t)));
  constexpr auto step = minimize<adam{.rate = 0.02}>(apart);
  session s{onto_test::simulated_alone({.simulated_gpus = 2})};
  s.initialize(step);
  const placement_report where = s.placement(step);
  int seen = 0;
  for (const auto& n : where.nodes) {
    const bool first = n.name == "w1" || n.name == "w1/adam_m" || n.name == "b1/adam_v";
    const bool second = n.name == "w2" || n.name == "w2/adam_m" || n.name == "w2/adam_v";
    const bool last = n.name == "b2" || n.name == "b2/adam_m";
    seen += first || second || last ? 1 : 0;
    INFO(n.name);
    if (first) CHECK(n.assigned == device_name::local(gpu<0>::value));
    if (second) CHECK(n.assigned == device_name::local(gpu<1>::value));
    if (last) CHECK(n.assigned == device_name::local(cpu<0>::value));
  }
  CHECK(seen == 8);
  follow("adam", s, w1, [&] { return static_cast<double>(s.run(step, x = xs, t = ts)); });
}

TEST_CASE("towers on two GPUs share the variables of the CPU, and train as one", "[training]") {
  const auto tower = [](auto half) {
    constexpr int k = decltype(half)::value;
    using part = range<8 * k, 8 * k + 8>;
    return on<gpu<k>>(loss_of(slice<part, range<>>(x), slice<part, range<>>(t), on<cpu<0>>(w1), on<cpu<0>>(b1),
                              on<cpu<0>>(w2), on<cpu<0>>(b2)));
  };
  constexpr auto both =
      on<cpu<0>>(tower(std::integral_constant<int, 0>{}) + tower(std::integral_constant<int, 1>{})) * 0.5_c;
  constexpr auto step = minimize<adam{.rate = 0.02}>(both);
  session s{onto_test::simulated_alone({.simulated_gpus = 2})};
  s.initialize(step);
  CHECK(s.placement(step).at("w1/adam_v").assigned == device_name::local(cpu<0>::value));
  follow("adam", s, w1, [&] { return static_cast<double>(s.run(step, x = xs, t = ts)); });
}

TEST_CASE("a variable that lives elsewhere than its gradient is computed takes the update there", "[training]") {
  const auto on_cpu = [](const auto& step, const std::string& name) {
    session s{onto_test::simulated_alone({.simulated_gpus = 1})};
    s.run(assign(on<cpu<0>>(w1), 0_c));
    s.run(assign(on<cpu<0>>(b1), 0_c));
    s.initialize(step);
    int seen = 0;
    for (const auto& n : s.placement(step).nodes) {
      if (n.name != "w1" && n.name != "b1" && n.name != "w1/adam_m") continue;
      ++seen;
      CHECK(n.assigned == device_name::local(cpu<0>::value));
    }
    CHECK(seen >= 2);
    follow(name, s, w1, [&] { return static_cast<double>(s.run(step, x = xs, t = ts)); });
  };
  on_cpu(plain, "sgd");
  on_cpu(adaptive, "adam");
}

TEST_CASE("under a guard and with values told apart, a step is the same", "[training]") {
  session s{onto_test::simulated_alone({.simulated_gpus = 2})};
  const auto part = [](double scale) { return tanh(b2 * scale); };
  const auto step = [&] {
    device_guard g{"/gpu:1"};
    return minimize(sgd{.rate = 0.1}, loss_of(x, t, w1, b1, w2, b2) + sum(part(0.1) * part(0.3)) * 0.0);
  }();
  s.initialize(step);
  for (const auto& n : s.placement(step).nodes)
    if (n.name == "w1" || n.name == "w1/momentum") CHECK(n.assigned == device_name::local(gpu<1>::value));
  auto prepared = s.prepare(step);
  follow("sgd", s, w1, [&] { return static_cast<double>(prepared(x = xs, t = ts)); });
}

TEST_CASE("a step that fails leaves all variables as they were", "[training]") {
  session s;
  s.initialize(adaptive);
  const auto before = s.run(fetches(w1, b1, variable<"w1/adam_m", double, 2, 8>));
  struct count {
    int left = 12;
    static void before(void* context, const char*) {
      if (--static_cast<count*>(context)->left == 0) throw resource_exhausted_error("no");
    }
  } late;
  s.inject({&count::before, &late});
  CHECK_THROWS_AS(s.run(adaptive, x = xs, t = ts), resource_exhausted_error);
  s.inject({});
  const auto after = s.run(fetches(w1, b1, variable<"w1/adam_m", double, 2, 8>));
  CHECK(std::get<0>(before)(1, 1) == std::get<0>(after)(1, 1));
  CHECK(std::get<2>(before)(1, 1) == std::get<2>(after)(1, 1));
  CHECK(static_cast<std::int64_t>(s.run(training_step())) == 0);
}
