// SPDX-License-Identifier: BSL-1.0
// A tensor_ref: values of somebody else, seen with a shape. It owns nothing and must not outlive what it refers to.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/layout.hpp>
#include <onto/tensor/tensor.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace onto {

namespace detail {
template <class T, int... Dims>
inline constexpr bool is_tensor<tensor_ref<T, Dims...>> = true;

/// A matrix that says how it lies in memory, as Eigen's matrices, maps and blocks do.
template <class Matrix>
concept laid_out = requires(const Matrix& m) {
  m.rows() == m.cols();
  m.outerStride() == m.innerStride();
  static_cast<bool>(Matrix::IsRowMajor);
  Matrix::InnerStrideAtCompileTime == 1;
};

/// Whether all values of a range lie next to each other in the order of its indices.
template <class Range>
inline constexpr bool has_no_gaps = true;
template <laid_out Matrix>
inline constexpr bool has_no_gaps<Matrix> = static_cast<bool>(Matrix::IsVectorAtCompileTime) &&
                                            static_cast<int>(Matrix::InnerStrideAtCompileTime) == 1;

/// An array of another library with axes of its own, which may lie by columns: xtensor's, Boost's, Eigen's Tensor.
template <class Array>
concept own_axes = requires(const Array& a) {
  a.strides();
}
|| requires(const Array& a) { a.dimensions(); };
template <own_axes Array>
inline constexpr bool has_no_gaps<Array> = false;

/// Something with `T`s next to each other and no shape: std::vector, std::array, std::span, a C array of one axis.
template <class Range, class T>
concept contiguous_values = !is_tensor<Range> && has_no_gaps<Range> && requires(const Range& r) {
  requires std::is_same_v<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(r))>>, T>;
  static_cast<std::size_t>(std::size(r));
};

/// The same of elements that are not named.
template <class Range>
concept contiguous_elements = !is_tensor<Range> && has_no_gaps<Range> && requires(const Range& r) {
  requires tensor_element<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(r))>>>;
  static_cast<std::size_t>(std::size(r));
};

/// Arrays in arrays, C's and std::array: what is in them, and their extents.
template <class Element>
struct array_facts {
  using element = std::remove_cv_t<Element>;
  static constexpr int rank = 0;
  static constexpr std::size_t size = 1;
  static constexpr void append(extents&) {}
};
template <class Row, std::size_t N>
struct array_facts<Row[N]> {
  using element = typename array_facts<Row>::element;
  static constexpr int rank = 1 + array_facts<Row>::rank;
  static constexpr std::size_t size = N * array_facts<Row>::size;
  static constexpr void append(extents& e) {
    e.push_back(static_cast<int>(N));
    array_facts<Row>::append(e);
  }
};
template <class Row, std::size_t N>
struct array_facts<const Row[N]> : array_facts<Row[N]> {};
template <class Row, std::size_t N>
struct array_facts<std::array<Row, N>> : array_facts<Row[N]> {};
template <class Row, std::size_t N>
struct array_facts<const std::array<Row, N>> : array_facts<Row[N]> {};

/// An array of `T` with `Rank` axes, in one piece: `float m[2][3]`, `std::array<std::array<float, 3>, 2>`.
template <class Array, class T, int Rank>
concept array_values = std::is_same_v<typename array_facts<Array>::element, T> &&(array_facts<Array>::rank == Rank) &&
                       (array_facts<Array>::rank <= max_rank) &&
                       (sizeof(Array) == array_facts<Array>::size * sizeof(T));

template <class Array>
constexpr extents array_extents() {
  extents e;
  array_facts<Array>::append(e);
  return e;
}

/// A matrix of `T` whose rows lie as a tensor's do, each without gaps.
template <class Matrix, class T>
concept row_major_matrix = laid_out<Matrix> && !has_no_gaps<Matrix> && static_cast<bool>(Matrix::IsRowMajor) &&
                           static_cast<int>(Matrix::InnerStrideAtCompileTime) == 1 && requires(const Matrix& m) {
  requires std::is_same_v<std::remove_cv_t<std::remove_pointer_t<decltype(m.data())>>, T>;
};

[[noreturn]] ONTO_COLD inline void throw_gaps() {
  fail<invalid_argument_error>(message(
      "[onto.tensor] the rows of the matrix do not follow each other, as those of a block of a larger one; copy "
      "it into a tensor"));
}

template <class Pointer, class T>
concept pointer_to = std::is_same_v<Pointer, T*> || std::is_same_v<Pointer, const T*>;
}  // namespace detail

/// Constant values that belong to somebody else, row-major, with a shape; reads like a `tensor`.
///
/// It is made from a tensor, a vector, an array, or a pointer or span with a shape, copies nothing, and is valid as
/// long as the memory it refers to.
template <tensor_element T, int... Dims>
class tensor_ref {
 public:
  using element_type = T;
  using shape_type = onto::shape<Dims...>;

  /// The number of axes.
  static constexpr int rank = static_cast<int>(sizeof...(Dims));

  /// The extents as the type says them; `dyn` where it leaves them open.
  static constexpr extents declared = extents(shape_type{});

  /// The values from `data` on, as many as the shape has. *Preconditions* they are there.
  /// *Mandates* one extent per axis. *Throws* `invalid_argument_error` where the shape is not the type's.
  template <class Pointer, std::size_t N>
    requires(detail::pointer_to<Pointer, T>)
  tensor_ref(const Pointer& data, const detail::any_integer (&dims)[N])
      : tensor_ref(data, detail::to_extents<rank>(dims)) {}
  template <class Pointer, detail::integer_in_an_array Int, std::size_t N>
    requires(detail::pointer_to<Pointer, T>)
  tensor_ref(const Pointer& data, const Int (&dims)[N]) : tensor_ref(data, detail::to_extents<rank>(dims)) {}
  template <class Pointer, class Shape>
    requires(detail::pointer_to<Pointer, T>&& detail::shape_value<Shape, static_cast<int>(sizeof...(Dims))>)
  tensor_ref(const Pointer& data, const Shape& shape)
      : shape_(detail::to_array<rank>(detail::to_extents(shape))),
        data_(data),
        size_(detail::checked_count(detail::to_extents(shape), declared, element_of<T>)) {}

  /// The values of a span, vector or array, with a shape.
  /// *Throws* `invalid_argument_error` where their number is not that of the shape, or the shape is not the type's.
  template <std::size_t N>
  tensor_ref(std::span<const T> values, const detail::any_integer (&dims)[N])
      : tensor_ref(values, detail::to_extents<rank>(dims)) {}
  template <detail::integer_in_an_array Int, std::size_t N>
  tensor_ref(std::span<const T> values, const Int (&dims)[N]) : tensor_ref(values, detail::to_extents<rank>(dims)) {}
  template <class Shape>
    requires(detail::shape_value<Shape, static_cast<int>(sizeof...(Dims))>)
  tensor_ref(std::span<const T> values, const Shape& shape) : tensor_ref(values.data(), shape) {
    detail::check_values(values.size(), size_, extent_values());
  }

  /// The values of a vector, array or span, for rank 1 or a shape the type knows.
  /// *Throws* `invalid_argument_error` where their number is another.
  template <class Range>
    requires(detail::contiguous_values<Range, T> && sizeof...(Dims) > 0 &&
             (sizeof...(Dims) == 1 || extents(onto::shape<Dims...>{}).is_static()))
  tensor_ref(const Range& values ONTO_LIFETIMEBOUND)
      : tensor_ref(static_cast<const T*>(std::data(values)),
                   detail::shape_of_values(static_cast<std::size_t>(std::size(values)), declared)) {
    detail::check_values(static_cast<std::size_t>(std::size(values)), size_, extent_values());
  }

  // clang-format off
  template <class Range>
    requires(detail::contiguous_values<Range, T> && sizeof...(Dims) > 1 &&
             !extents(onto::shape<Dims...>{}).is_static())
  tensor_ref(const Range&) = delete;  // neither the values nor the type have a shape: give {rows, columns} as well
  // clang-format on

  /// An array, C's or of std::array, with an axis for every extent: `float m[2][3]`. *Mandates* the extents of the
  /// type.
  template <class Array>
    requires(detail::array_values<Array, T, static_cast<int>(sizeof...(Dims))> && sizeof...(Dims) > 1)
  tensor_ref(const Array& values)
      : tensor_ref(static_cast<const T*>(static_cast<const void*>(&values)), detail::array_extents<Array>()) {
    static_assert(detail::may_agree(detail::array_extents<Array>(), shape_type{}),
                  "[onto.tensor] the array has other extents than the tensor type; change one, or use dyn");
  }

  /// A row-major matrix of another library that says so of itself, as `Eigen::Matrix<float, -1, -1, Eigen::RowMajor>`.
  /// *Throws* `invalid_argument_error` where its shape is not the type's, or its rows do not follow each other.
  template <detail::row_major_matrix<T> Matrix>
    requires(sizeof...(Dims) == 2)
  tensor_ref(const Matrix& m ONTO_LIFETIMEBOUND)
      : tensor_ref(static_cast<const T*>(m.data()),
                   std::array<int, 2>{static_cast<int>(m.rows()), static_cast<int>(m.cols())}) {
    if (m.rows() > 1 && m.outerStride() != m.cols()) detail::throw_gaps();
  }

  /// The values of a tensor. Implicit where the extents cannot differ.
  /// *Mandates* extents that are not known to differ. *Throws* `invalid_argument_error` where they differ at run time.
  template <int... Other>
    requires(sizeof...(Other) == sizeof...(Dims))
  explicit(!detail::always_agree(onto::shape<Other...>{}, onto::shape<Dims...>{}))
      tensor_ref(const tensor<T, Other...>& other ONTO_LIFETIMEBOUND)
      : tensor_ref(other.data(), other.size(), other.extent_values(), onto::shape<Other...>{}) {}

  /// The same values under a type that knows other extents of the same rank; as from a tensor.
  template <int... Other>
    requires(sizeof...(Other) == sizeof...(Dims) && !std::is_same_v<onto::shape<Other...>, onto::shape<Dims...>>)
  explicit(!detail::always_agree(onto::shape<Other...>{}, onto::shape<Dims...>{}))
      tensor_ref(const tensor_ref<T, Other...>& other)
      : tensor_ref(other.data(), other.size(), other.extent_values(), onto::shape<Other...>{}) {}

  /// The values, row-major.
  const T* data() const { return data_; }
  std::span<const T> values() const { return {data_, size_}; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  /// The number of values.
  std::size_t size() const { return size_; }

  /// The extents, one per axis.
  const shape_array<rank>& shape() const { return shape_; }

  /// The extents as the value that shape rules work on.
  extents extent_values() const { return detail::to_extents(shape_); }

  /// An element. *Preconditions* every index is inside; asserted in debug builds.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  const T& operator()(const Index&... index) const {
    assert(size_ && detail::inside(shape_, index...));
    return data_[detail::offset_of(shape_, index...)];
  }

  /// Of rank 1 also `t[i]`.
  template <class Index>
    requires(sizeof...(Dims) == 1 && detail::index_value<Index>)
  const T& operator[](const Index& index) const { return (*this)(index); }

  /// By more indices or fewer there is none.
  template <class... Index>
    requires(sizeof...(Index) != sizeof...(Dims))
  detail::an_element_has_one_index_for_each_axis operator()(Index...) const = delete;
  template <class Index>
    requires(sizeof...(Dims) != 1)
  detail::an_element_has_one_index_for_each_axis operator[](Index) const = delete;

  /// An element. *Throws* `invalid_argument_error` where an index is outside.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  const T& at(const Index&... index) const { return data_[detail::checked_offset_of(shape_, index...)]; }

  /// The value of a tensor of rank 0.
  operator T() const requires(sizeof...(Dims) == 0) { return *detail::expect_value(data_); }
  operator float() const requires(sizeof...(Dims) == 0 && is_half_precision(element_of<T>)) {
    return *detail::expect_value(data_);
  }

 private:
  template <int... Other>
  tensor_ref(const T* data, std::size_t size, const extents& given, onto::shape<Other...>)
      : shape_(detail::to_array<rank>(given)), data_(data), size_(size) {
    static_assert(detail::may_agree(onto::shape<Other...>{}, shape_type{}),
                  "[onto.tensor] the extents of the two tensor types differ; reshape, or use dyn");
    detail::checked_count(given, declared, element_of<T>);
  }

  shape_array<rank> shape_;
  const T* data_;
  std::size_t size_;
};

namespace detail {
/// A vector, an array or a span as its elements along one axis.
template <contiguous_elements Range>
auto elements_of(const Range& values ONTO_LIFETIMEBOUND) {
  return tensor_ref<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(values))>>, dyn>(values);
}
}  // namespace detail

/// The same as of tensors.
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator==(const tensor_ref<T, A...>& a, const tensor_ref<T, B...>& b) {
  return detail::compared_whole(detail::same_values(a, b));
}
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator==(const tensor_ref<T, A...>& a, const tensor<T, B...>& b) {
  return detail::compared_whole(detail::same_values(a, b));
}
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator==(const tensor<T, A...>& a, const tensor_ref<T, B...>& b) {
  return detail::compared_whole(detail::same_values(a, b));
}
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator!=(const tensor_ref<T, A...>& a, const tensor_ref<T, B...>& b) {
  return detail::compared_whole(!detail::same_values(a, b));
}
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator!=(const tensor_ref<T, A...>& a, const tensor<T, B...>& b) {
  return detail::compared_whole(!detail::same_values(a, b));
}
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
detail::compared_whole operator!=(const tensor<T, A...>& a, const tensor_ref<T, B...>& b) {
  return detail::compared_whole(!detail::same_values(a, b));
}

}  // namespace onto
