// SPDX-License-Identifier: BSL-1.0
// What a matrix product on the CPU reads, and its epilogue.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// A matrix in memory, by the distances of its rows and of its columns.
template <class T>
struct matrix_view {
  const T* data;
  std::int64_t row;
  std::int64_t column;
};

/// A matrix from a row and a column on; of none, none.
template <class T>
ONTO_INLINE matrix_view<T> part_of(const matrix_view<T>& v, std::int64_t row, std::int64_t column) {
  return {v.data ? v.data + row * v.row + column * v.column : nullptr, v.row, v.column};
}

/// What becomes of a product, and where: `relu(alpha * product + beta * addend)`. The rows of the result are
/// contiguous.
template <class T>
struct gemm_target {
  T* data;
  std::int64_t row;
  T alpha;
  T beta;
  matrix_view<T> addend;  // without data: nothing is added, and the result's memory is not read
  bool relu;
};

/// relu(alpha * part + beta * addend) for `rows` × `columns` of a product, which may be where the result is.
template <class T>
using gemm_epilogue = void (*)(const gemm_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                               std::int64_t part_row);

/// Rows of a times as many columns of b as a tile has, or fewer.
template <class T>
struct gemm_panel {
  std::int64_t rows, columns, depth;
  matrix_view<T> a;
  matrix_view<T> tail;  // of a, the rows of the last tile where it is not full
  const T* b;           // contiguous in rows, of one or two registers
  std::int64_t b_row;
  T* packed;  // where the first tile packs b, on its way; or null
  gemm_target<T> to;
  gemm_epilogue<T> finish;
};

/// The negative become 0 and NaN stays; in integers, what is negative when taken for signed.
template <class T>
ONTO_INLINE T relu_of(T v) {
  if constexpr (std::is_floating_point_v<T>)
    return v < T{0} ? T{0} : v;
  else
    return static_cast<T>(v & static_cast<T>((v >> (8 * sizeof(T) - 1)) - T{1}));
}

}  // namespace onto::detail
