// SPDX-License-Identifier: BSL-1.0
// Arrays as other libraries have them, for machines that do not have the libraries: a std::mdspan with strides, and a
// container of several axes that lies by columns.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

/// std::mdspan<T, dextents<int, 2>, layout_stride>.
template <class T>
struct strided_view {
  using reference = T&;
  static constexpr std::size_t rank() { return 2; }
  static constexpr std::size_t static_extent(std::size_t) { return static_cast<std::size_t>(-1); }
  T* data_handle() const { return data; }
  std::size_t extent(std::size_t k) const { return extents[k]; }
  std::ptrdiff_t stride(std::size_t k) const { return strides[k]; }
  bool is_strided() const { return strided; }

  T* data;
  std::array<std::size_t, 2> extents;
  std::array<std::ptrdiff_t, 2> strides;
  bool strided = true;
};

/// xt::xarray<T, layout_type::column_major>: has data() and size(), as a vector does.
template <class T>
struct column_array {
  T* data() { return values.data(); }
  const T* data() const { return values.data(); }
  std::size_t size() const { return values.size(); }
  const std::array<std::ptrdiff_t, 2>& strides() const { return steps; }

  std::vector<T> values;
  std::array<std::ptrdiff_t, 2> steps{1, 2};
};
