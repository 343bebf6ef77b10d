// SPDX-License-Identifier: BSL-1.0
// Every operation computes on the GPU what it computes on the CPU. Results of floating point may differ by 16 units in
// the last place, of numbers below 1 by as many as of 1.
#include <onto/onto.hpp>

#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "catch.hpp"
#include "gpu.hpp"

using namespace onto;

namespace {

template <class T>
inline constexpr auto x = placeholder<"x", T, dyn, dyn>;
template <class T>
inline constexpr auto y = placeholder<"y", T, dyn, dyn>;
inline constexpr auto p = placeholder<"p", bool, dyn, dyn>;
inline constexpr auto q = placeholder<"q", bool, dyn, dyn>;

constexpr int rows = 37, columns = 53;

/// Numbers between `low` and `high`; the first ones are the edges of the type where they are in between.
template <class T>
tensor<T, dyn, dyn> numbers(double low, double high, std::size_t seed) {
  tensor<T, dyn, dyn> t({rows, columns});
  std::size_t k = seed;
  for (T& v : t) v = static_cast<T>(low + (gpu_test::number(k++) + 1) / 2 * (high - low));
  const T edges[] = {T(0), T(-0.0), T(1), T(-1), static_cast<T>(low), static_cast<T>(high)};
  int n = 0;
  for (const T edge : edges)
    if (static_cast<double>(edge) >= low && static_cast<double>(edge) <= high) t.data()[n++] = edge;
  if constexpr (std::is_floating_point_v<T>) t.data()[columns] = std::numeric_limits<T>::quiet_NaN();
  return t;
}

tensor<bool, dyn, dyn> flags(std::size_t seed) {
  tensor<bool, dyn, dyn> t({rows, columns});
  std::size_t k = seed;
  for (bool& v : t) v = gpu_test::number(k++) > 0;
  return t;
}

template <class T>
bool agree(T got, T expected) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
    if (got == expected) return true;
    const T scale = std::fmax(T(1), std::fabs(expected));
    return std::fabs(got - expected) <= 16 * std::numeric_limits<T>::epsilon() * scale;
  } else {
    return got == expected;
  }
}

template <class T, int... Dims>
void compare(const tensor<T, Dims...>& got, const tensor<T, Dims...>& expected, std::size_t which) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < static_cast<std::size_t>(got.size()); ++k) {
    if (agree(got.data()[k], expected.data()[k])) continue;
    FAIL_CHECK("result " << which << ", element " << k << ": " << got.data()[k] << " on the GPU, " << expected.data()[k]
                         << " on the CPU");
    return;
  }
}

/// Runs the expressions on the GPU and on the CPU, from the same feeds.
template <class... Feed>
auto on_both(const Feed&... feeds) {
  return [&](const auto&... e) {
    static session sess;
    const auto got = sess.run(fetches(on<gpu<0>>(e)...), feeds...);
    const auto expected = sess.run(fetches(on<cpu<0>>(e)...), feeds...);
    [&]<std::size_t... K>(std::index_sequence<K...>) { (compare(std::get<K>(got), std::get<K>(expected), K), ...); }
    (std::make_index_sequence<sizeof...(e)>{});
  };
}

}  // namespace

TEMPLATE_TEST_CASE("functions of one number", "[cuda][operations]", float, double) {
  using T = TestType;
  const auto wide = numbers<T>(-6, 6, 1), positive = numbers<T>(0, 30, 2), unit = numbers<T>(-1, 1, 3);
  const auto& a = x<T>;
  on_both(a = wide)(-a, abs(a), sign(a), square(a), exp(a), expm1(a), sin(a), cos(a), atan(a), sinh(a), cosh(a),
                    tanh(a));
  on_both(a = wide)(erf(a), sigmoid(a), softplus(a), relu(a), gelu(a), floor(a), ceil(a), round(a), softmax(a),
                    log_softmax<0>(a));
  on_both(a = positive)(sqrt(a), rsqrt(a + 0.5f), log(a), log1p(a));
  on_both(a = unit)(asin(a), acos(a), tan(a));
}

TEMPLATE_TEST_CASE("functions of two numbers", "[cuda][operations]", float, double, std::int32_t) {
  using T = TestType;
  const auto first = numbers<T>(-9, 9, 1), second = numbers<T>(-4, 5, 20000);
  const auto& a = x<T>;
  const auto& b = y<T>;
  on_both(a = first, b = second)(a + b, a - b, a * b, a / b, mod(a, b), maximum(a, b), minimum(a, b), pow(abs(a), b));
  on_both(a = first, b = second)(a == b, a != b, a<b, a <= b, a> b, a >= b, where(a < b, a, b), add_n(a, b, a, b, b));
}

TEST_CASE("angles, truth and conversions", "[cuda][operations]") {
  const auto wide = numbers<float>(-300, 300, 1), other = numbers<float>(-5, 5, 20000);
  on_both(x<float> = wide, y<float> = other)(atan2(x<float>, y<float>), cast<std::int32_t>(x<float>),
                                             cast<std::int64_t>(x<float> * 1e17f), cast<double>(x<float>),
                                             cast<bool>(x<float>), cast<float>(cast<std::int32_t>(x<float>)));
  on_both(p = flags(1), q = flags(20000))(p && q, p || q, !p, cast<float>(p), any(p), all<0>(p || q), any<1>(p));
}

TEST_CASE("generators", "[cuda][operations]") {
  on_both()(zeros<float, 5, 7>() + 0, ones<double, 3>() + 0, fill<float, 33>(2.5f) + 0, eye<float, 9, 11>() + 0,
            iota<std::int64_t, 1000>() + 0, random_uniform<float, 1001>(std::int64_t{7}) + 0,
            random_uniform<double, 1001>(std::int64_t{7}) + 0, random_normal<float, 1001>(std::int64_t{8}) + 0);
}

TEMPLATE_TEST_CASE("reductions", "[cuda][operations]", float, double, std::int32_t) {
  using T = TestType;
  auto data = numbers<T>(-3, 3, 1);
  data.data()[columns] = T(2);  // the NaN is a case of its own
  const auto& a = x<T>;
  const auto reductions = [&] {
    on_both(a = data)(sum(a), sum<0>(a), sum<1>(a * a), min(a), min<0>(a), max<1>(a), prod<0>(a / 2), argmin(a),
                      argmax<0>(a), argmax<1>(transpose(a)));
  };
  reductions();
  if constexpr (std::is_floating_point_v<T>) {
    on_both(a = data)(mean(a), mean<0>(exp(a)), sum(a, keep_extents) + a);
    data.data()[5] = std::numeric_limits<T>::quiet_NaN();
    reductions();
  }
}

TEST_CASE("views and concatenation", "[cuda][operations]") {
  const auto data = numbers<float>(-3, 3, 1);
  const auto& a = x<float>;
  on_both(a = data)(transpose(a) + 0, transpose(a), slice<range<1, 30, 3>, range<-5, -1>>(a) * 2, reshape<53, 37>(a),
                    reshape<dyn>(transpose(a)), concat<0>(a, a * 2, a), concat<1>(a, exp(a)), expand_dims<0>(a) + a,
                    matmul(a, transpose(a)) * 0 + 1);
}
