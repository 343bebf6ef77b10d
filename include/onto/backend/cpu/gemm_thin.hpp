// SPDX-License-Identifier: BSL-1.0
// Products of a matrix and a vector (GEMV): as fast as the matrix is read, and read where it is.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

/// to[i * to_step] += alpha * sum over p of rows(i, p) * vector[p]. Where rows lie next to each other, so do results.
template <class T>
struct thin_product {
  std::int64_t count, depth;
  matrix_view<T> rows;
  const T* vector;  // next to each other
  T* to;
  std::int64_t to_step;
  T alpha;
};

inline namespace ONTO_VECTOR_ABI {

template <class T>
struct thin_body {
  /// Sums of one row or of four, whose elements are next to each other; each in the same order whatever is beside it.
  template <int Bytes, int Rows>
  ONTO_INLINE static void make_sums(const thin_product<T>& t, std::int64_t i) {
    static_assert(Rows == 1 || Rows == 4);
    using lanes = lanes_of<T, Bytes>;
    using type = typename lanes::type;
    constexpr int width = lanes::width;
    const T *const a = t.rows.data + i * t.rows.row, *const b = a + (Rows > 1 ? t.rows.row : 0),
                   *const c = b + (Rows > 1 ? t.rows.row : 0), *const d = c + (Rows > 1 ? t.rows.row : 0);
    // By name, so that they stay in registers without loops to unroll, as -O2 does not.
    type a0{}, a1{}, b0{}, b1{}, c0{}, c1{}, d0{}, d1{}, x{}, y{}, v{};
    const auto add = [&](type & sum, const T* from, const type& factor) __attribute__((always_inline)) {
      lanes::load(v, from);
      sum += v * factor;
    };
    std::int64_t p = 0;
    for (; p + 2 * width <= t.depth; p += 2 * width) {
      lanes::load(x, t.vector + p);
      lanes::load(y, t.vector + p + width);
      add(a0, a + p, x), add(a1, a + p + width, y);
      if constexpr (Rows == 1) continue;
      add(b0, b + p, x), add(b1, b + p + width, y);
      add(c0, c + p, x), add(c1, c + p + width, y);
      add(d0, d + p, x), add(d1, d + p + width, y);
    }
    if (p + width <= t.depth) {
      lanes::load(x, t.vector + p);
      add(a0, a + p, x);
      if constexpr (Rows > 1) add(b0, b + p, x), add(c0, c + p, x), add(d0, d + p, x);
      p += width;
    }
    // What is left, of all rows side by side.
    T rest[4] = {};
    for (std::int64_t q = p; q < t.depth; ++q) {
      rest[0] += a[q] * t.vector[q];
      if constexpr (Rows == 1) continue;
      rest[1] += b[q] * t.vector[q];
      rest[2] += c[q] * t.vector[q];
      rest[3] += d[q] * t.vector[q];
    }
    const auto finish = [&](int row, type& even, const type& odd) __attribute__((always_inline)) {
      T sum = rest[row];
      if (p > 0) {
        even += odd;
        T part[width];
        std::memcpy(part, &even, sizeof part);
        for (int l = 0; l < width; ++l) sum += part[l];
      }
      t.to[(i + row) * t.to_step] += t.alpha * sum;
    };
    finish(0, a0, a1);
    if constexpr (Rows == 1) return;
    finish(1, b0, b1);
    finish(2, c0, c1);
    finish(3, d0, d1);
  }

  /// Adds one column or four to results next to each other, in the order of the columns.
  template <int Bytes, int Columns>
  ONTO_INLINE static void add_columns(const thin_product<T>& t, std::int64_t p) {
    static_assert(Columns == 1 || Columns == 4);
    using lanes = lanes_of<T, Bytes>;
    using type = typename lanes::type;
    constexpr int width = lanes::width, last = Columns - 1;
    const std::int64_t step = Columns > 1 ? t.rows.column : 0;
    const T *const a = t.rows.data + p * t.rows.column, *const b = a + step, *const c = b + step, *const d = c + step;
    const T x = t.alpha * t.vector[p], y = t.alpha * t.vector[p + (last > 0)],
            z = t.alpha * t.vector[p + 2 * (last > 0)], w = t.alpha * t.vector[p + last];
    std::int64_t i = 0;
    type sum{}, v{};
    const auto add = [&](const T* from, T factor) __attribute__((always_inline)) {
      lanes::load(v, from + i);
      sum += factor * v;
    };
    for (; i + width <= t.count; i += width) {
      lanes::load(sum, t.to + i);
      add(a, x);
      if constexpr (Columns > 1) add(b, y), add(c, z), add(d, w);
      std::memcpy(static_cast<void*>(t.to + i), &sum, sizeof sum);
    }
    for (; i < t.count; ++i) {
      T one = t.to[i];
      one += x * a[i];
      if constexpr (Columns > 1) {
        one += y * b[i];
        one += z * c[i];
        one += w * d[i];
      }
      t.to[i] = one;
    }
  }

  template <int Bytes>
  ONTO_INLINE static void run(const thin_product<T>& t) {
    if (t.rows.column == 1) {
      std::int64_t i = 0;
      for (; i + 4 <= t.count; i += 4) make_sums<Bytes, 4>(t, i);
      for (; i < t.count; ++i) make_sums<Bytes, 1>(t, i);
    } else if (t.rows.row == 1) {
      std::int64_t p = 0;
      for (; p + 4 <= t.depth; p += 4) add_columns<Bytes, 4>(t, p);
      for (; p < t.depth; ++p) add_columns<Bytes, 1>(t, p);
    } else {
      for (std::int64_t i = 0; i < t.count; ++i) {
        T sum{};
        for (std::int64_t p = 0; p < t.depth; ++p) sum += t.rows.data[i * t.rows.row + p * t.rows.column] * t.vector[p];
        t.to[i * t.to_step] += t.alpha * sum;
      }
    }
  }
};

}  // namespace ONTO_VECTOR_ABI

/// Of deeper sums parts of so many products are made, which are added in double: errors do not grow with the depth.
/// Those of rows are two sums in each lane of a vector, those of columns one.
inline constexpr std::int64_t thin_depth = 128;

/// to = relu(alpha * a(m, k) × b(k, n) + beta * addend), where m or n is 1 or 2.
/// *Complexity* m * n * k multiplications.
template <class T>
void gemm_thin(thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k, const matrix_view<T>& a,
               const matrix_view<T>& b, const gemm_target<T>& to) {
  // The matrix and its vectors: a and b's columns, or b, turned, and a's rows.
  const bool upright = m >= n;
  const matrix_view<T> matrix = upright ? a : matrix_view<T>{b.data, b.column, b.row};
  const matrix_view<T> vectors = upright ? matrix_view<T>{b.data, b.column, b.row} : a;
  const std::int64_t lines = upright ? m : n, to_step = upright ? to.row : 1, to_next = upright ? 1 : to.row;
  const matrix_view<T> addend = upright ? to.addend : matrix_view<T>{to.addend.data, to.addend.column, to.addend.row};
  for (std::int64_t v = 0; v < (upright ? n : m); ++v) {
    const T* vector = part_of(vectors, v, 0).data;
    small_array<T, 256> gathered(vectors.column == 1 ? 0 : k);
    if (vectors.column != 1) {
      for (std::int64_t p = 0; p < k; ++p) gathered[p] = vector[p * vectors.column];
      vector = gathered.data();
    }
    const bool apart = to_step != 1 && matrix.row == 1 && matrix.column != 1;  // columns are added to a run
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      T* const out = to.data + v * to_next + lo * to_step;
      const T* const more = addend.data == nullptr ? nullptr : addend.data + lo * addend.row + v * addend.column;
      const std::int64_t sums = matrix.column == 1 ? 2 * used_vectors() / static_cast<int>(sizeof(T)) : 1;
      const std::int64_t most = thin_depth * sums;
      const bool deep = std::is_floating_point_v<T> && k > most;  // of integers parts are added where they are
      const std::int64_t count = hi - lo;
      small_array<T, 256> run(apart || deep ? count : 0);
      small_array<char, 1024> totals(deep ? count * static_cast<std::int64_t>(sizeof(double)) : 0);
      auto* const total = static_cast<double*>(static_cast<void*>(totals.data()));
      T* const made = apart || deep ? run.data() : out;
      const std::int64_t step = apart || deep ? 1 : to_step;
      for (std::int64_t i = 0; i < count; ++i)
        made[i * step] = more == nullptr || deep ? T{} : to.beta * more[i * addend.row];
      for (std::int64_t i = 0; deep && i < count; ++i)
        total[i] = more == nullptr ? 0 : static_cast<double>(to.beta * more[i * addend.row]);
      for (std::int64_t p = 0; p == 0 || p < k; p += most) {
        vector_variants<thin_body<T>, void(const thin_product<T>&)>::chosen()(
            {count, k - p < most ? k - p : most, part_of(matrix, lo, p), vector + p, made, step, to.alpha});
        for (std::int64_t i = 0; deep && i < count; ++i) {
          total[i] += static_cast<double>(made[i]);
          made[i] = T{};
        }
      }
      for (std::int64_t i = 0; (apart || deep || to.relu) && i < count; ++i) {
        const T x = deep ? static_cast<T>(total[i]) : made[i * step];
        out[i * to_step] = to.relu ? relu_of(x) : x;
      }
    };
    split(pool, lines, (std::int64_t{64} << 10) / (k + 1) + 1, body);
  }
}

}  // namespace onto::detail
