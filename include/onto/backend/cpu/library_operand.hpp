// SPDX-License-Identifier: BSL-1.0
// A matrix operand as libraries for matrix products take it.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>

#include <cstdint>

namespace onto::detail {

/// Rows, or columns where it is `transposed`, of elements next to each other, `lead` apart. What has other strides, or
/// lies farther apart than `farthest`, is copied.
template <class T>
class library_operand {
 public:
  library_operand(const matrix_view<T>& v, std::int64_t rows, std::int64_t columns, std::int64_t farthest = most_count)
      : transposed(!fits(v.row, v.column, rows, columns, farthest) && fits(v.column, v.row, columns, rows, farthest)),
        copies_(!transposed && !fits(v.row, v.column, rows, columns, farthest)),
        copy_(copies_ ? rows * columns : 0),
        data(copies_ ? copy_.data() : v.data),
        lead(transposed             ? (columns == 1 ? rows : v.column)
             : rows == 1 || copies_ ? columns
                                    : v.row) {
    if (copies_) copy_elements(sizeof(T), copy_.data(), columns, 1, v.data, v.row, v.column, rows, columns);
  }

  const bool transposed;

 private:
  static bool fits(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
                   std::int64_t farthest) {
    return (columns == 1 || column == 1) && (rows == 1 || (row >= columns && row <= farthest));
  }

  const bool copies_;
  small_array<T, 16> copy_;

 public:
  const T* const data;
  const std::int64_t lead;
};

}  // namespace onto::detail
