// SPDX-License-Identifier: BSL-1.0
// Gradients of random programs whose values are put on devices at random are the same on any number of them.
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
  (check_placed<N>(), ...);
}

}  // namespace

TEST_CASE("gradients of random programs are the same on 0 to 3 GPUs", "[gradient]") {
  check_all(std::make_integer_sequence<int, onto_test::gradient_programs>{});
}
