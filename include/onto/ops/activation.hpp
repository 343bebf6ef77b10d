// SPDX-License-Identifier: BSL-1.0
// The functions between the layers of a neural network, element by element.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>
#include <onto/ops/unary.hpp>

namespace onto {

namespace op {

struct greater;

struct sigmoid : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Sigmoid";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::abs;
    using math::select;
    const T one = math::splat<T>(1);
    const T e = op::exp::apply(-abs(x));  // never overflows
    return select(x >= math::splat<T>(0), one, e) / (one + e);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return g * (y * (1 - y));
  }
};

struct relu : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Relu";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::select;
    const T zero = math::splat<T>(0);
    return select(x <= zero, zero, x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return make<where>(make<greater>(y, 0), g, 0);
  }
};

struct softplus : detail::packed_elementwise<floating_elements, 20> {
  static constexpr std::string_view name = "Softplus";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::abs;
    return relu::apply(x) + op::log1p::apply(op::exp::apply(-abs(x)));  // never overflows
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * make<sigmoid>(x);
  }
};

/// The share of a normal distribution below `-t`, for floats from 0 to 14.5, times `t`; to 3 units of the last place in
/// the tail too, where the rounding of erfc's argument costs hundreds.
/// *Source* a polynomial in 1 / (1 + 0.35 t) for the share over its density, fitted to 2.8e-8 (Lawson's algorithm).
template <class T>
ONTO_HD T tail_of_normal(T t) {
  using math::nearbyint;
  const auto number = [](double value) { return math::splat<T>(value); };
  const T u = number(1) / (number(1) + number(0.35) * t);
  T r = number(-0.02826537919405264);
  r = r * u + number(0.1394082886041029);
  r = r * u + number(-0.24553934013566017);
  r = r * u + number(0.1464029124490624);
  r = r * u + number(-0.01319784294086473);
  r = r * u + number(0.10059187250109154);
  r = r * u + number(0.12138580626411932);
  r = r * u + number(0.1395615282005717);
  r = r * u + number(0.13965359497327348);
  r = r * u + number(-1.4546070368700965e-06);
  // exp(-t * t / 2): the square of what `t` is in units of 1/256 is exact, the rest is a short series.
  const T most = nearbyint(t * number(256)) * number(1.0 / 256);
  const T rest = number(0.5) * (t + most) * (most - t);
  const T series = number(1) + rest * (number(1) + rest * (number(0.5) + rest * number(1.0 / 6)));
  return op::exp::apply(number(-0.5) * most * most) * (t * (r * series));
}

struct gelu : detail::packed_elementwise<floating_elements, 22> {
  static constexpr std::string_view name = "Gelu";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::abs;
    using math::select;
    if constexpr (std::is_same_v<math::lane_of<T>, float>) {
      const T far = math::splat<T>(14.5);  // beyond, nothing is left below
      const T t = abs(x);
      return select(x <= math::splat<T>(0), math::splat<T>(0), x) - tail_of_normal<T>(select(t < far, t, far));
    } else {
      T tail{};  // 2 * the normal distribution's share below x; erfc keeps its digits where 1 + erf would cancel
      if constexpr (math::is_pack<T>) {
        tail = math::each_lane([](auto v) { return math::erfc(v * -0.7071067811865476); }, x);
      } else {
        tail = math::erfc(x * -0.7071067811865476);
      }
      return select(x < math::splat<T>(-40), math::splat<T>(0), math::splat<T>(0.5) * x * tail);
    }
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * (0.5 * (make<erf>(x * 0.7071067811865476) + 1) + x * (0.3989422804014327 * make<exp>(x * x * -0.5)));
  }
};

}  // namespace op

/// `1 / (1 + exp(-x))`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto sigmoid(const E& x) {
  return make<op::sigmoid>(x);
}
/// `x` where it is above 0, else 0; NaN stays NaN. For all numbers.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto relu(const E& x) {
  return make<op::relu>(x);
}
/// `log(1 + exp(x))`, which is close to `relu(x)` away from 0.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto softplus(const E& x) {
  return make<op::softplus>(x);
}
/// `x` times the share of a normal distribution below `x`: `x * (1 + erf(x / sqrt(2))) / 2`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto gelu(const E& x) {
  return make<op::gelu>(x);
}
}  // namespace onto
