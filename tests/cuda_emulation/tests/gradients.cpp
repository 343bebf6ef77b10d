// SPDX-License-Identifier: BSL-1.0
// Gradients on GPUs: random programs beside JAX, and what goes by number beside the CPU.
#include "session/gradient_programs.hpp"

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

TEST_CASE("gradients of random programs on a GPU are JAX's", "[gpu][gradient]") {
  session sess;
  onto_test::check_gradients_of(
      sess, [](const auto& loss) { return on<gpu<0>>(loss); }, std::make_integer_sequence<int, 6>{});
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("gradients by number on a GPU are those on the CPU, to the bit", "[gpu][gradient]") {
  constexpr auto x = placeholder<"x", double, dyn, 3>;
  const tensor<double, dyn, 3> at{{0.5, 0.2, 0.9}, {0.1, 0.4, 0.3}, {0.8, 0.7, 0.6}, {0.2, 0.5, 0.1}};
  session sess;
  const auto check = [&](const auto& e) {
    const auto by_x = gradient(sum(e * e + e), x);
    CHECK(sess.run(on<gpu<1>>(by_x), x = at) == sess.run(by_x, x = at));
  };
  check(take<0>(x, constant({0, 2, -1, 2, 7})));
  check(take<1>(x, constant({{0, 2}, {1, 1}})));
  check(take_along_axis<1>(slice<0, 1>(x), constant({{0, 2}, {1, 1}, {2, 2}})));
  check(take_along_axis<0>(x, constant({{0, 2, 1}, {3, 3, 3}})));
  check(dynamic_slice<2, 2>(x, constant({1, 1})));
  check(update_slice(x, square(slice<0, 2>(x)), constant({1, 0})));
  check(scatter(x, constant({1, 1, 9}), square(slice<0, 3>(x))));
  check(scatter_add(x, constant({1, 1, -1}), square(slice<0, 3>(x))));
  check(segment_sum<3>(x, constant({1, 1, 0, 4})));
  check(concat<0>(x, square(x), x));
  CHECK(cuda_emulation::take_violations().empty());
}
