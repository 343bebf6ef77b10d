// SPDX-License-Identifier: BSL-1.0
// What a plan is estimated to take is what simulated GPUs measure, for every kind of program on one to eight of them.
#include <onto/cluster_model.hpp>

#include "../catch.hpp"
#include "machines.hpp"
#include "properties.hpp"

using namespace onto;
using onto_test::machine_of;
using onto_test::timed;
namespace hana = boost::hana;

namespace {

/// Numbers that have nothing to do with each other, so that no two ways to add them up give the same.
constexpr cost_model odd{7.1e5, 3.3e5, 9.7e4, 1.3e4, 5.9e5, 2.3e5, 1.7e-3, 2.9e-3};
/// Copies cost much more than kernels, and the other way round.
constexpr cost_model slow_links{1e9, 1e9, 3.1e3, 1.1e3, 1e9, 1e9, 1e-6, 1.9e-2};
constexpr cost_model slow_kernels{1.7e3, 1e9, 1e9, 1e9, 1.3e3, 1e9, 1e-6, 1e-6};

/// Runs the program once in a session of its own, whose clock stands at 0.
template <int Gpus, class Program, class... Feeds>
void check_on(const Program& program, const cost_model& model, const Feeds&... feeds) {
  session sess{timed(Gpus, model)};
  REQUIRE(sess.devices().size() == Gpus + 1);
  sess.run(program, feeds...);
  const auto& p = plan_of<machine_of<Gpus>>(program);
  const auto planned = estimate(p, model);
  INFO("on " << Gpus << " GPUs\n" << planned.text());
  CHECK(planned.seconds > 0);
  CHECK(estimate(p, cluster_model{model, 8, 1, 2, 3, 4, 5}).seconds == planned.seconds);  // of one process
  CHECK(planned.seconds == Approx(sess.simulated_seconds()).epsilon(1e-12).margin(0));
}

template <class Program, class... Feeds>
void check(const Program& program, const Feeds&... feeds) {
  for (const cost_model& model : {odd, slow_links, slow_kernels, h200}) {
    check_on<1>(program, model, feeds...);
    check_on<2>(program, model, feeds...);
    check_on<3>(program, model, feeds...);
    check_on<8>(program, model, feeds...);
  }
}

template <unsigned Seed>
void check_random() {
  INFO("seed " << Seed);
  const onto_test::program_feeds f(Seed);
  const auto program = onto_test::random_program<Seed, false>();
  onto_test::with_feeds<false>(f, [&](const auto&... feeds) {
    for (const cost_model& model : {odd, slow_links, slow_kernels}) {
      check_on<1>(program, model, feeds...);
      check_on<3>(program, model, feeds...);
    }
  });
}

template <unsigned First, unsigned... K>
void check_random_programs(std::integer_sequence<unsigned, K...>) {
  (check_random<First + K>(), ...);
}

constexpr auto x = placeholder<"x", float, 16, 8>;
constexpr auto w1 = placeholder<"w1", float, 8, 8>;
constexpr auto w2 = placeholder<"w2", float, 8, 4>;

constexpr auto eight = hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>, gpu<4>, gpu<5>, gpu<6>, gpu<7>>;

constexpr auto share = [](auto place) { return slice<2 * place.index, 2 * place.index + 2>(x); };
constexpr auto perceptron = [](auto place) { return mean(relu(matmul(relu(matmul(share(place), w1)), w2))); };
/// Towers of different lengths: who waits for whom differs from GPU to GPU.
template <int N>
constexpr auto repeated(const auto& e) {
  if constexpr (N == 0)
    return e;
  else
    return repeated<N - 1>(tanh(matmul(e, w1)));
}
constexpr auto uneven = [](auto place) { return repeated<1 + (place.index * 5) % 4>(share(place)); };

}  // namespace

TEST_CASE("an estimate is the simulated time: towers", "[session]") {
  const auto xs = onto_test::generic_values<float, 16, 8>(1);
  const auto a = onto_test::generic_values<float, 8, 8>(2);
  const auto b = onto_test::generic_values<float, 8, 4>(3);
  check(on<cpu<0>>(add_n(towers(eight, perceptron))), x = xs, w1 = a, w2 = b);
  check(on<gpu<0>>(mean(towers(eight, perceptron))), x = xs, w1 = a, w2 = b);
  check(on<cpu<0>>(concat<0>(towers(eight, uneven))), x = xs, w1 = a);
  check(fetches(towers(eight, uneven)), x = xs, w1 = a);
}

TEST_CASE("an estimate is the simulated time: the host between GPUs, chains through GPUs", "[session]") {
  const auto a = onto_test::generic_values<float, 8, 8>(2);
  const auto first = on<gpu<0>>(matmul(w1, w1));
  const auto on_host = on<cpu<0>>(tanh(first) + w1);
  const auto chain = on<gpu<2>>(on<gpu<1>>(matmul(first, w1)) + matmul(on_host, w1));
  check(chain, w1 = a);
  check(fetches(chain, on_host, on<gpu<1>>(sum(first)), w1), w1 = a);
  check(on<cpu<0>>(softmax(on<gpu<1>>(exp(on_host) + transpose(first)))), w1 = a);
  check(on<gpu<0>>(concat<1>(first, on<gpu<1>>(transpose(first)), w1)), w1 = a);
}

TEST_CASE("an estimate is the simulated time: random programs", "[session]") {
  check_random_programs<400>(std::make_integer_sequence<unsigned, 10>{});
}

TEST_CASE("an estimate is the simulated time: variables, and one run after another", "[session]") {
  constexpr auto v = variable<"v", float, 8, 8>;
  constexpr auto step = fetches(on<gpu<0>>(assign_add(v, matmul(w1, v))), on<gpu<1>>(sum(w1)));
  const auto a = onto_test::generic_values<float, 8, 8>(4);
  session sess{timed(2, odd)};
  REQUIRE(sess.devices().size() == 3);
  sess.run(on<gpu<0>>(assign(v, w1)), w1 = a);
  const double planned = estimate(plan_of<machine_of<2>>(step), odd).seconds;
  for (int k = 0; k < 5; ++k) {
    const double before = sess.simulated_seconds();
    sess.run(step, w1 = a);
    CHECK(sess.simulated_seconds() - before == Approx(planned).epsilon(1e-9).margin(0));
  }
}

TEST_CASE("an estimate as text", "[session]") {
  constexpr cost_model model{.flops = 1024e6, .host_bandwidth = 256e6};
  constexpr auto sum_of_two = on<cpu<0>>(add_n(on<gpu<0>>(matmul(w1, w1)), on<gpu<1>>(matmul(w1, w1))));
  CHECK(estimate(plan_of(sum_of_two), model).text() ==
        "1. 0.0 to 1.0 us, gpu:0 copies in: w1 to gpu:0\n"
        "2. 1.0 to 2.0 us, gpu:0 kernel: MatMul\n"
        "3. 0.0 to 1.0 us, gpu:1 copies in: w1 to gpu:1\n"
        "4. 1.0 to 2.0 us, gpu:1 kernel: MatMul_1\n"
        "5. 2.0 to 3.0 us, gpu:0 copies out: MatMul to cpu:0\n"
        "6. 2.0 to 3.0 us, gpu:1 copies out: MatMul_1 to cpu:0\n"
        "7. 3.0 to 3.0 us, cpu:0: AddN\n"
        "gpu:0: kernels 1.0 us, copies 2.0 us\n"
        "gpu:1: kernels 1.0 us, copies 2.0 us\n"
        "cpu:0: kernels 0.0 us, copies 0.0 us\n"
        "all: 3.0 us\n");
}

TEST_CASE("what cannot be estimated is refused with its reason", "[session]") {
  constexpr auto open = placeholder<"open", float, dyn, 8>;
  CHECK_THROWS_WITH(estimate(plan_of(on<gpu<0>>(tanh(open))), h200),
                    "[onto.estimate] the extents of open float[?, 8] are not known, and so not how long it takes; "
                    "estimate the plan of the program with the extents in its types");
  CHECK_THROWS_WITH(estimate(plan_of<world<gpu<0>>>(on<cpu<0>>(tanh(w1))), h200),
                    "[onto.estimate] the plan has no device for some operation; estimate it in a world that has one");
}
