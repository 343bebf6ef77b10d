// SPDX-License-Identifier: BSL-1.0
// A tile of the built-in matrix product, kept in registers, in C++: of types, and for machines and sanitizers, that
// gemm_assembly.hpp has none for.
#pragma once

#include <onto/backend/cpu/gemm_epilogue.hpp>
#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace onto::detail {

// A run of T as long as a register: GNU C++, which g++, clang and nvcc know without a header.
template <class T, int Bytes>
struct lanes_of {
  typedef T type __attribute__((vector_size(Bytes)));
  static constexpr int width = Bytes / static_cast<int>(sizeof(T));

  ONTO_INLINE static void load(type& x, const T* from) { std::memcpy(&x, from, sizeof x); }

  /// x = *(base + Scale * distance) in every lane.
  template <int Scale>
  ONTO_INLINE static void spread(type& x, const char* base, std::int64_t distance) {
    T value;
    std::memcpy(&value, base + Scale * distance, sizeof value);
    x = value - type{};
  }

  ONTO_INLINE static void multiply_add(type& c, const type& a, const type& b) { c += a * b; }
};

/// The element of row `R` of a, in every lane. The multiples of a row's length that an address cannot hold by itself
/// are in registers; left to the compiler each row is a pointer, of which there are more than registers.
template <class T, int Bytes, int R>
ONTO_INLINE void spread_row(typename lanes_of<T, Bytes>::type& x, const char* low, const char* high, std::int64_t row,
                            std::int64_t row3, std::int64_t row5) {
  constexpr int r = R % 7, scale = r == 4 ? 4 : r == 2 || r == 6 ? 2 : 1;
  const char* const base = R < 7 ? low : high;
  if constexpr (r == 0)
    lanes_of<T, Bytes>::template spread<1>(x, base, 0);
  else
    lanes_of<T, Bytes>::template spread<scale>(x, base, r == 3 || r == 6 ? row3 : r == 5 ? row5 : row);
}

/// The next row of a tile is alpha times what was added up. Functions, not lambdas: nvcc hands g++ lambdas without
/// their attributes.
template <class T, int Bytes, int Registers, class Lanes>
ONTO_INLINE void scale_row(T*& c, std::int64_t row, Lanes& left, Lanes& right, const Lanes& alpha) {
  left *= alpha;
  std::memcpy(static_cast<void*>(c), &left, sizeof left);
  if constexpr (Registers == 2) {
    right *= alpha;
    std::memcpy(static_cast<void*>(c + lanes_of<T, Bytes>::width), &right, sizeof right);
  }
  c += row;
}

/// A register of a finished row: alpha times what was added up and beta times the addend, and not below `least`.
template <class T, int Bytes, class Lanes>
ONTO_INLINE void finish_lanes(T* c, Lanes& v, const T* addend, const Lanes& alpha, const Lanes& beta,
                              const Lanes& least) {
  Lanes more;
  lanes_of<T, Bytes>::load(more, addend);
  v = v * alpha + more * beta;
  v = v < least ? least : v;
  std::memcpy(static_cast<void*>(c), &v, sizeof v);
}

/// The next row of a tile, with an epilogue.
template <class T, int Bytes, int Registers, class Lanes>
ONTO_INLINE void finish_row(T*& c, std::int64_t row, Lanes& left, Lanes& right, const T*& addend,
                            std::int64_t addend_row, const Lanes& alpha, const Lanes& beta, const Lanes& least) {
  constexpr int width = lanes_of<T, Bytes>::width;
  finish_lanes<T, Bytes>(c, left, addend, alpha, beta, least);
  if constexpr (Registers == 2) finish_lanes<T, Bytes>(c + width, right, addend + width, alpha, beta, least);
  c += row;
  addend += addend_row;
}

/// Multiplies `sizeof...(R)` rows from row `i` on by `Registers` registers' columns. Packs them on its way if it
/// `Packs`: there are stores to spare among the products.
template <class T, int Bytes, int Registers, bool Packs = false, int... R>
ONTO_INLINE void multiply_tile(const gemm_panel<T>& s, const matrix_view<T>& a, std::int64_t i,
                               std::integer_sequence<int, R...>) {
  using ops = lanes_of<T, Bytes>;
  using lanes = typename ops::type;
  constexpr int rows = sizeof...(R), width = ops::width, columns = Registers * width;
  constexpr std::int64_t size = sizeof(T);
  lanes left[rows] = {}, right[rows] = {};
  const std::int64_t row = a.row * size, row3 = 3 * row, row5 = 5 * row, step = a.column * size;
  const char* low = reinterpret_cast<const char*>(a.data);
  const char* high = low + 7 * row;
  const T* b = s.b;
  const std::int64_t b_row = s.b_row;
  [[maybe_unused]] T* packed = s.packed;
  if (s.to.addend.data != nullptr) (__builtin_prefetch(s.to.data + (i + R) * s.to.row, 1), ...);
  for (std::int64_t p = s.depth; p > 0; --p) {
    lanes b0, b1, x;
    ops::load(b0, b);
    if constexpr (Registers == 2) {
      ops::load(b1, b + width);
      if constexpr (Packs) {
        std::memcpy(packed, &b0, sizeof b0);
        std::memcpy(packed + width, &b1, sizeof b1);
        packed += columns;
      }
      ((spread_row<T, Bytes, R>(x, low, high, row, row3, row5), ops::multiply_add(left[R], x, b0),
        ops::multiply_add(right[R], x, b1)),
       ...);
    } else {
      ((spread_row<T, Bytes, R>(x, low, high, row, row3, row5), ops::multiply_add(left[R], x, b0)), ...);
    }
    low += step;
    high += step;
    b += b_row;
#if defined(__GNUC__)
    asm("" : "+r"(low), "+r"(high));  // two pointers, not one for each row
#endif
  }
  const gemm_target<T>& to = s.to;
  const std::int64_t left_rows = s.rows - i;
  // Without branches between the rows: the compiler would follow each, for as long as it takes for all else.
  if (left_rows >= rows && s.columns == columns) {
    T* c = to.data + i * to.row;
    lanes alpha;
    ops::template spread<1>(alpha, reinterpret_cast<const char*>(&to.alpha), 0);
    if (to.addend.data == nullptr && !to.relu)
      return (scale_row<T, Bytes, Registers>(c, to.row, left[R], right[R], alpha), ...);
    if constexpr (std::is_floating_point_v<T>) {
      if (to.addend.data == nullptr || to.addend.column == 1) {
        static constexpr T no_addend[columns] = {}, zero = -T{0}, lows[] = {-std::numeric_limits<T>::infinity(), T{0}};
        const bool adds = to.addend.data != nullptr;
        const T* addend = adds ? to.addend.data + i * to.addend.row : no_addend;
        const std::int64_t addend_row = adds ? to.addend.row : 0;
        lanes beta, least;
        ops::template spread<1>(beta, reinterpret_cast<const char*>(adds ? &to.beta : &zero), 0);
        ops::template spread<1>(least, reinterpret_cast<const char*>(lows + (to.relu ? 1 : 0)), 0);
        return (finish_row<T, Bytes, Registers>(c, to.row, left[R], right[R], addend, addend_row, alpha, beta, least),
                ...);
      }
    }
  }
  T part[rows * columns];
  (std::memcpy(part + R * columns, &left[R], sizeof(lanes)), ...);
  if constexpr (Registers == 2) (std::memcpy(part + R * columns + width, &right[R], sizeof(lanes)), ...);
  gemm_target<T> rest = to;
  rest.data += i * to.row;
  if (to.addend.data != nullptr) rest.addend.data += i * to.addend.row;
  s.finish(rest, left_rows < rows ? left_rows : rows, s.columns, part, columns);
}

/// The heights of tiles that are compiled.
struct tile_heights {
  int most, some, few;

  /// Of `left` rows, how many the next tile takes: two of `some` where `most` would leave next to nothing.
  constexpr int next(std::int64_t left) const {
    return left > 2 * some ? most : left > most ? some : left > some ? most : left > few ? some : few;
  }
  /// Of `rows`, how many the last tile has where it is not full, and in `height` how many it could have; 0 where it is.
  constexpr std::int64_t tail(std::int64_t rows, int& height) const {
    if (rows > 2 * some) rows = rows - (rows - 2 * some + most - 1) / most * most;
    for (; rows > 0; rows -= height) {
      height = next(rows);
      if (rows < height) return rows;
    }
    return 0;
  }
};

template <class T, int Bytes, int Registers, int Most, int Some, int Few>
ONTO_INLINE void multiply_tiles(const gemm_panel<T>& strip) {
  gemm_panel<T> s = strip;
  std::int64_t i = 0;
  if constexpr (Registers == 2) {
    if (s.packed != nullptr) {
      multiply_tile<T, Bytes, 2, true>(s, s.a, 0, std::make_integer_sequence<int, Most>{});
      s.b = s.packed;
      s.b_row = 2 * lanes_of<T, Bytes>::width;
      i = Most;
    }
  }
  while (i < s.rows) {
    const int height = tile_heights{Most, Some, Few}.next(s.rows - i);
    matrix_view<T> a = s.tail;
    if (s.rows - i >= height) a = {s.a.data + i * s.a.row, s.a.row, s.a.column};
    if (Most == Few || height == Most) {
      multiply_tile<T, Bytes, Registers>(s, a, i, std::make_integer_sequence<int, Most>{});
    } else if constexpr (Most != Few) {
      if (height == Some)
        multiply_tile<T, Bytes, Registers>(s, a, i, std::make_integer_sequence<int, Some>{});
      else
        multiply_tile<T, Bytes, Registers>(s, a, i, std::make_integer_sequence<int, Few>{});
    }
    i += height;
  }
}

/// Multiplies a strip on vectors of `Bytes` bytes.
template <class T, int Bytes, int Most, int Some, int Few>
ONTO_INLINE void multiply_strip(const gemm_panel<T>& s) {
  if (s.columns > lanes_of<T, Bytes>::width)
    multiply_tiles<T, Bytes, 2, Most, Some, Few>(s);
  else
    multiply_tiles<T, Bytes, 1, Most, Some, Few>(s);
}

}  // namespace onto::detail
