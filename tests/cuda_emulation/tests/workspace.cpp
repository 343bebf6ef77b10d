// SPDX-License-Identifier: BSL-1.0
// What kernels need to work in is part of the plan: a run takes what `peak_bytes` says, on a GPU whose memory is
// limited to it, and nothing beside.
#include <onto/scan.hpp>

#include <cmath>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace {

using here = world<cpu<0>, gpu<0>>;

constexpr auto line = placeholder<"line", float, 1, 40000>;
constexpr auto few = placeholder<"few", float, 3, 30000>;
constexpr auto wide = placeholder<"wide", float, 256, 256>;
constexpr auto doubles = placeholder<"doubles", double, 300, 300>;
constexpr auto left = placeholder<"left", float, 40, 60>;
constexpr auto right = placeholder<"right", float, 30, 20>;
constexpr auto centred = few - mean<-1>(few, keep_extents);
constexpr auto normal = centred * rsqrt(mean<-1>(square(centred), keep_extents) + 1e-5_c);
constexpr auto tall = placeholder<"tall", float, 30000, 3>;
constexpr auto centred_columns = tall - mean<0>(tall);
constexpr auto normal_columns = centred_columns * rsqrt(mean<0>(square(centred_columns)) + 1e-5_c);

template <class Tensor>
Tensor series() {
  Tensor t;
  int k = 0;
  for (auto& v : t) v = static_cast<std::decay_t<decltype(v)>>((k++ * 37 % 101 - 50) / 32.0);
  return t;
}

session_options limited_to(std::int64_t bytes) {
  session_options o;
  o.gpu = {.allow_growth = true, .memory_limit = bytes, .visible_device_list = "0"};
  return o;
}

template <class Tensor>
void check_alike(const Tensor& got, const Tensor& expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(got.size()); ++k)
    worst = std::fmax(worst, std::fabs(static_cast<double>(got.data()[k]) - static_cast<double>(expected.data()[k])));
  CHECK(worst < 1e-3);
}

/// Runs `e` on a GPU that has as many bytes as the plan says, and with fewer.
template <class E, class... Feeds>
void check_within_plan(const E& e, const Feeds&... feeds) {
  constexpr auto planned = plan_of<here>(on<gpu<0>>(E{}));
  constexpr std::int64_t peak = planned.peak_bytes(gpu<0>{});
  static_assert(planned.workspace_bytes(gpu<0>{}) > 0 && planned.workspace_bytes(gpu<0>{}) < peak);
  static_assert(planned.workspace_bytes(cpu<0>{}) == 0);
  const auto expected = session{}.run(on<cpu<0>>(e), feeds...);
  {
    session sess{limited_to(peak)};
    for (int run = 0; run < 2; ++run) check_alike(sess.run(on<gpu<0>>(e), feeds...), expected);
    const auto step = sess.prepare(on<gpu<0>>(e));
    for (int run = 0; run < 4; ++run) check_alike(step(feeds...), expected);
    const memory_info m = sess.memory(gpu<0>{});
    CHECK(m.peak == peak);
    CHECK(m.workspace == 0);
  }
  session less{limited_to(peak - 256)};
  CHECK_THROWS_AS(less.run(on<gpu<0>>(e), feeds...), resource_exhausted_error);
  CHECK(cuda_emulation::take_violations().empty());
}

}  // namespace

TEST_CASE("rows that blocks share work in what is planned", "[memory]") {
  check_within_plan(softmax(line), line = series<tensor<float, 1, 40000>>());
  check_within_plan(normal, few = series<tensor<float, 3, 30000>>());
  check_within_plan(normal_columns, tall = series<tensor<float, 30000, 3>>());
}

TEST_CASE("reductions that blocks share work in what is planned", "[memory]") {
  check_within_plan(sum(wide), wide = series<tensor<float, 256, 256>>());
  check_within_plan(argmax<0>(wide), wide = series<tensor<float, 256, 256>>());
  check_within_plan(mean<0>(doubles), doubles = series<tensor<double, 300, 300>>());
}

TEST_CASE("scans work in what is planned", "[memory]") {
  check_within_plan(cumsum(few), few = series<tensor<float, 3, 30000>>());
}

TEST_CASE("a product whose operand must be copied works in what is planned, if there is no more", "[memory]") {
  check_within_plan(matmul(slice<range<0, 40>, range<0, 60, 2>>(left), right), left = series<tensor<float, 40, 60>>(),
                    right = series<tensor<float, 30, 20>>());
}

TEST_CASE("what does not fit is named, if it is what kernels work in", "[memory]") {
  session sess{limited_to(plan_of<here>(on<gpu<0>>(softmax(line))).peak_bytes(gpu<0>{}) - 256)};
  CHECK_THROWS_WITH(sess.run(on<gpu<0>>(softmax(line)), line = series<tensor<float, 1, 40000>>()),
                    Catch::Contains("what does not fit is what its kernels work in"));
}
