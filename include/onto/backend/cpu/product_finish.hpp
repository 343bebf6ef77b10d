// SPDX-License-Identifier: BSL-1.0
// What becomes of a product once it is computed: a factor, an addend or a bias, relu.
#pragma once

#include <onto/backend/cpu/product.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

/// Sixteen elements, which are vectors by name: g++ makes them of loops only under some flags.
template <class T>
struct sixteen_of {
  typedef T type __attribute__((vector_size(16 * sizeof(T))));
};

/// Rows of `part` become rows of the result, with an addend in runs or none.
template <class T, bool Adds, bool Relu>
ONTO_NOINLINE void finish_runs(const product_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                               std::int64_t part_row) {
  using sixteen = typename sixteen_of<T>::type;
  constexpr std::int64_t width = 16;
  const T alpha = to.alpha, beta = to.beta;
  T* c = to.data;
  const T* addend = to.addend.data;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t j = 0;
    for (; j + width <= columns; j += width) {
      sixteen v;
      std::memcpy(&v, part + j, sizeof v);
      v = alpha * v;
      if constexpr (Adds) {
        sixteen more;
        std::memcpy(&more, addend + j, sizeof more);
        v += beta * more;
      }
      if constexpr (Relu && std::is_floating_point_v<T>)
        v = v < sixteen{} ? sixteen{} : v;
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

/// relu(alpha * part + beta * addend) for `rows` × `columns` of a product, which may be where the result is.
template <class T>
ONTO_NOINLINE void finish_product(const product_target<T>& to, std::int64_t rows, std::int64_t columns, const T* part,
                                  std::int64_t part_row) {
  const matrix_view<T>& from = to.addend;
  if (from.data == nullptr)
    return to.relu ? finish_runs<T, false, true>(to, rows, columns, part, part_row)
                   : finish_runs<T, false, false>(to, rows, columns, part, part_row);
  if (from.column == 1)
    return to.relu ? finish_runs<T, true, true>(to, rows, columns, part, part_row)
                   : finish_runs<T, true, false>(to, rows, columns, part, part_row);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j) {
      const T v = to.alpha * part[r * part_row + j] + to.beta * from.data[r * from.row + j * from.column];
      to.data[r * to.row + j] = to.relu ? relu_of(v) : v;
    }
}

}  // namespace onto::detail
