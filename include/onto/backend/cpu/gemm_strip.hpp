// SPDX-License-Identifier: BSL-1.0
// Strips of the built-in matrix product, which are tiles below each other, for several instruction sets whatever the
// program's flags say; the machine's best is taken at run time.
#pragma once

#include <onto/backend/cpu/gemm_assembly.hpp>
#include <onto/backend/cpu/gemm_epilogue.hpp>
#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <limits>

namespace onto::detail {

/// Packs `depth` × `columns` elements as rows of `width` next to each other, filled up with zeros.
template <class T>
void pack_panel(const matrix_view<T>& b, std::int64_t depth, std::int64_t columns, std::int64_t width, T* out) {
  const T* from = b.data;
  for (std::int64_t p = 0; p < depth; ++p, from += b.row, out += width) {
    std::int64_t j = 0;
    for (; j < columns; ++j) out[j] = from[j * b.column];
    for (; j < width; ++j) out[j] = 0;
  }
}

#if ONTO_TILES_IN_ASSEMBLY
/// What a strip needs of an instruction set: a function that makes a tile of so many rows by one or two registers.
template <class T>
struct tile_functions {
  int width;  // elements of a register
  tile_heights heights;
  void (*run)(const tile_call&, int rows, int registers, bool packs);
};

template <class T, int Bytes, int Most, int Some, int Few>
ONTO_INLINE void run_some_tile(const tile_call& call, int rows, int registers, bool packs) {
  if (packs) return run_tile<T, Bytes, Most, 2, true>(call);
  if (registers == 2) {
    if (Most == Few || rows == Most) return run_tile<T, Bytes, Most, 2>(call);
    if constexpr (Most != Few)
      return rows == Some ? run_tile<T, Bytes, Some, 2>(call) : run_tile<T, Bytes, Few, 2>(call);
  }
  if (Most == Few || rows == Most) return run_tile<T, Bytes, Most, 1>(call);
  if constexpr (Most != Few) return rows == Some ? run_tile<T, Bytes, Some, 1>(call) : run_tile<T, Bytes, Few, 1>(call);
}

/// Copies a part of a matrix to rows of `to_row` elements; those in runs by 16 bytes, of which the last overlap.
template <class T>
void copy_part(const matrix_view<T>& from, std::int64_t rows, std::int64_t columns, T* to, std::int64_t to_row) {
  typedef char lane __attribute__((vector_size(16)));
  constexpr std::int64_t lane_size = 16 / sizeof(T);
  for (std::int64_t r = 0; r < rows; ++r, to += to_row) {
    const T* const row = from.data + r * from.row;
    if (from.column != 1 || columns < lane_size) {
      for (std::int64_t j = 0; j < columns; ++j) to[j] = row[j * from.column];
      continue;
    }
    for (std::int64_t j = 0; j < columns; j += lane_size) {
      const std::int64_t at = j < columns - lane_size ? j : columns - lane_size;
      lane x;
      std::memcpy(&x, row + at, sizeof x);
      std::memcpy(static_cast<void*>(to + at), &x, sizeof x);
    }
  }
}

/// Multiplies a strip by tiles in assembly. A tile of which a part lies outside of the result is made beside it.
template <class T>
void multiply_strip_in_tiles(const tile_functions<T>& tiles, const gemm_panel<T>& s) {
  static constexpr std::int64_t size = sizeof(T), most = 14 * 128 / size;  // elements of a tile
  static constexpr T none[128 / size] = {}, zero = -T{0}, least[] = {-std::numeric_limits<T>::infinity(), T{0}};
  const int registers = s.columns > tiles.width ? 2 : 1;
  const std::int64_t columns = registers * tiles.width;
  const gemm_target<T>& to = s.to;
  tile_call t;
  t.b = s.b;
  t.b_row = s.b_row * size;
  t.depth = s.depth;
  t.packed = s.packed;
  t.alpha = &to.alpha;
  t.beta = &to.beta;
  t.least = least + (to.relu ? 1 : 0);
  T part[most], addend[most];
  const bool adds = to.addend.data != nullptr, full = s.columns == columns;
  matrix_view<T> more = to.addend;
  // What is beside a copied part is computed with: it is zeros, as with denormal numbers that takes twenty times as
  // long.
  if (adds && (!full || more.column != 1 || s.rows % tiles.heights.few != 0))
    std::memset(static_cast<void*>(addend), 0, sizeof addend);
  if (!adds && to.relu) {
    more = {none, 0, 1};
    t.beta = &zero;
  } else if (adds && more.row == 0 && !(full && more.column == 1)) {  // the same for all tiles
    copy_part(more, 1, s.columns, addend, columns);
    more = {addend, 0, 1};
  }
  for (std::int64_t i = 0; i < s.rows;) {
    const std::int64_t left = s.rows - i;
    const bool packs = i == 0 && registers == 2 && s.packed != nullptr;
    const int height = packs ? tiles.heights.most : tiles.heights.next(left);
    matrix_view<T> a = s.tail;
    if (left >= height) a = {s.a.data + i * s.a.row, s.a.row, s.a.column};
    t.low = a.data;
    t.high = a.data + 7 * a.row;
    t.row = a.row * size;
    t.row3 = 3 * t.row;
    t.row5 = 5 * t.row;
    t.step = a.column * size;
    T* const c = to.data + i * to.row;
    const std::int64_t rows = left < height ? left : height;
    const bool whole = full && rows == height;
    t.c = whole ? c : part;
    t.c_row = (whole ? to.row : columns) * size;
    t.addend = more.data == nullptr ? nullptr : more.data + i * more.row;
    t.addend_row = more.row * size;
    if (adds && more.row != 0 && !(whole && more.column == 1)) {
      copy_part<T>({more.data + i * more.row, more.row, more.column}, rows, s.columns, addend, columns);
      t.addend = addend;
      t.addend_row = columns * size;
    }
    if (adds && whole)
      for (int r = 0; r < height; ++r) __builtin_prefetch(c + r * to.row, 1);
    tiles.run(t, height, registers, packs);
    if (packs) {
      t.b = s.packed;
      t.b_row = columns * size;
    }
    if (!whole) copy_part<T>({part, columns, 1}, rows, s.columns, c, to.row);
    i += height;
  }
}
#endif

// Where there are wider vectors, a machine without them gets one height.
#if defined(__x86_64__) && defined(__GNUC__)
inline constexpr tile_heights heights_128{6, 6, 6};
#else
inline constexpr tile_heights heights_128{6, 4, 2};
#endif
inline constexpr tile_heights heights_256{6, 4, 2}, heights_512{14, 8, 4};

template <class T>
void run_tile_128(const tile_call& call, int rows, int registers, bool packs) {
  run_some_tile<T, 16, heights_128.most, heights_128.some, heights_128.few>(call, rows, registers, packs);
}
template <class T>
void multiply_strip_128(const gemm_panel<T>& s) {
  if constexpr (tiles_in_assembly<T>)
    multiply_strip_in_tiles<T>({16 / sizeof(T), heights_128, &run_tile_128<T>}, s);
  else
    multiply_strip<T, 16, heights_128.most, heights_128.some, heights_128.few>(s);
}
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
ONTO_WITHIN_32 void run_tile_256(const tile_call& call, int rows, int registers, bool packs) {
  run_some_tile<T, 32, heights_256.most, heights_256.some, heights_256.few>(call, rows, registers, packs);
}
template <class T>
ONTO_WITHIN_32 void multiply_strip_256(const gemm_panel<T>& s) {
  if constexpr (tiles_in_assembly<T>)
    multiply_strip_in_tiles<T>({32 / sizeof(T), heights_256, &run_tile_256<T>}, s);
  else
    multiply_strip<T, 32, heights_256.most, heights_256.some, heights_256.few>(s);
}
template <class T>
ONTO_WITHIN_64 void run_tile_512(const tile_call& call, int rows, int registers, bool packs) {
  run_some_tile<T, 64, heights_512.most, heights_512.some, heights_512.few>(call, rows, registers, packs);
}
template <class T>
ONTO_WITHIN_64 void multiply_strip_512(const gemm_panel<T>& s) {
  if constexpr (tiles_in_assembly<T>)
    multiply_strip_in_tiles<T>({64 / sizeof(T), heights_512, &run_tile_512<T>}, s);
  else
    multiply_strip<T, 64, heights_512.most, heights_512.some, heights_512.few>(s);
}
#endif

/// The functions for one instruction set, and the extents of their tiles.
template <class T>
struct gemm_kernels {
  tile_heights heights;
  int columns;
  void (*multiply)(const gemm_panel<T>&);
};

/// The kernels for vectors of at most `bytes` bytes that this machine can run.
template <class T>
gemm_kernels<T> gemm_kernels_for(int bytes) {
  constexpr auto columns = [](int vector) { return 2 * vector / static_cast<int>(sizeof(T)); };
#if defined(__x86_64__) && defined(__GNUC__)
  if (bytes > machine_vectors()) bytes = machine_vectors();
  if (bytes >= 64) return {heights_512, columns(64), &multiply_strip_512<T>};
  if (bytes >= 32) return {heights_256, columns(32), &multiply_strip_256<T>};
#else
  static_cast<void>(bytes);
#endif
  return {heights_128, columns(16), &multiply_strip_128<T>};
}

/// The kernels for the vectors that were chosen.
template <class T>
const gemm_kernels<T>& best_gemm_kernels() {
  static const gemm_kernels<T> best = gemm_kernels_for<T>(chosen_vectors());
  return best;
}

}  // namespace onto::detail
