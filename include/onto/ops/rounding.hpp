// SPDX-License-Identifier: BSL-1.0
// Rounding to whole numbers, element by element.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

struct floor : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Floor";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::floor;
    return floor(x);
  }
  static constexpr bool flat = true;
};

struct ceil : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Ceil";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::ceil;
    return ceil(x);
  }
  static constexpr bool flat = true;
};

struct round : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Round";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::nearbyint;
    return nearbyint(x);
  }
  static constexpr bool flat = true;
};

}  // namespace op

/// The greatest integer that is not above `x`, as floating point.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto floor(const E& x) {
  return make<op::floor>(x);
}
/// The least integer that is not below `x`, as floating point.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto ceil(const E& x) {
  return make<op::ceil>(x);
}
/// The nearest integer, as floating point; of two that are as near, the even one.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto round(const E& x) {
  return make<op::round>(x);
}

}  // namespace onto
