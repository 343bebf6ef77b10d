// SPDX-License-Identifier: BSL-1.0
// Many products of few elements each (2 x 2, 3 x 3): their elements go side by side, as columns, and each
// multiplication is one of vectors.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_operands.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// Products of matrices of at most so many elements go side by side, where they are no fewer than these.
inline constexpr std::int64_t side_by_side_matrix = 16, least_side_by_side = 8;

/// The products to[i] = relu(alpha * a[i] × b[i] + beta * addend[i]), whose matrices lie `stride` apart: of a, of b, of
/// what is added; the results follow each other. *Preconditions* matrices of `side_by_side_matrix` elements at most, no
/// extent 0.
template <class T>
struct gemm_batch {
  std::int64_t m, n, k;
  matrix_view<T> a, b;
  gemm_target<T> to;
  std::int64_t stride[3];

  static constexpr std::int64_t pitch = 32;  // products at once
  static constexpr int vectors = 4;          // of them, whose sums stay in registers
  using lanes = lanes_of<T, 16>;
  /// Elements of so many matrices, as rows.
  struct columns {
    alignas(64) T row[side_by_side_matrix][pitch];
  };

  /// Products `[first, last)`.
  ONTO_NOINLINE void run(std::int64_t first, std::int64_t last) const {
    columns left, right, made;
    for (std::int64_t count; first < last; first += count) {
      count = last - first < pitch ? last - first : pitch;
      gather(left, a, first, stride[0], m, k, count);
      gather(right, b, first, stride[1], k, n, count);
      if (to.addend.data) gather(made, to.addend, first, stride[2], m, n, count);
      for (std::int64_t c = 0; c < count; c += vectors * lanes::width) multiply(left, right, made, c);
      for (std::int64_t e = 0; to.relu && e < m * n; ++e)
        for (std::int64_t c = 0; c < count; ++c) made.row[e][c] = relu_of(made.row[e][c]);
      copy_matrix<sizeof(T)>(reinterpret_cast<word<sizeof(T)>*>(to.data + first * m * n), m * n, 1,
                             reinterpret_cast<const word<sizeof(T)>*>(made.row[0]), 1, pitch, count, m * n);
    }
  }

  /// Element (i, j) of `count` matrices, from number `first` on, becomes row `i * width + j`, and 0 after them.
  static void gather(columns& out, const matrix_view<T>& v, std::int64_t first, std::int64_t apart, std::int64_t height,
                     std::int64_t width, std::int64_t count) {
    if (count < pitch) std::memset(out.row, 0, static_cast<std::size_t>(height * width * pitch) * sizeof(T));
    if (v.row == width * v.column) {  // as one row
      width *= height;
      height = 1;
    }
    for (std::int64_t i = 0; i < height; ++i)
      copy_matrix<sizeof(T)>(reinterpret_cast<word<sizeof(T)>*>(out.row[i * width]), pitch, 1,
                             reinterpret_cast<const word<sizeof(T)>*>(v.data + first * apart + i * v.row), v.column,
                             apart, width, count);
  }

  /// The products from number `c` on, as many as `vectors` of them hold.
  ONTO_INLINE void multiply(const columns& left, const columns& right, columns& made, std::int64_t c) const {
    typename lanes::type x, y;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        typename lanes::type sum[vectors]{};
        for (std::int64_t p = 0; p < k; ++p)
          for (int q = 0; q < vectors; ++q) {
            lanes::load(x, left.row[i * k + p] + c + q * lanes::width);
            lanes::load(y, right.row[p * n + j] + c + q * lanes::width);
            sum[q] += x * y;
          }
        T* const at = made.row[i * n + j] + c;
        for (int q = 0; q < vectors; ++q) sum[q] = to.alpha * sum[q];
        for (int q = 0; to.addend.data && q < vectors; ++q) {
          lanes::load(x, at + q * lanes::width);
          sum[q] += to.beta * x;
        }
        std::memcpy(at, sum, sizeof sum);
      }
  }
};

}  // namespace onto::detail
