// SPDX-License-Identifier: BSL-1.0
// A matrix operand as libraries for matrix products take it.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/kernel/matrix_form.hpp>

#include <cstdint>

namespace onto::detail {

/// A matrix whose rows, or columns where it is transposed, are elements next to each other. What has other strides, or
/// whose rows lie farther apart than `farthest`, is copied.
template <class T>
class library_operand {
 public:
  library_operand(const matrix_view<T>& v, std::int64_t rows, std::int64_t columns, std::int64_t farthest = most_count)
      : form(form_of(v, rows, columns, farthest)),
        copy_(form.packed ? rows * columns : 0),
        data(form.packed ? copy_.data() : v.data) {
    if (form.packed) copy_elements(sizeof(T), copy_.data(), columns, 1, v.data, v.row, v.column, rows, columns);
  }

  const matrix_form form;

 private:
  static matrix_form form_of(const matrix_view<T>& v, std::int64_t rows, std::int64_t columns, std::int64_t farthest) {
    const matrix_form f = matrix_form_of(rows, columns, v.row, v.column);
    return f.leading > farthest ? matrix_form{true, false, columns} : f;
  }

  small_array<T, 16> copy_;

 public:
  const T* const data;
};

}  // namespace onto::detail
