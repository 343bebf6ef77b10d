// SPDX-License-Identifier: BSL-1.0
// Gradients of random programs are JAX's.
#include "gradient_programs.hpp"

using namespace onto;

TEST_CASE("gradients of random programs are JAX's", "[gradient]") {
  session run;
  onto_test::check_gradients_of(
      run, [](const auto& loss) { return loss; }, std::make_integer_sequence<int, onto_test::gradient_programs>{});
}
