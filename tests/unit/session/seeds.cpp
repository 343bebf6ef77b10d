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

TEST_CASE("a seed that the kernel computes gives the numbers of its value", "[session][random]") {
  constexpr auto small = placeholder<"small", std::uint8_t>;
  constexpr auto many = placeholder<"many", float, 1500>;
  session sess;
  tensor<float, 1500> X;
  for (std::size_t k = 0; k < X.size(); ++k) X.data()[k] = static_cast<float>(k);
  for (const std::int64_t s : {std::int64_t{5}, std::int64_t{-3}, std::int64_t{1} << 41}) {
    INFO(s);
    CHECK(sess.run(random_normal<float, 1500>(seed * 3 + 1), seed = s) ==
          sess.run(random_normal<float, 1500>(s * 3 + 1)));
    CHECK(sess.run(random_uniform<double, 70>(seed - 9), seed = s) == sess.run(random_uniform<double, 70>(s - 9)));
    CHECK(sess.run(many * random_uniform<float, 1500>(seed + 1), seed = s, many = X) ==
          sess.run(many * random_uniform<float, 1500>(s + 1), many = X));
    CHECK(sess.run(random_uniform<float, 40>(where(seed > 0, seed, 4)), seed = s) ==
          sess.run(random_uniform<float, 40>(s > 0 ? s : 4)));
  }
  CHECK(sess.run(random_normal<float, 99>(narrow), narrow = -7) == sess.run(random_normal<float, 99>(-7)));
  CHECK(sess.run(random_normal<float, 99>(cast<std::int64_t>(small) + 1), small = std::uint8_t{255}) ==
        sess.run(random_normal<float, 99>(256)));
  CHECK(sess.run(random_uniform<double, 99>(narrow * 2), narrow = -7) == sess.run(random_uniform<double, 99>(-14)));
  const auto [drawn, number] = sess.run(fetches(random_normal<float>(seed + 1), seed + 1), seed = 4);
  CHECK(drawn == sess.run(random_normal<float>(5)));
  CHECK(static_cast<std::int64_t>(number) == 5);
}

TEST_CASE("a seed that a variable counts gives each run other numbers", "[session][random]") {
  session sess;
  const auto count = variable<"count", std::int64_t>(0_c);
  const auto next = assign_add(count, 1_c);
  const auto step = sess.prepare(random_normal<float, 3>(next));
  sess.run(initialize(count));
  for (const int k : {1, 2, 3}) CHECK(step() == sess.run(random_normal<float, 3>(k)));
}
