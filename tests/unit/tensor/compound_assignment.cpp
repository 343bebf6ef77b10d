// SPDX-License-Identifier: BSL-1.0
// Results of rank 0 add up as numbers do.
#include "../catch.hpp"

#include <onto/onto.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

using namespace onto;

namespace {

TEMPLATE_TEST_CASE("a value of rank 0 changes by numbers as C++'s do", "[tensor]", float, double, std::int8_t,
                   std::uint8_t, std::int32_t, std::int64_t, half, bfloat16) {
  using computed = std::conditional_t<std::is_arithmetic_v<TestType>, TestType, float>;
  tensor<TestType> t = static_cast<TestType>(7);
  auto expected = static_cast<computed>(7);
  const auto& same = t += 3;
  expected = static_cast<computed>(expected + 3);
  CHECK(&same == &t);
  CHECK(static_cast<computed>(t) == expected);
  t -= tensor<TestType>{static_cast<TestType>(4)};
  expected = static_cast<computed>(expected - 4);
  CHECK(static_cast<computed>(t) == expected);
  t *= tensor<int>{5};
  expected = static_cast<computed>(expected * 5);
  CHECK(static_cast<computed>(t) == expected);
  t /= 4;
  expected = static_cast<computed>(expected / 4);
  CHECK(static_cast<computed>(t) == expected);
  t -= t;
  CHECK(static_cast<computed>(t) == 0);
}

TEST_CASE("losses of several runs add up", "[tensor]") {
  constexpr auto x = placeholder<"x", float, 3>;
  session sess;
  auto total = sess.run(sum(x), x = {1.f, 2.f, 3.f});
  total += sess.run(sum(x), x = {0.5f, 0.25f, 0.f});
  total /= 2;
  total += 0.125;
  STATIC_REQUIRE(std::is_same_v<decltype(total), tensor<float>>);
  CHECK(total == 3.5f);
}

TEST_CASE("a number that was moved from is not counted with", "[tensor]") {
  tensor<float> from{1.f};
  const tensor<float> to = std::move(from);
  tensor<float> total{2.f};
  CHECK_THROWS_AS(total += from, failed_precondition_error);
  CHECK_THROWS_AS(from += 1, failed_precondition_error);
  CHECK(total == 2.f);
  CHECK(to == 1.f);
}

}  // namespace
