// SPDX-License-Identifier: BSL-1.0
// The element types of tensors, as types and as values.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/half.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace onto {

/// An element type as a value.
enum class element : std::uint8_t { float32, float64, int32, int64, boolean, float16, bfloat16 };

inline constexpr int element_count = 7;

namespace detail {
template <class T>
struct element_tag {
  static constexpr bool supported = false;
};
template <>
struct element_tag<float> {
  static constexpr bool supported = true;
  static constexpr element value = element::float32;
};
template <>
struct element_tag<double> {
  static constexpr bool supported = true;
  static constexpr element value = element::float64;
};
template <>
struct element_tag<std::int32_t> {
  static constexpr bool supported = true;
  static constexpr element value = element::int32;
};
template <>
struct element_tag<std::int64_t> {
  static constexpr bool supported = true;
  static constexpr element value = element::int64;
};
template <>
struct element_tag<bool> {
  static constexpr bool supported = true;
  static constexpr element value = element::boolean;
};
template <>
struct element_tag<half> {
  static constexpr bool supported = true;
  static constexpr element value = element::float16;
};
template <>
struct element_tag<bfloat16> {
  static constexpr bool supported = true;
  static constexpr element value = element::bfloat16;
};

template <element E>
struct element_type;
template <>
struct element_type<element::float32> {
  using type = float;
};
template <>
struct element_type<element::float64> {
  using type = double;
};
template <>
struct element_type<element::int32> {
  using type = std::int32_t;
};
template <>
struct element_type<element::int64> {
  using type = std::int64_t;
};
template <>
struct element_type<element::boolean> {
  using type = bool;
};
template <>
struct element_type<element::float16> {
  using type = half;
};
template <>
struct element_type<element::bfloat16> {
  using type = onto::bfloat16;
};
}  // namespace detail

/// The types a tensor can hold: float, double, half, bfloat16, 32 and 64 bit integers, bool.
template <class T>
concept tensor_element = detail::element_tag<T>::supported;

/// The value of an element type: `element_of<float> == element::float32`.
template <tensor_element T>
inline constexpr element element_of = detail::element_tag<T>::value;

/// The type behind an element value.
template <element E>
using element_t = typename detail::element_type<E>::type;

/// Bytes of one element.
ONTO_INLINE constexpr int size_of(element e) {
  // A digit for each: an array here would be written to the stack by every caller.
  return static_cast<int>(0x2218484u >> 4 * static_cast<unsigned>(e) & 15u);
}

/// `float`, `double`, `int32`, `int64`, `bool`, `half`, `bfloat16`: as logs and errors write it.
constexpr std::string_view name_of(element e) {
  constexpr std::string_view names[] = {"float", "double", "int32", "int64", "bool", "half", "bfloat16"};
  return names[static_cast<int>(e)];
}

/// Whether elements are stored in 16 bits and computed in float.
ONTO_INLINE constexpr bool is_narrow(element e) { return e == element::float16 || e == element::bfloat16; }

ONTO_INLINE constexpr bool is_floating(element e) {
  return e == element::float32 || e == element::float64 || is_narrow(e);
}

/// The type in which elements are computed: float for half and bfloat16, else their own.
ONTO_INLINE constexpr element computed_as(element e) { return is_narrow(e) ? element::float32 : e; }

template <element E>
using computed_t = element_t<computed_as(E)>;

template <tensor_element T>
using computed_of = computed_t<element_of<T>>;

}  // namespace onto
