// SPDX-License-Identifier: BSL-1.0
// A tensor: values of one element type in host memory that it owns, with a shape that compilers or runs know.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/member_words.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/compared_whole.hpp>
#include <onto/tensor/layout.hpp>
#include <onto/tensor/nested_list.hpp>
#include <onto/tensor/storage.hpp>

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

namespace onto {

template <tensor_element T, int... Dims>
class tensor_ref;

namespace detail {
struct other_extents_are_converted_in_parentheses_and_a_number_fills_in_a_loop;
}  // namespace detail

/// Owned values in host memory, row-major, aligned to 64 bytes; a `bool` takes one byte.
///
/// `tensor<float, dyn, dyn> t({2, 3})` is zeros of that shape, `tensor<float, 3> t{1, 2, 3}` is values, and nested
/// braces give more axes. Parentheses with a list of integers are always a shape, braces are always values. Copies are
/// deep, moves are cheap; a tensor that was moved from holds no values and has extents of 0, whatever its type says: it
/// is to be assigned to or destroyed, and where a value or the extents of the type are needed of it, that is an error.
template <tensor_element T, int... Dims>
class tensor : public detail::member_words {
  using values_list = typename detail::values_list<T, static_cast<int>(sizeof...(Dims))>::type;
  using nested_once = std::initializer_list<std::initializer_list<detail::listed_as<T>>>;

 public:
  using element_type = T;
  using shape_type = onto::shape<Dims...>;

  /// The number of axes.
  static constexpr int rank = static_cast<int>(sizeof...(Dims));

  /// The extents as the type says them; `dyn` where it leaves them open.
  static constexpr extents declared = extents(shape_type{});

  /// Zeros; an extent that is `dyn` is 0.
  tensor() : tensor(closed_shape()) {}

  /// Zeros of a shape: `tensor<float, dyn, dyn> t({2, 3})`.
  /// *Mandates* one extent per axis, an integer of any type. *Throws* `invalid_argument_error` where the type says
  /// otherwise or an extent is negative or above 2^31 - 1, `resource_exhausted_error` where memory is used up.
  template <std::size_t N>
  explicit tensor(const detail::any_integer (&dims)[N]) : tensor(detail::to_extents<rank, true>(dims)) {}
  template <detail::integer_in_an_array Int, std::size_t N>
  explicit tensor(const Int (&dims)[N]) : tensor(detail::to_extents<rank, true>(dims)) {}

  /// Zeros of a shape given as a value: `extents`, or another tensor's `shape()`. *Throws* as above.
  template <class Shape>
    requires(detail::shape_value<Shape, static_cast<int>(sizeof...(Dims))>)
  explicit tensor(const Shape& shape) : tensor(detail::uninitialized, shape) { storage_.set_zero(); }

  /// Values of rank 1: `tensor<float, 3> t{1, 2, 3}`.
  /// *Throws* `invalid_argument_error` where the type says another length or an integer does not fit the element type.
  template <class... Value>
    requires(sizeof...(Dims) == 1 && sizeof...(Value) > 1 && (detail::list_value<Value, T> && ...))
  tensor(Value... value) : tensor(detail::uninitialized, std::array<int, 1>{static_cast<int>(sizeof...(Value))}) {
    T* to = detail::not_null(data());
    ((*to++ = detail::element_from<T>(value)), ...);
  }

  /// One value of rank 1: `tensor<float, dyn> t = {1}`. A number alone, without braces, is none.
  tensor(detail::listed_value<T> value) requires(sizeof...(Dims) == 1)
      : tensor(detail::uninitialized, std::array<int, 1>{1}) {
    *data() = value.value;
  }

  /// Values of rank 2 and more: `tensor<float, 2, 2> t{{1, 2}, {3, 4}}`.
  /// *Throws* `invalid_argument_error` where the lists are ragged or do not have the shape the type says.
  tensor(values_list values) requires(sizeof...(Dims) > 1)
      : tensor(detail::uninitialized, detail::shape_of_list(values)) {
    detail::copy_list(values, data());
  }

  /// One value, as a tensor of rank 0. *Throws* `invalid_argument_error` where an integer does not fit.
  tensor(T value) requires(sizeof...(Dims) == 0) : tensor(detail::uninitialized, extents{}) { *data() = value; }
  template <class S>
    requires(sizeof...(Dims) == 0 && detail::is_number<S> && !std::is_same_v<S, T> && detail::list_value<S, T>)
  tensor(const S& value) : tensor(detail::element_from<T>(value)) {}
  template <class S>
    requires(sizeof...(Dims) == 0 && detail::is_number<S> && detail::is_number<T> && !detail::list_value<S, T>)
  tensor(const S& value)
  = delete;  // a fraction is no integer: round it first
  template <class S>
    requires(sizeof...(Dims) == 0 && is_text(element_of<T>) && detail::text_like<S>)
  tensor(const S& value) : tensor(T(value)) {}

  /// Rank 1 of what does not lie in one piece: a deque, a view of the standard's, texts that are `std::string`s.
  template <class Range>
    requires(sizeof...(Dims) == 1 && detail::values_elsewhere<Range, T>)
  tensor(const Range& values) : tensor(detail::uninitialized, detail::shape_of_values(std::size(values), declared)) {
    detail::check_values(std::size(values), size(), extent_values());
    T* to = data();
    for (const auto& value : values) *to++ = detail::element_from<T>(value);
  }

  /// Copies a vector, for tensors of rank 1 or of a shape the type knows.
  /// *Throws* `invalid_argument_error` where the number of values is another.
  template <class Allocator>
    requires(sizeof...(Dims) == 1 || extents(onto::shape<Dims...>{}).is_static())
  tensor(const std::vector<T, Allocator>& values)
      : tensor(detail::uninitialized, detail::shape_of_values(values.size(), declared)) {
    detail::check_values(values.size(), size(), extent_values());
    T* to = data();
    for (T value : values) *to++ = value;
  }

  /// Copies values in row-major order: `tensor<float, dyn, dyn> t(values, {2, 3})`.
  /// *Throws* `invalid_argument_error` where their number is not that of the shape, or the shape is not the type's.
  template <std::size_t N>
  tensor(std::span<const T> values, const detail::any_integer (&dims)[N])
      : tensor(values, detail::to_extents<rank>(dims)) {}
  template <detail::integer_in_an_array Int, std::size_t N>
  tensor(std::span<const T> values, const Int (&dims)[N]) : tensor(values, detail::to_extents<rank>(dims)) {}
  template <class Shape>
    requires(detail::shape_value<Shape, static_cast<int>(sizeof...(Dims))>)
  tensor(std::span<const T> values, const Shape& shape) : shape_(detail::to_array<rank>(detail::to_extents(shape))) {
    const std::size_t count = detail::checked_count(detail::to_extents(shape), declared, element_of<T>);
    detail::check_values(values.size(), count, detail::to_extents(shape));
    storage_ = detail::storage<T>(count);
    storage_.copy_from(values.data());
  }

  /// Memory of a shape whose values are not set.
  template <class Shape>
    requires(detail::shape_value<Shape, static_cast<int>(sizeof...(Dims))>)
  tensor(detail::uninitialized_t, const Shape& shape)
      : shape_(detail::to_array<rank>(detail::to_extents(shape))),
        storage_(detail::checked_count(detail::to_extents(shape), declared, element_of<T>)) {}

  explicit tensor(detail::no_values_t) : shape_(shape_array<rank>()) {}

  /// The same values under a type that knows other extents of the same rank. Implicit where it cannot fail.
  /// *Mandates* extents that are not known to differ. *Throws* `invalid_argument_error` where they differ at run time.
  template <int... Other>
    requires(sizeof...(Other) == sizeof...(Dims))
  explicit(!detail::always_agree(onto::shape<Other...>{}, onto::shape<Dims...>{}))
      tensor(const tensor<T, Other...>& other)
      : tensor(tensor<T, Other...>(other)) {}
  template <int... Other>
    requires(sizeof...(Other) == sizeof...(Dims))
  explicit(!detail::always_agree(onto::shape<Other...>{}, onto::shape<Dims...>{})) tensor(tensor<T, Other...>&& other)
      : shape_(other.shape_) {
    static_assert(detail::may_agree(onto::shape<Other...>{}, onto::shape<Dims...>{}),
                  "[onto.tensor] the extents of the two tensor types differ; reshape, or use dyn");
    detail::checked_count(other.extent_values(), declared, element_of<T>);
    storage_ = static_cast<detail::storage<T>&&>(other.storage_);
    other.shape_ = shape_array<rank>();
  }

  /// Nested vectors, and a value beside a shape: neither makes a tensor.
  template <class Row, class Allocator>
    requires(!detail::number_or_element<Row> && !detail::text_like<Row>)
  explicit tensor(const std::vector<Row, Allocator>&) : tensor() {
    static_assert(sizeof(Row) == 0,
                  "[onto.tensor] vectors in a vector do not lie in one piece; make the tensor with its shape, t({2, "
                  "3}), and copy each row");
  }
  template <std::size_t N, class Values>
  tensor(const detail::any_integer (&)[N], const Values&) : tensor() {
    static_assert(sizeof(Values) == 0,
                  "[onto.tensor] a tensor of a shape is zeros, t({2, 3}), filled then: for (float& v : t) v = 1; or it "
                  "has its values first, t(values, {2, 3})");
  }

  // What looks like a value or a conversion and is none: deleted, so that compilers show its line, not a list.
  // clang-format off
  template <class... Value>
    requires(sizeof...(Dims) > 0 && (detail::is_number<Value> || ...) &&
             !(sizeof...(Dims) == 1 && (detail::is_number<Value> && ...) &&
               (std::is_integral_v<T> || (detail::list_value<Value, T> && ...))))
  explicit tensor(Value...) = delete;  // [onto.tensor] extents and rows are in braces: t({2, 3}), t(v, {2, 3}), t{{1}, {2}}
  template <class... Value>
    requires(sizeof...(Dims) == 1 && std::is_integral_v<T> && (std::is_floating_point_v<Value> || ...) &&
             (detail::is_number<Value> && ...))
  explicit(sizeof...(Value) == 1) tensor(Value...) = delete;  // [onto.tensor] a fraction is no integer: round it first
  template <class... Value>
    requires(sizeof...(Dims) == 0 && sizeof...(Value) > 1 && (detail::is_number<Value> && ...))
  explicit tensor(Value...) = delete;  // [onto.tensor] without extents it is one value: tensor<float, 2> t{1, 2}
  template <class Fraction, std::size_t N> requires std::is_floating_point_v<Fraction>
  explicit tensor(const Fraction (&)[N]) = delete;  // [onto.tensor] t({2, 3}) is a shape; values are t{1.5, 2.5}
  template <class... X> requires(sizeof...(X) > 1 && (detail::no_value_yet<X> || ...))
  tensor(const X&...) = delete;  // [onto.tensor] it holds values; expressions are run by fetches(a, b), or stack(a, b)
  template <class Other, class Allocator>
    requires(!std::is_same_v<Other, T> && detail::number_or_element<Other>)
  explicit tensor(const std::vector<Other, Allocator>&) = delete;  // [onto.tensor] as vector<float>(v.begin(), v.end())
  template <class Allocator>
    requires(sizeof...(Dims) != 1 && !extents(onto::shape<Dims...>{}).is_static())
  explicit tensor(const std::vector<T, Allocator>&) = delete;  // [onto.tensor] a vector has no shape: t(v, {2, 3})
  template <detail::position Begin>
  tensor(Begin, Begin) = delete;  // [onto.tensor] values are a vector or a span: t(v), t(std::span(begin, end), {2, 3})
  template <class P, std::size_t N> requires std::is_pointer_v<P>
  tensor(const P&, const detail::any_integer (&)[N]) = delete;  // [onto.tensor] a pointer: tensor_ref<float, dyn>(p, {6})
  template <class Open> requires detail::checked_by_a_run<Open, T, onto::shape<Dims...>>
  tensor(const Open&) = delete;  // [onto.tensor] a run compares the extents, in parentheses: tensor<float, 2, 3> t(u)
  tensor(nested_once) requires(sizeof...(Dims) == 1) = delete;  // one axis has one pair of braces: t{1, 2, 3}
  template <class U, int... Other>
    requires(!std::is_same_v<T, U> || sizeof...(Other) != sizeof...(Dims))
  tensor(const tensor<U, Other...>&) = delete;  // nothing converts between element types, or between ranks
  // clang-format on

  /// Copies what a tensor_ref of the same type refers to.
  explicit tensor(const tensor_ref<T, Dims...>& other) : tensor(other.values(), other.shape()) {}

  tensor(const tensor&) = default;
  tensor(tensor&& other) noexcept : shape_(other.shape_), storage_(static_cast<detail::storage<T>&&>(other.storage_)) {
    other.shape_ = shape_array<rank>();
  }
  tensor& operator=(const tensor& other) & {
    storage_ = other.storage_;
    shape_ = other.shape_;
    return *this;
  }
  tensor& operator=(tensor&& other) & noexcept {
    const shape_array<rank> shape = shape_;
    shape_ = other.shape_, other.shape_ = shape;
    storage_ = static_cast<detail::storage<T>&&>(other.storage_);
    return *this;
  }
  // clang-format off
  tensor& operator=(const tensor&) && = delete;  // [onto.variable] a result is a copy: sess.run(assign(w, e)) sets w
  template <class X>
    requires(!std::is_same_v<X, tensor> && !std::is_convertible_v<const X&, tensor>)
  detail::other_extents_are_converted_in_parentheses_and_a_number_fills_in_a_loop
  operator=(const X&) = delete;  // [onto.tensor] t = tensor<float, 2, 3>(u) compares extents; for (float& v : t) v = 0
  // clang-format on
  ~tensor() = default;

  /// The values, row-major.
  T* data() ONTO_LIFETIMEBOUND { return storage_.data(); }
  const T* data() const ONTO_LIFETIMEBOUND { return storage_.data(); }
  std::span<T> values() ONTO_LIFETIMEBOUND { return {data(), size()}; }
  std::span<const T> values() const ONTO_LIFETIMEBOUND { return {data(), size()}; }

  T* begin() ONTO_LIFETIMEBOUND { return data(); }
  T* end() ONTO_LIFETIMEBOUND { return data() + size(); }
  const T* begin() const ONTO_LIFETIMEBOUND { return data(); }
  const T* end() const ONTO_LIFETIMEBOUND { return data() + size(); }

  /// The number of values.
  std::size_t size() const { return storage_.size(); }

  /// The extents, one per axis.
  const shape_array<rank>& shape() const { return shape_; }

  /// The extents as the value that shape rules work on.
  extents extent_values() const {
    if constexpr (rank == 0) detail::expect_value(data());
    return detail::to_extents(shape_);
  }

  /// An element, by integers or results that are one. *Preconditions* every index is inside; asserted in debug builds.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  T& operator()(const Index&... index) ONTO_LIFETIMEBOUND {
    assert(size() && detail::inside(shape_, index...));
    return data()[detail::offset_of(shape_, index...)];
  }
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  const T& operator()(const Index&... index) const ONTO_LIFETIMEBOUND {
    assert(size() && detail::inside(shape_, index...));
    return data()[detail::offset_of(shape_, index...)];
  }

  /// Of a tensor of rank 1 also `t[i]`.
  template <class Index>
    requires(sizeof...(Dims) == 1 && detail::index_value<Index>)
  T& operator[](const Index& index) ONTO_LIFETIMEBOUND { return (*this)(index); }
  template <class Index>
    requires(sizeof...(Dims) == 1 && detail::index_value<Index>)
  const T& operator[](const Index& index) const ONTO_LIFETIMEBOUND { return (*this)(index); }

  /// By more indices or fewer there is none.
  template <class... Index>
    requires(sizeof...(Index) != sizeof...(Dims))
  detail::an_element_has_one_index_for_each_axis operator()(Index...) const = delete;
  template <class Index>
    requires(sizeof...(Dims) != 1)
  detail::an_element_has_one_index_for_each_axis operator[](Index) const = delete;

  template <std::same_as<bool> Truth>
    requires(sizeof...(Dims) > 0)
  explicit operator Truth() const { return detail::no_truth_value<tensor>(); }

  /// An element. *Throws* `invalid_argument_error` where an index is outside.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  T& at(const Index&... index) ONTO_LIFETIMEBOUND {
    return const_cast<T&>(static_cast<const tensor&>(*this).at(index...));
  }
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  const T& at(const Index&... index) const ONTO_LIFETIMEBOUND {
    if constexpr (rank == 0) detail::expect_value(data());
    return data()[detail::checked_offset_of(shape_, index...)];
  }

  /// The value of a tensor of rank 0. *Throws* `failed_precondition_error` where it was moved from.
  operator T() const requires(sizeof...(Dims) == 0) { return *detail::expect_value(data()); }
  operator float() const requires(sizeof...(Dims) == 0 && is_half_precision(element_of<T>)) {
    return *detail::expect_value(data());
  }

  /// A copy, of rank 1: `std::vector<float> v = sess.run(e)`.
  template <class Allocator>
  operator std::vector<T, Allocator>() const requires(sizeof...(Dims) == 1) {
    return std::vector<T, Allocator>(begin(), end());
  }

 private:
  template <tensor_element, int...>
  friend class tensor;

  static constexpr shape_array<rank> closed_shape() {
    return std::array<int, sizeof...(Dims)>{(Dims == dyn ? 0 : Dims)...};
  }

  shape_array<rank> shape_ = closed_shape();
  detail::storage<T> storage_;
};

// Of values in a row the number is one that the run knows, and so are extents beside them.
template <tensor_element T, class Allocator>
tensor(const std::vector<T, Allocator>&) -> tensor<T, dyn>;
template <tensor_element T, class Allocator, std::size_t N>
  requires(N == 2)
tensor(const std::vector<T, Allocator>&, const detail::any_integer (&)[N])
->tensor<T, dyn, dyn>;
template <tensor_element T, class Allocator, std::size_t N>
  requires(N == 3)
tensor(const std::vector<T, Allocator>&, const detail::any_integer (&)[N])
->tensor<T, dyn, dyn, dyn>;
template <tensor_element T, class Allocator, std::size_t N>
  requires(N == 4)
tensor(const std::vector<T, Allocator>&, const detail::any_integer (&)[N])
->tensor<T, dyn, dyn, dyn, dyn>;
// Numbers that are written out are of their common type, as many as they are: `tensor t{1, 2.5}`.
template <class T, class... More>
  requires(sizeof...(More) > 0 && detail::is_number<T> && (detail::is_number<More> && ...))
tensor(T, More...)
->tensor<std::common_type_t<T, More...>, static_cast<int>(sizeof...(More)) + 1>;
template <detail::variable_count N, std::floating_point V>
tensor(N&&, V) -> tensor<typename detail::count_beside_a_value<N, V>::element, dyn>;
template <detail::no_value_yet E, class... More>
tensor(const E&, const More&...) -> tensor<float, dyn>;
template <class T>
tensor(std::initializer_list<std::initializer_list<T>>) -> tensor<T, dyn, dyn>;
// Of several types they are double: `tensor f{{1, 0.1}, {0, 1}}`.
tensor(std::initializer_list<detail::mixed_row>)->tensor<double, dyn, dyn>;
// Extents alone have no element type. Having said so, clang takes the next guide.
template <std::integral Int, std::size_t N>
tensor(const Int (&)[N]) -> tensor<typename detail::extents_without_a_type<Int>::element, dyn, dyn>;
template <class Int, std::size_t N>
tensor(const Int (&)[N]) -> tensor<typename detail::extents_without_a_type<Int>::element, dyn, dyn>;

namespace detail {
template <class>
inline constexpr bool is_tensor = false;
template <class T, int... Dims>
inline constexpr bool is_tensor<tensor<T, Dims...>> = true;

/// A tensor whose extents are those of its type. *Throws* `failed_precondition_error` where it was moved from.
template <class T, int... Dims>
const tensor<T, Dims...>& expect_values(const tensor<T, Dims...>& t) {
  if (!may_agree(t.extent_values(), t.declared)) throw_moved_from();
  return t;
}
}  // namespace detail

/// Whether two tensors of one rank have the same shape and the same values; NaN differs from itself. It converts to
/// bool.
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator==(const tensor<T, A...>& a, const tensor<T, B...>& b) {
  return detail::compared_whole(detail::same_values(a, b));
}
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator!=(const tensor<T, A...>& a, const tensor<T, B...>& b) {
  return detail::compared_whole(!detail::same_values(a, b));
}

}  // namespace onto
