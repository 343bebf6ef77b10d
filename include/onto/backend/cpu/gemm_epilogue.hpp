// SPDX-License-Identifier: BSL-1.0
// The epilogue of a matrix product: a factor, an addend or a bias, relu. Compiled for an instruction set
// by the function it is inlined in, as strips of products are.
#pragma once

#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

/// Rows of `part` become rows of the result, with an addend in runs or none; by vectors of `Bytes` bytes.
template <class T, int Bytes, bool Adds, bool Relu>
ONTO_INLINE void finish_runs(const gemm_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                             std::int64_t part_row) {
  typedef T lanes __attribute__((vector_size(Bytes)));
  constexpr std::int64_t width = Bytes / static_cast<int>(sizeof(T));
  const T alpha = to.alpha, beta = to.beta;
  T* c = to.data;
  const T* addend = to.addend.data;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t j = 0;
    for (; j + width <= columns; j += width) {
      lanes v;
      std::memcpy(&v, part + j, sizeof v);
      v = alpha * v;
      if constexpr (Adds) {
        lanes more;
        std::memcpy(&more, addend + j, sizeof more);
        v += beta * more;
      }
      if constexpr (Relu && std::is_floating_point_v<T>)
        v = v < lanes{} ? lanes{} : v;
      else if constexpr (Relu)
        v = v & ((v >> static_cast<T>(8 * sizeof(T) - 1)) - T{1});
      std::memcpy(static_cast<void*>(c + j), &v, sizeof v);
    }
    for (; j < columns; ++j) {
      T v = alpha * part[j];
      if constexpr (Adds) v += beta * addend[j];
      c[j] = Relu ? relu_of(v) : v;
    }
    part += part_row;
    c += to.row;
    if constexpr (Adds) addend += to.addend.row;
  }
}

/// A `gemm_epilogue`.
template <class T, int Bytes>
ONTO_INLINE void apply_epilogue(const gemm_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                                std::int64_t part_row) {
  const matrix_view<T>& from = to.addend;
  if (from.data == nullptr)
    return to.relu ? finish_runs<T, Bytes, false, true>(to, rows, columns, part, part_row)
                   : finish_runs<T, Bytes, false, false>(to, rows, columns, part, part_row);
  if (from.column == 1)
    return to.relu ? finish_runs<T, Bytes, true, true>(to, rows, columns, part, part_row)
                   : finish_runs<T, Bytes, true, false>(to, rows, columns, part, part_row);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j) {
      const T v = to.alpha * part[r * part_row + j] + to.beta * from.data[r * from.row + j * from.column];
      to.data[r * to.row + j] = to.relu ? relu_of(v) : v;
    }
}

template <class T>
void apply_epilogue_128(const gemm_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                        std::int64_t part_row) {
  apply_epilogue<T, 16>(to, rows, columns, part, part_row);
}
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
ONTO_WITHIN_32 void apply_epilogue_256(const gemm_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                                       std::int64_t part_row) {
  apply_epilogue<T, 32>(to, rows, columns, part, part_row);
}
template <class T>
ONTO_WITHIN_64 void apply_epilogue_512(const gemm_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                                       std::int64_t part_row) {
  apply_epilogue<T, 64>(to, rows, columns, part, part_row);
}
#endif

/// The epilogue for the vectors that were chosen.
template <class T>
gemm_epilogue<T> best_gemm_epilogue() {
#if defined(__x86_64__) && defined(__GNUC__)
  const int bytes = chosen_vectors();
  if (bytes == 64) return &apply_epilogue_512<T>;
  if (bytes == 32) return &apply_epilogue_256<T>;
#endif
  return &apply_epilogue_128<T>;
}

}  // namespace onto::detail
