// SPDX-License-Identifier: BSL-1.0
// Gradients of random programs, every other one, whose values are put on devices at random are the same on any number
// of them.
#include "gradient_programs.hpp"
#include "simulated.hpp"

using namespace onto;

namespace {

template <int N>
void check_placed() {
  for (int gpus = 0; gpus <= 3; ++gpus) {
    INFO(gpus << " GPUs");
    session run{onto_test::simulated_alone({.allow_soft_placement = true, .log = nullptr, .simulated_gpus = gpus})};
    onto_test::check_gradients<N, onto_test::put_at_random>(run, [](const auto& loss) { return loss; });
    // Not all of it went to one device.
    if (gpus == 3) CHECK(run.statistics(gpu<0>{}).kernels + run.statistics(gpu<1>{}).kernels > 0);
    if (gpus == 3) CHECK(run.statistics(gpu<1>{}).transfers + run.statistics(gpu<2>{}).transfers > 0);
  }
}

template <int... N>
void check_all(std::integer_sequence<int, N...>) {
  (check_placed<2 * N>(), ...);
}

}  // namespace

TEST_CASE("gradients of random programs are the same on 0 to 3 GPUs", "[gradient]") {
  check_all(std::make_integer_sequence<int, onto_test::gradient_programs / 2>{});
}

// Derived nodes of the towers differ in nothing but their place, and values that are known at run time have each
// matched with what was compiled.
TEST_CASE("towers of one loss over variables whose initial values are known at run time", "[gradient]") {
  const auto p = variable<"p", float>(1.f);
  const auto q = variable<"q", float>(2.f);
  constexpr auto x = placeholder<"x", float, 2, 2>;
  const auto loss = mean(towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, [&](auto) { return sum((p + q) * x); }));
  const auto step = minimize<sgd{.rate = 0.5}>(loss);
  for (int gpus = 0; gpus <= 3; ++gpus) {
    INFO(gpus << " GPUs");
    session run{onto_test::simulated_alone({.allow_soft_placement = true, .log = nullptr, .simulated_gpus = gpus})};
    run.initialize(step);
    CHECK(run.run(step, x = {{1, 2}, {3, 4}}) == 30.f);  // the sum of x is the gradient by each
    CHECK(run.run(p) == -4.f);
    CHECK(run.run(q) == -3.f);
    CHECK(run.run(step, x = {{0, 0}, {0, 1}}) == -7.f);
    CHECK(run.run(p) == -4.5f);
  }
}
