// SPDX-License-Identifier: BSL-1.0
// Integers of 8 bits compute what NumPy computes.
#include "integers.hpp"

using namespace onto;

TEST_CASE("integers of 8 bits with a sign compute what NumPy computes", "[session]") { check_integers<std::int8_t>(); }
TEST_CASE("integers of 8 bits without a sign compute what NumPy computes", "[session]") {
  check_integers<std::uint8_t>();
}

namespace {
constexpr auto x = placeholder<"x", std::int8_t, dyn, dyn>;
constexpr auto image = placeholder<"image", std::uint8_t, dyn, dyn>;
}  // namespace

TEST_CASE("a row's sum of short integers, which is wider than they are, is a kernel of its own", "[session]") {
  constexpr auto centred = cast<std::int64_t>(x) - sum<1>(x, keep_extents);
  constexpr auto lowered = x - max<1>(x, keep_extents);
  static_assert(plan_of(centred).kernels == 2);
  static_assert(plan_of(lowered).kernels == 1);
  session sess{{.simulated_gpus = 1}};
  const tensor<std::int8_t, 2, 3> given{{127, 127, 100}, {-128, -128, 3}};
  const tensor<std::int64_t, 2, 3> wanted{{-227, -227, -254}, {125, 125, 256}};
  CHECK(sess.run(on<cpu<0>>(centred), x = given) == wanted);
  CHECK(sess.run(on<gpu<0>>(centred), x = given) == wanted);
  CHECK(sess.run(lowered, x = given) == tensor<std::int8_t, 2, 3>{{0, 0, -27}, {125, 125, 0}});
  // A sum at the end of a kernel over rows: the differences wrap, their sums do not.
  CHECK(sess.run(sum<1>(lowered), x = given) == tensor<std::int64_t, 2>{-27, 250});
}

TEST_CASE("images of uint8 become floats and images again", "[session]") {
  session sess;
  const tensor<std::uint8_t, 2, 2> given{{0, 255}, {128, 64}};
  const auto brighter = cast<std::uint8_t>(cast<float>(image) * 1.5f + 0.5f);
  CHECK(sess.run(brighter, image = given) == tensor<std::uint8_t, 2, 2>{{0, 255}, {192, 96}});
  CHECK(sess.run(mean(cast<float>(image)), image = given) == 111.75f);
  CHECK(sess.run(mean(cast<half>(image)), image = given) == half(111.75f));
}

TEST_CASE("variables and constants of short integers", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const auto count = variable<"count", std::uint8_t, 3>({250, 0, 7});
  sess.run(initialize(count));
  CHECK(sess.run(on<gpu<0>>(assign_add(count, 10))) == tensor<std::uint8_t, 3>{4, 10, 17});
  CHECK(sess.run(count + constant<"c">(tensor<std::uint8_t, 3>{1, 2, 240})) == tensor<std::uint8_t, 3>{5, 12, 1});
  CHECK_THROWS_AS(image + 256, invalid_argument_error);
  CHECK_THROWS_AS(x - 129, invalid_argument_error);
  const int large = 256;
  CHECK_THROWS_AS((tensor<std::uint8_t, 1>{large}), invalid_argument_error);
  CHECK_THROWS_AS((tensor<std::uint8_t, 1>{-1}), invalid_argument_error);
}
