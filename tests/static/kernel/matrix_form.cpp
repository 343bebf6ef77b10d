// SPDX-License-Identifier: BSL-1.0
// How a BLAS reads matrices of any strides: which it reads in place, and the law over many.
#include <onto/kernel/matrix_form.hpp>

using namespace onto::detail;

namespace {

constexpr bool is(const matrix_form& f, bool packed, bool transposed, std::int64_t leading) {
  return f.packed == packed && f.transposed == transposed && f.leading == leading;
}

// Rows of neighbours, as long as they are or further apart; columns of neighbours are a transposed matrix.
static_assert(is(matrix_form_of(3, 4, 4, 1), false, false, 4));
static_assert(is(matrix_form_of(3, 4, 10, 1), false, false, 10));
static_assert(is(matrix_form_of(3, 4, 1, 3), false, true, 3));
// A row, or a column, has no stride of its own.
static_assert(is(matrix_form_of(1, 4, 0, 1), false, false, 4));
static_assert(is(matrix_form_of(1, 4, 7, 5), false, true, 5));
static_assert(is(matrix_form_of(4, 1, 2, 9), false, false, 2));
// Steps between neighbours, rows that overlap and one row for all are copied, to rows without gaps.
static_assert(is(matrix_form_of(3, 4, 8, 2), true, false, 4));
static_assert(is(matrix_form_of(3, 4, 2, 1), true, false, 4));
static_assert(is(matrix_form_of(3, 4, 0, 1), true, false, 4));

/// Every element of what is read in place is where the strides say, and rows of a BLAS do not overlap.
constexpr bool keeps_elements() {
  for (int rows = 1; rows <= 4; ++rows)
    for (int columns = 1; columns <= 4; ++columns)
      for (int row_stride = 0; row_stride <= 6; ++row_stride)
        for (int column_stride = 0; column_stride <= 6; ++column_stride) {
          const matrix_form f = matrix_form_of(rows, columns, row_stride, column_stride);
          if (f.leading < (f.transposed ? rows : columns)) return false;
          if (f.packed) continue;
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
              if ((f.transposed ? i + j * f.leading : i * f.leading + j) != i * row_stride + j * column_stride)
                return false;
        }
  return true;
}
static_assert(keeps_elements());

}  // namespace
