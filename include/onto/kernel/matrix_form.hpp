// SPDX-License-Identifier: BSL-1.0
// How a BLAS reads a matrix of any strides: where it lies, transposed, or after a copy.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>

namespace onto::detail {

/// The rows of a matrix lie `leading` elements apart, or its columns where it is transposed; elements of either lie
/// next to each other.
struct matrix_form {
  bool packed = false;  // by a copy, before: no strides of a BLAS reach its elements
  bool transposed = false;
  std::int64_t leading = 1;
};

/// *Returns* a form in which one row or column, whose stride nobody uses, is as long as a BLAS wants.
constexpr matrix_form matrix_form_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                     std::int64_t column_stride) {
  if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1))
    return {false, false, rows == 1 ? columns : row_stride};
  if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1))
    return {false, true, columns == 1 ? rows : column_stride};
  return {true, false, columns};
}

}  // namespace onto::detail
