// SPDX-License-Identifier: BSL-1.0
// Seeds that the run knows: the numbers of a seed are the same however it comes, and each run may have its own.
#include <onto/onto.hpp>

#include "../catch.hpp"

#include <cstdint>

using namespace onto;

namespace {

constexpr auto seed = placeholder<"seed", std::int64_t>;
constexpr auto narrow = placeholder<"narrow", std::int32_t>;
constexpr auto x = placeholder<"x", float, dyn, dyn>;

}  // namespace

TEST_CASE("a seed that is fed gives the numbers of its value", "[session][random]") {
  session sess;
  session_options with_gpu;
  with_gpu.simulated_gpus = 1;
  session simulated{with_gpu};
  const auto normal = random_normal<float, 4, 33>(seed);
  const auto uniform = random_uniform<double, 70>(seed);
  const auto step = sess.prepare(fetches(normal, uniform));
  for (const std::int64_t s : {std::int64_t{0}, std::int64_t{42}, std::int64_t{-7}, std::int64_t{1} << 40}) {
    INFO(s);
    const auto expected = sess.run(random_normal<float, 4, 33>(s));
    CHECK(sess.run(normal, seed = s) == expected);
    CHECK(evaluate(normal, seed = s) == expected);
    CHECK(simulated.run(on<gpu<0>>(normal), seed = s) == expected);
    CHECK(sess.run(normal * 2.0f, seed = s) == sess.run(random_normal<float, 4, 33>(s) * 2.0f));
    const auto [first, second] = step(seed = s);
    CHECK(first == expected);
    CHECK(second == sess.run(random_uniform<double, 70>(s)));
    CHECK(sess.run(random_normal_like(x, seed), seed = s, x = expected) == tensor<float, dyn, dyn>(expected));
  }
  CHECK(sess.run(random_uniform<float, 5>(narrow), narrow = 11) == sess.run(random_uniform<float, 5>(11)));
  CHECK(sess.run(random_uniform<float, 5>(narrow + 1), narrow = 10) == sess.run(random_uniform<float, 5>(11)));
}

TEST_CASE("a seed that a variable counts gives each run other numbers", "[session][random]") {
  session sess;
  const auto count = variable<"count", std::int64_t>(0_c);
  const auto next = assign_add(count, 1_c);
  const auto step = sess.prepare(random_normal<float, 3>(next));
  sess.run(initialize(count));
  for (const int k : {1, 2, 3}) CHECK(step() == sess.run(random_normal<float, 3>(k)));
}
