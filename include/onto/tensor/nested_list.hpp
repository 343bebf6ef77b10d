// SPDX-License-Identifier: BSL-1.0
// Values written in nested braces: `{{1, 2}, {3, 4}}` as a type, its shape, and its values in row-major order.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/error.hpp>
#include <onto/shape/extents.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>

namespace onto {
template <tensor_element T, int... Dims>
class tensor;
}

namespace onto::detail {

[[noreturn]] ONTO_COLD inline void throw_value_lost() {
  throw invalid_argument_error(
      "[onto.tensor] a value is outside what the element type holds; choose a wider element type");
}

/// True where a value of type `U` may stand in the list of a tensor of `T`: a text for a text, and for a number any
/// number but a fraction for an integer.
template <class U, class T>
concept list_value = (is_text(element_of<T>) && text_like<U>) ||
                     (!is_text(element_of<T>) && is_number<U> && (is_floating(element_of<T>) || std::is_integral_v<U>));

/// Strings of other types than onto's, one after the other.
template <class Range>
concept range_of_strings = !text_like<Range> && requires(const Range& r) {
  std::size(r);
  requires text_like<std::remove_cvref_t<decltype(*std::begin(r))>>;
  requires !std::is_same_v<std::remove_cvref_t<decltype(*std::begin(r))>, text>;
};

template <class Row>
concept number_or_element = is_number<Row> || tensor_element<Row>;

/// Values one after the other that do not lie in one piece: a deque, a view of the standard's.
template <class Range, class T>
concept range_in_pieces = __is_class(Range) && requires(const Range& r) {
  r.size();
  requires list_value<std::remove_cvref_t<decltype(*r.begin())>, T>;
}
&&!requires(const Range& r) { r.data(); };

/// What is copied value by value.
template <class Range, class T>
concept values_elsewhere = (is_text(element_of<T>) && range_of_strings<Range>) ||
                           (!is_text(element_of<T>) && range_in_pieces<Range, T>);

/// What a pair of it says from where to where values lie: an iterator, but no text.
template <class X>
concept position = !text_like<X> && requires(X & x) {
  *x;
  ++x;
};
/// What a value of a tensor of `T` is written as: a float for half and bfloat16, so that numbers can be written as they
/// are.
template <class T>
using listed_as = std::conditional_t<is_half_precision(element_of<T>), float, T>;

template <class U>
constexpr bool is_negative(U value) {
  if constexpr (std::is_signed_v<U>)
    return value < 0;
  else
    return false;
}

/// Whether an integer is one of the type `T`: std::in_range, but of characters and truth values too.
template <class T, class U>
constexpr bool holds(const U& value) {
  const T result = static_cast<T>(value);
  return static_cast<U>(result) == value && is_negative(result) == is_negative(value);
}

/// The number as an element. *Throws* `invalid_argument_error` where an integer does not fit.
template <class T, class U>
constexpr T element_from(const U& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, U>) {
    if (!holds<T>(value)) throw_value_lost();
  }
  return static_cast<T>(value);
}

/// A number in a list of one. Where no list stands, it takes one conversion too many to become a tensor.
template <class T>
struct listed_value {
  T value;

  template <list_value<T> U>
  listed_value(const U& given) : value(element_from<T>(given)) {}
};

template <class T, int Rank>
struct nested {
  using list = std::initializer_list<typename nested<T, Rank - 1>::list>;
};
template <class T>
struct nested<T, 1> {
  using list = std::initializer_list<T>;
};

/// What the values of a tensor of rank 2 and more are written as: lists in lists, as many as it has axes.
template <class T, int Rank>
struct values_list {
  using type = typename nested<listed_as<T>, Rank>::list;
};
/// Rank 1 is not a list to the compiler: `t({5})` would be ambiguous between one value and five zeros.
template <class T>
struct values_list<T, 1> {
  struct type {};
};
template <class T>
struct values_list<T, 0> {
  struct type {};
};

[[noreturn]] ONTO_COLD inline void throw_ragged(int axis, int first, std::size_t other) {
  throw invalid_argument_error("[onto.tensor] the nested lists are ragged: on axis " + std::to_string(axis) +
                               " one list has " + std::to_string(first) + " entries and another has " +
                               std::to_string(other) + "; give all lists of an axis the same length");
}

/// The shape of a nested list, read along the first list of every axis.
template <class Entry>
void list_shape(std::initializer_list<Entry> list, extents& shape) {
  shape.push_back(static_cast<int>(list.size()));
}
template <class Entry>
void list_shape(std::initializer_list<std::initializer_list<Entry>> list, extents& shape) {
  shape.push_back(static_cast<int>(list.size()));
  list_shape(list.size() ? *list.begin() : std::initializer_list<Entry>{}, shape);
}

template <class Entry>
void check_list(std::initializer_list<Entry> list, const extents& shape, int axis) {
  if (list.size() != static_cast<std::size_t>(shape[axis])) throw_ragged(axis, shape[axis], list.size());
}
template <class Entry>
void check_list(std::initializer_list<std::initializer_list<Entry>> list, const extents& shape, int axis) {
  if (list.size() != static_cast<std::size_t>(shape[axis])) throw_ragged(axis, shape[axis], list.size());
  for (const auto& entry : list) check_list(entry, shape, axis + 1);
}

template <class Entry, class T>
T* copy_list(std::initializer_list<Entry> list, T* to) {
  for (Entry value : list) *to++ = static_cast<T>(value);
  return to;
}
template <class Entry, class T>
T* copy_list(std::initializer_list<std::initializer_list<Entry>> list, T* to) {
  for (const auto& entry : list) to = copy_list(entry, to);
  return to;
}

/// The shape of a nested list. *Throws* `invalid_argument_error` where lists of one axis differ in length.
template <class Entry>
extents shape_of_list(std::initializer_list<Entry> list) {
  extents shape;
  list_shape(list, shape);
  check_list(list, shape, 0);
  return shape;
}

/// Numbers of several types in braces, which deduce none; for deduction only.
struct mixed_row {
  mixed_row(std::initializer_list<double>);
};

// What has no values yet, so that none of it stands in braces.
struct expression_base;  // in expr/expression.hpp
template <class X>
concept no_value_yet = __is_base_of(expression_base, X);

/// A tensor whose extents a run compares with those of another type.
template <class From, class T, class Shape>
inline constexpr bool checked_by_a_run = false;
template <class T, int... Other, int... Dims>
inline constexpr bool checked_by_a_run<tensor<T, Other...>, T, shape<Dims...>> = sizeof...(Other) == sizeof...(Dims) &&
                                                                                 !always_agree(shape<Other...>{},
                                                                                               shape<Dims...>{});

// What an element type is deduced of where a tensor was given extents alone.
template <class Int>
struct extents_without_a_type {
  using element = float;
  static constexpr bool ok = sizeof(Int) == 0;
  static_assert(ok == true, "[onto.tensor] extents have no element type; write tensor<float, dyn, dyn> t({2, 3})");
};
// And where it was given a variable count and a fraction, as std::vector is. clang asks before it knows that it was.
template <class N>
concept variable_count = std::is_lvalue_reference_v<N> && std::is_integral_v<std::remove_reference_t<N>>;
template <class N, class V>
struct count_beside_a_value {
  using element = float;
  static constexpr bool ok = !(variable_count<N> && std::is_floating_point_v<V>);
  static_assert(
      ok == true,
      "[onto.tensor] n times a value is zeros of n, tensor<double, dyn> t({n}), filled then: for (double& v : "
      "t) v = 0.5; the two as values are tensor<double, 2>{n, 0.5}");
};

}  // namespace onto::detail
