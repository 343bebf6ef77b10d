// SPDX-License-Identifier: BSL-1.0
// Data that does not lie row by row: column-major matrices, every other column, values backwards. strided_ref says how
// it lies, row_major makes of it what can be fed, and copies it only where it must (NumPy's ascontiguousarray).
#pragma once

#include <onto/tensor/shared_tensor.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace onto {

template <tensor_element T, int... Dims>
class strided_ref;

namespace detail {
template <class T, int... Dims>
inline constexpr bool is_tensor<strided_ref<T, Dims...>> = true;

ONTO_BEGIN_RUNS_ONCE
/// Whether values lie row-major without gaps. Where an axis leads nowhere, its stride means nothing.
inline bool lies_row_major(const extents& shape, const std::int64_t* stride) {
  if (shape.size() == 0) return true;
  std::int64_t wanted = 1;
  for (int k = shape.rank - 1; k >= 0; --k) {
    if (shape[k] != 1 && stride[k] != wanted) return false;
    wanted = times(wanted, shape[k]);
  }
  return true;
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_strided(const extents& shape, const std::int64_t* stride) {
  message strides("(");
  for (int k = 0; k < shape.rank; ++k) strides << (k ? ", " : "") << stride[k];
  fail<invalid_argument_error>(message("[onto.tensor]")
                               << " values of shape " << shape << " with strides " << strides.text()
                               << ") do not lie row by row without gaps; copy them with row_major(values)");
}

/// An extent that another library counts in more bits.
ONTO_COLD inline int extent_from(std::int64_t extent) {
  if (extent < 0 || extent > std::numeric_limits<int>::max())
    fail<invalid_argument_error>(message("[onto.tensor] an extent is ") << extent << "; it is to be 0 to 2147483647");
  return static_cast<int>(extent);
}
ONTO_END_RUNS_ONCE

/// Copies values that lie anyhow to row-major ones.
template <class T>
void copy_row_major(T* to, const T* from, const extents& shape, const std::int64_t* stride) {
  if (shape.size() == 0) return;
  if (shape.rank == 0) {
    *to = *from;
    return;
  }
  // The last two axes are copied square by square, so that of a transposed matrix no cache line is read 16 times.
  const int last = shape.rank - 1;
  const std::int64_t rows = last > 0 ? shape[last - 1] : 1, columns = shape[last];
  const std::int64_t down = last > 0 ? stride[last - 1] : 0, across = stride[last];
  constexpr std::int64_t square = 16;
  int index[max_rank] = {};
  std::int64_t at = 0;
  for (;;) {
    const T* const matrix = from + at;
    for (std::int64_t i0 = 0; i0 < rows; i0 += square)
      for (std::int64_t j0 = 0; j0 < columns; j0 += square)
        for (std::int64_t i = i0; i < rows && i < i0 + square; ++i)
          for (std::int64_t j = j0; j < columns && j < j0 + square; ++j)
            to[i * columns + j] = matrix[i * down + j * across];
    to += rows * columns;
    int axis = last - 2;
    for (; axis >= 0; --axis) {
      at += stride[axis];
      if (++index[axis] < shape[axis]) break;
      at -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// What std::mdspan is: a view of elements in memory, with extents and strides of its own.
template <class View>
concept md_view = requires(const View& v) {
  requires std::is_pointer_v<std::remove_cvref_t<decltype(v.data_handle())>>;
  requires std::is_same_v < typename View::reference,
      std::remove_pointer_t<std::remove_cvref_t<decltype(v.data_handle())>>
  & > ;
  {View::rank()};
  v.is_strided();
  v.extent(0u);
};
/// A matrix of another library that says how it lies, whether by rows or by columns.
template <class Matrix>
concept matrix_in_memory = laid_out<Matrix> && requires(const Matrix& m) {
  requires std::is_pointer_v<decltype(m.data())>;
};

template <class Pointer>
using pointed_at = std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<Pointer>>>;

/// The extents of a view's type: `dyn` where only the view knows one.
template <class View, std::size_t Axis>
constexpr int declared_extent() {
  constexpr auto e = View::static_extent(Axis);
  return e <= static_cast<decltype(e)>(std::numeric_limits<int>::max()) ? static_cast<int>(e) : dyn;
}
template <class View, std::size_t... Axis>
auto view_type(std::index_sequence<Axis...>)
    -> strided_ref<pointed_at<decltype(std::declval<const View&>().data_handle())>, declared_extent<View, Axis>()...>;
template <class Matrix>
constexpr auto matrix_type() {
  using T = pointed_at<decltype(std::declval<const Matrix&>().data())>;
  if constexpr (static_cast<bool>(Matrix::IsVectorAtCompileTime))
    return std::type_identity<strided_ref<T, dyn>>{};
  else
    return std::type_identity<strided_ref<T, dyn, dyn>>{};
}
}  // namespace detail

/// Constant values of somebody else, a shape, and strides: for each axis, how many elements further its next one lies.
/// Strides may be 0 or negative. It copies nothing, and is valid as long as the memory it refers to.
///
/// Where its values do lie row-major without gaps it is fed like a `tensor_ref`, else that throws a sentence:
/// `x = row_major(values)` is right for all.
template <tensor_element T, int... Dims>
class strided_ref {
 public:
  using element_type = T;
  using shape_type = onto::shape<Dims...>;

  /// The number of axes.
  static constexpr int rank = static_cast<int>(sizeof...(Dims));

  /// The extents as the type says them; `dyn` where it leaves them open.
  static constexpr extents declared = extents(shape_type{});

  using strides_array = std::array<std::int64_t, static_cast<std::size_t>(rank)>;

  /// Values of which the first, at index 0 everywhere, is at `data`: `strided_ref<float, dyn, dyn>(p, {2, 3}, {1, 2})`
  /// is a column-major matrix. *Preconditions* they are there. *Mandates* an extent and a stride for each axis.
  /// *Throws* `invalid_argument_error` where the shape is not the type's.
  template <std::size_t N, std::size_t M>
  strided_ref(const T* data, const detail::any_integer (&shape)[N], const std::int64_t (&strides)[M])
      : strided_ref(data, detail::to_extents(shape), std::to_array(strides)) {
    static_assert(N == sizeof...(Dims) && M == sizeof...(Dims),
                  "[onto.tensor] strided values take an extent and a stride per axis");
  }
  template <detail::integer_in_an_array Int, std::size_t N, std::size_t M>
  strided_ref(const T* data, const Int (&shape)[N], const std::int64_t (&strides)[M])
      : strided_ref(data, detail::to_extents(shape), std::to_array(strides)) {
    static_assert(N == sizeof...(Dims) && M == sizeof...(Dims),
                  "[onto.tensor] strided values take an extent and a stride per axis");
  }
  template <class Shape>
    requires(detail::shape_value<Shape, static_cast<int>(sizeof...(Dims))>)
  strided_ref(const T* data, const Shape& shape, const strides_array& strides)
      : shape_(detail::to_array<rank>(detail::to_extents(shape))), strides_(strides), data_(data) {
    detail::checked_count(detail::to_extents(shape), declared, element_of<T>);
  }

  /// A matrix or vector of another library that says of itself how it lies, as Eigen's do: `Eigen::MatrixXf`, a map
  /// with strides, a block. *Throws* `invalid_argument_error` where its shape is not the type's.
  template <detail::matrix_in_memory Matrix>
    requires(std::is_same_v<detail::pointed_at<decltype(std::declval<const Matrix&>().data())>, T> &&
             (sizeof...(Dims) == 2 || (sizeof...(Dims) == 1 && static_cast<bool>(Matrix::IsVectorAtCompileTime))))
  strided_ref(const Matrix& m ONTO_LIFETIMEBOUND) : strided_ref(m.data(), shape_of(m), strides_of(m)) {}

  /// A `std::mdspan`, of whatever layout has strides. *Throws* `invalid_argument_error` where its shape is not the
  /// type's, or it has no strides.
  template <detail::md_view View>
    requires(
        std::is_same_v<detail::pointed_at<decltype(std::declval<const View&>().data_handle())>, T>&& View::rank() ==
        sizeof...(Dims))
  strided_ref(const View& v) : strided_ref(v.data_handle(), shape_of(v), strides_of(v)) {}

  /// The element at index 0 everywhere.
  const T* data() const { return data_; }

  /// The number of values.
  std::size_t size() const { return static_cast<std::size_t>(extent_values().size()); }

  /// The extents and the strides, one of each per axis.
  const shape_array<rank>& shape() const { return shape_; }
  const strides_array& strides() const { return strides_; }

  /// The extents as the value that shape rules work on.
  extents extent_values() const { return detail::to_extents(shape_); }

  /// Whether the values lie row-major without gaps.
  bool is_row_major() const { return detail::lies_row_major(extent_values(), strides_.data()); }

  /// The same values, where they lie row-major. *Throws* `invalid_argument_error` where they do not.
  template <int... Other>
    requires(sizeof...(Other) == sizeof...(Dims))
  explicit operator tensor_ref<T, Other...>() const {
    if (!is_row_major()) detail::throw_strided(extent_values(), strides_.data());
    return tensor_ref<T, Other...>(tensor_ref<T, Dims...>(data_, extent_values()));
  }

  /// A copy of the values, row-major.
  explicit operator tensor<T, Dims...>() const {
    tensor<T, Dims...> t(detail::uninitialized, extent_values());
    detail::copy_row_major(t.data(), data_, extent_values(), strides_.data());
    return t;
  }

  /// An element. *Preconditions* every index is inside; asserted in debug builds.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  const T& operator()(const Index&... index) const {
    assert(detail::inside(shape_, index...));
    std::int64_t at = 0;
    std::size_t axis = 0;
    ((at += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
    static_cast<void>(axis);
    return data_[at];
  }

 private:
  template <class Other>
  static extents shape_of(const Other& o) {
    extents e;
    if constexpr (detail::md_view<Other>) {
      for (unsigned k = 0; k < sizeof...(Dims); ++k)
        e.push_back(detail::extent_from(static_cast<std::int64_t>(o.extent(k))));
    } else if constexpr (rank == 1) {
      e.push_back(detail::extent_from(static_cast<std::int64_t>(o.size())));
    } else {
      e.push_back(detail::extent_from(static_cast<std::int64_t>(o.rows())));
      e.push_back(detail::extent_from(static_cast<std::int64_t>(o.cols())));
    }
    return e;
  }
  template <class Other>
  static strides_array strides_of(const Other& o) {
    strides_array s{};
    if constexpr (detail::md_view<Other>) {
      if (!o.is_strided())
        throw invalid_argument_error(
            "[onto.tensor] the layout of the mdspan has no strides; copy its elements into a tensor");
      for (unsigned k = 0; k < sizeof...(Dims); ++k) s[k] = static_cast<std::int64_t>(o.stride(k));
    } else if constexpr (rank == 1) {
      s[0] = static_cast<std::int64_t>(o.innerStride());
    } else {
      const auto inner = static_cast<std::int64_t>(o.innerStride()), outer = static_cast<std::int64_t>(o.outerStride());
      s = static_cast<bool>(Other::IsRowMajor) ? strides_array{outer, inner} : strides_array{inner, outer};
    }
    return s;
  }

  shape_array<rank> shape_;
  strides_array strides_;
  const T* data_;
};

/// Values that can be fed, whatever way they lie: where they lie row-major it refers to them, else it keeps a copy.
/// NumPy calls it `ascontiguousarray`, PyTorch `contiguous`.
/// `x = row_major(strided_ref<float, dyn, dyn>(data, {rows, columns}, {1, rows}))`
template <tensor_element T, int... Dims>
shared_tensor<T, Dims...> row_major(const strided_ref<T, Dims...>& values) {
  if (!values.is_row_major()) return shared_tensor<T, Dims...>(tensor<T, Dims...>(values));
  return {tensor_ref<T, Dims...>(values), detail::ref<detail::counted>()};
}

/// The same of a matrix or vector of Eigen's, or of another library that says how its own lie: `x = row_major(m)`.
template <detail::matrix_in_memory Matrix>
auto row_major(const Matrix& m ONTO_LIFETIMEBOUND) {
  return row_major(typename decltype(detail::matrix_type<Matrix>())::type(m));
}

/// The same of a `std::mdspan`.
template <detail::md_view View>
auto row_major(const View& v) {
  return row_major(decltype(detail::view_type<View>(std::make_index_sequence<View::rank()>{}))(v));
}

}  // namespace onto
