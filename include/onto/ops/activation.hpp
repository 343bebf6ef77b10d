// SPDX-License-Identifier: BSL-1.0
// The functions between the layers of a neural network, element by element.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

struct sigmoid : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Sigmoid";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::abs;
    using math::exp;
    using math::select;
    const T one = math::splat<T>(1);
    const T e = exp(-abs(x));  // never overflows
    return select(x >= math::splat<T>(0), one, e) / (one + e);
  }
};

struct relu : detail::packed_elementwise<> {
  static constexpr std::string_view name = "Relu";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::select;
    const T zero = math::splat<T>(0);
    return select(x <= zero, zero, x);
  }
};

struct gelu : detail::packed_elementwise<floating_elements, 22> {
  static constexpr std::string_view name = "Gelu";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::select;
    T tail{};  // 2 * the normal distribution's share below x; erfc keeps its digits where 1 + erf would cancel
    if constexpr (math::is_pack<T>) {
      tail = math::each_lane([](auto v) { return math::erfc(v * math::splat<decltype(v)>(-0.7071067811865476)); }, x);
    } else {
      tail = math::erfc(x * math::splat<T>(-0.7071067811865476));
    }
    return select(x < math::splat<T>(-40), math::splat<T>(0), math::splat<T>(0.5) * x * tail);
  }
};

}  // namespace op

/// `1 / (1 + exp(-x))`.
template <expression E>
constexpr auto sigmoid(const E& x) {
  return make<op::sigmoid>(x);
}
/// `x` where it is above 0, else 0; NaN stays NaN. For all numbers.
template <expression E>
constexpr auto relu(const E& x) {
  return make<op::relu>(x);
}
/// `x` times the share of a normal distribution below `x`: `x * (1 + erf(x / sqrt(2))) / 2`.
template <expression E>
constexpr auto gelu(const E& x) {
  return make<op::gelu>(x);
}
}  // namespace onto
