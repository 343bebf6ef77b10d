// SPDX-License-Identifier: BSL-1.0
// The built-in matrix product: blocks for the caches around the tiles of gemm_strip.hpp.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_partition.hpp>
#include <onto/backend/cpu/gemm_strip.hpp>
#include <onto/backend/cpu/gemm_thin.hpp>
#include <onto/backend/cpu/gemm_tiny.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace onto::detail {

/// Memory of a thread for packed operands, kept for its next product: new memory costs more than packing into it.
class pack_memory {
 public:
  pack_memory() = default;
  pack_memory(const pack_memory&) = delete;
  pack_memory& operator=(const pack_memory&) = delete;
  ~pack_memory() { release(); }

  template <class T>
  T* get(std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (bytes > bytes_) grow(bytes);
    return static_cast<T*>(data_);
  }

 private:
  static constexpr std::align_val_t line{64};

  ONTO_COLD ONTO_NOINLINE void grow(std::size_t bytes) {
    release();
    data_ = ::operator new(bytes, line);
    bytes_ = bytes;
  }
  void release() {
    ::operator delete(data_, line);
    data_ = nullptr;
    bytes_ = 0;
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What a thread keeps memory for, from kernel to kernel.
enum class kept_memory { panels, block, image, filter, result, addend };

/// It. In a function: a variable of the thread's would be set up by every object file.
template <kept_memory>
pack_memory& memory_of_thread() {
  static thread_local pack_memory kept;
  return kept;
}

/// Rows of a (and `depth` of its columns) for a strip: as they stand, or copied to `buffer` as rows (or columns) that
/// are far enough from a power of two apart. What the last tile lacks in rows is zeros.
template <class T>
void pack_block(const tile_heights& heights, const matrix_view<T>& a, std::int64_t rows, std::int64_t depth,
                bool as_it_stands, T* buffer, gemm_panel<T>& s) {
  s.rows = rows;
  s.depth = depth;
  int height = 0;
  const std::int64_t last = heights.tail(rows, height);
  const std::int64_t first = as_it_stands ? rows - last : 0;  // what is copied begins here
  const matrix_view<T> from{a.data + first * a.row, a.row, a.column};
  const std::int64_t some = rows - first, padded = last == 0 ? some : some - last + height;
  const std::int64_t columns = depth / 16 * 16 + 16;
  s.a = a;
  if (some == 0) return;
  if (a.row == 1 && !as_it_stands) {
    const std::int64_t run = padded / 16 * 16 + 16;
    for (std::int64_t p = 0; p < depth; ++p) {
      std::memcpy(buffer + p * run, from.data + p * from.column, static_cast<std::size_t>(some) * sizeof(T));
      for (std::int64_t r = some; r < padded; ++r) buffer[p * run + r] = 0;
    }
    s.tail = {buffer, 1, run};
  } else {
    copies<sizeof(T), true>::run(sizeof(T), buffer, columns, 1, from.data, from.row, from.column, some, depth);
    if (padded > some)
      std::memset(static_cast<void*>(buffer + some * columns), 0,
                  static_cast<std::size_t>((padded - some) * columns) * sizeof(T));
    s.tail = {buffer, columns, 1};
  }
  if (as_it_stands) return;
  s.a = s.tail;
  s.tail.data += (rows - last) * s.tail.row;
}

/// Measured: two threads share 256 × 512 × 784 in 498 µs by columns, in 527 by rows.
inline constexpr gemm_partition_costs gemm_costs{10, 8};

/// Whether a is multiplied where it is. Copying a costs as much as multiplying it by twelve columns. Its columns that
/// stand may be far apart: more than the L2 holds well is slow to read, where it is read more than once.
template <class T>
bool stands(const matrix_view<T>& a, std::int64_t n, std::int64_t w, std::int64_t deep) {
  constexpr std::int64_t size = sizeof(T);
  return a.column == 1 || n <= w || (n <= 512 && deep * a.column * size <= std::int64_t{512} << 10);
}

/// to = relu(alpha * a(m, k) × b(k, n) + beta * addend), on this thread. `Left` is a matrix, or what is packed as one:
/// it has `part_of`, `stands` and `pack_block`.
template <class T, class Left = matrix_view<T>>
void gemm_with(const gemm_kernels<T>& kernels, std::int64_t m, std::int64_t n, std::int64_t k, const Left& a,
               const matrix_view<T>& b, const gemm_target<T>& to) {
  if constexpr (std::same_as<Left, matrix_view<T>>) {
    // Matrices without a column or a row lie nowhere, and there is no place so many elements from there.
    static constexpr T none{};
    if (k == 0 && !(a.data && b.data)) return gemm_with<T, Left>(kernels, m, n, k, {&none, 0, 0}, {&none, 0, 0}, to);
  }
  constexpr std::int64_t size = sizeof(T), most_deep = 2048 / size, most_wide = 4096, most_high = 336;
  const std::int64_t w = kernels.columns, most = kernels.heights.most;
  // Equal parts, so that the last is not a thin one.
  const auto part = [](std::int64_t count, std::int64_t limit, std::int64_t unit) {
    const std::int64_t parts = (count + limit - 1) / limit;
    return parts <= 1 ? count : ((count + parts - 1) / parts + unit - 1) / unit * unit;
  };
  const std::int64_t deep = part(k > 0 ? k : 1, most_deep, 8), high = part(m, most_high, most),
                     wide = part(n, most_wide, w);
  // Packing b costs as much as multiplying it by five rows; b is packed where it does not lie in runs or is used often.
  const bool b_stands = b.column == 1 && m <= (n * k * size <= (std::int64_t{64} << 10) ? 192 : 2 * most);
  const bool a_stands = stands(a, n, w, deep);
  // B is packed while the first rows are multiplied by it: these leave room for it.
  const bool packs_on_its_way = !b_stands && b.column == 1 && high > 2 * kernels.heights.some;
  const std::int64_t panels_most = (wide + w - 1) / w;
  T* const packed = b_stands && n % w == 0
                        ? nullptr
                        : memory_of_thread<kept_memory::panels>().get<T>(deep * w * (b_stands ? 1 : panels_most));
  T* const buffer =
      memory_of_thread<kept_memory::block>().get<T>(((a_stands ? 0 : high) + 2 * most + 16) * (deep + 32));
  for (std::int64_t j0 = 0; j0 < n; j0 += wide) {
    const std::int64_t nc = n - j0 < wide ? n - j0 : wide;
    const bool last_packed = b_stands && nc % w != 0 && nc % w != w / 2;
    for (std::int64_t p0 = 0; p0 == 0 || p0 < k; p0 += deep) {
      const std::int64_t kc = k - p0 < deep ? k - p0 : deep;
      const auto width_of = [&](std::int64_t j) { return nc - j <= w / 2 ? w / 2 : w; };
      const auto pack = [&](std::int64_t j) {
        const std::int64_t columns = nc - j < w ? nc - j : w, width = width_of(j);
        const matrix_view<T> from = part_of(b, p0, j0 + j);
        T* const panel = packed + (b_stands ? 0 : j * kc);
        if (b.row == 1 && b.column != 1) {
          copies<sizeof(T), true>::run(sizeof(T), panel, width, 1, from.data, 1, b.column, kc, columns);
          for (std::int64_t p = 0; p < kc && columns < width; ++p)
            std::memset(static_cast<void*>(panel + p * width + columns), 0,
                        static_cast<std::size_t>(width - columns) * sizeof(T));
        } else {
          pack_panel(from, kc, columns, width, panel);
        }
      };
      gemm_panel<T> s{};
      if constexpr (!tiles_in_assembly<T>) s.finish = best_gemm_epilogue<T>();
      for (std::int64_t i0 = 0; i0 < m; i0 += high) {
        pack_block(kernels.heights, part_of(a, i0, p0), m - i0 < high ? m - i0 : high, kc, a_stands, buffer, s);
        for (std::int64_t j = 0; j < nc; j += w) {
          s.columns = nc - j < w ? nc - j : w;
          s.packed = nullptr;
          const bool goes_on_its_way = packs_on_its_way && s.columns == w && i0 == 0;
          if (i0 == 0 && (b_stands ? last_packed && j + w > nc : !goes_on_its_way)) pack(j);
          if (b_stands ? !(last_packed && j + w > nc) : goes_on_its_way) {
            s.b = b.data + p0 * b.row + j0 + j;
            s.b_row = b.row;
            if (goes_on_its_way) s.packed = packed + j * kc;
          } else {
            s.b = packed + (b_stands ? 0 : j * kc);
            s.b_row = width_of(j);
          }
          s.to = to;
          s.to.data += i0 * to.row + j0 + j;
          if (p0 > 0) {
            s.to.beta = 1;
            s.to.addend = {s.to.data, to.row, 1};
          } else if (to.addend.data != nullptr) {
            s.to.addend.data += i0 * to.addend.row + (j0 + j) * to.addend.column;
          }
          if (p0 + kc < k) s.to.relu = false;
          kernels.multiply(s);
        }
      }
    }
  }
}

/// to = relu(alpha * a(m, k) × b(k, n) + beta * addend).
template <class T>
void gemm(thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k, const matrix_view<T>& a,
          const matrix_view<T>& b, const gemm_target<T>& to) {
  if (m * n * k <= tiny_product) return gemm_tiny(m, n, k, a, b, to);
  const gemm_kernels<T>& kernels = best_gemm_kernels<T>();
  // Many short rows by one vector or two are tiles, too.
  const bool short_rows = a.column == 1 && m > 64 && k * n >= 16 && k * static_cast<std::int64_t>(sizeof(T)) < 128;
  if ((m > 2 && n > 2) || short_rows) {
    // A part is worth a thread from some 4 us on.
    const std::int64_t most = m * n * k >> 18, threads = most < pool.size() ? most : pool.size();
    if (threads <= 1) return gemm_with(kernels, m, n, k, a, b, to);
    return run_partitioned(pool, threads, m, n, k, a, b, to, gemm_costs,
                           [&](auto... part) { gemm_with(kernels, part...); });
  }
  gemm_thin(pool, m, n, k, a, b, to);
}

}  // namespace onto::detail
