// SPDX-License-Identifier: BSL-1.0
// Gradients on GPUs: random programs beside JAX, and what goes by number beside the CPU.
#include "session/gradient_programs.hpp"

#include <tuple>

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

// The kernel that sums back what data of one type, told apart by the run, may have broadcast.
TEST_CASE("gradients of data of one type on a GPU are those on the CPU", "[gpu][gradient]") {
  const tensor<double, dyn, dyn> whole{{0.5, 0.2, 0.9}, {0.1, 0.4, 0.3}}, row{{0.8, 0.7, 0.6}};
  constexpr auto w = placeholder<"w", double, 3, 3>;
  const tensor<double, 3, 3> weights{{0.2, 0.6, 0.1}, {0.5, 0.9, 0.4}, {0.8, 0.3, 0.7}};
  session sess;
  for (const auto& b : {row, tensor<double, dyn, dyn>{{0.3, 0.1, 0.2}, {0.7, 0.9, 0.5}}}) {
    const auto of_a = constant(whole), of_b = constant(b);
    const auto by = gradients(mean(square(matmul(of_a, w) - of_b)), of_b, w);
    const auto [by_b, by_w] = sess.run(fetches(std::get<0>(by), std::get<1>(by)), w = weights);
    const auto [gpu_b, gpu_w] =
        sess.run(fetches(on<gpu<0>>(std::get<0>(by)), on<gpu<0>>(std::get<1>(by))), w = weights);
    REQUIRE(gpu_b.shape() == b.shape());
    for (std::size_t k = 0; k < b.size(); ++k) CHECK(gpu_b.data()[k] == Approx(by_b.data()[k]));
    for (std::size_t k = 0; k < weights.size(); ++k) CHECK(gpu_w.data()[k] == Approx(by_w.data()[k]));
  }
  CHECK(cuda_emulation::take_violations().empty());
}
