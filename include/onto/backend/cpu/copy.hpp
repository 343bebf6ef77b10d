// SPDX-License-Identifier: BSL-1.0
// Copies on the CPU: a view to its elements next to each other, or to its part of a concatenation.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// Two views of one space with as few dimensions as say the same.
struct copy_layout {
  int rank = 0;
  std::int64_t dims[max_rank];
  std::int64_t in[max_rank];
  std::int64_t out[max_rank];

  ONTO_COLD copy_layout(const extents& space, const std::int64_t* in_stride, const std::int64_t* out_stride) {
    for (int k = 0; k < space.rank; ++k) {
      const std::int64_t n = space.dims[k];
      if (n == 1) continue;
      if (rank > 0 && in[rank - 1] == in_stride[k] * n && out[rank - 1] == out_stride[k] * n) {
        dims[rank - 1] *= n;
        in[rank - 1] = in_stride[k];
        out[rank - 1] = out_stride[k];
      } else {
        dims[rank] = n;
        in[rank] = in_stride[k];
        out[rank++] = out_stride[k];
      }
    }
    // The dimension along which the source is nearest to contiguous comes next to the innermost, so that the two make
    // tiles.
    if (rank > 2 && in[rank - 1] != 1 && in[rank - 1] != 0) {
      int nearest = rank - 2;
      for (int k = 0; k < rank - 1; ++k)
        if (in[k] != 0 && in[k] < in[nearest]) nearest = k;
      swap(nearest, rank - 2);
    }
    while (rank < 2) {  // ... × 1 × 1 in front
      for (int k = rank; k > 0; --k) {
        dims[k] = dims[k - 1];
        in[k] = in[k - 1];
        out[k] = out[k - 1];
      }
      dims[0] = 1;
      in[0] = out[0] = 0;
      ++rank;
    }
  }

 private:
  void swap(int a, int b) {
    std::int64_t* const all[] = {dims, in, out};
    for (std::int64_t* v : all) {
      const std::int64_t t = v[a];
      v[a] = v[b];
      v[b] = t;
    }
  }
};

/// Copies in[0] to out, both with any strides over the space.
inline void cpu_copy(thread_pool& pool, const kernel_call& call) {
  if (call.space.size() <= 0) return;
  const copy_layout l(call.space, call.in[0].stride, call.out.stride);
  const int size = size_of(call.out.type);
  const std::int64_t grain = (std::int64_t{256} << 10) / size;
  const char* const in = static_cast<const char*>(call.in[0].data);
  char* const out = static_cast<char*>(call.out.data);
  const int row = l.rank - 2, column = l.rank - 1;
  const std::int64_t rows = l.dims[row], columns = l.dims[column];
  std::int64_t matrices = 1;
  for (int k = 0; k < row; ++k) matrices *= l.dims[k];
  if (matrices * rows == 1) {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      copy_elements(size, out + lo * l.out[column] * size, 0, l.out[column], in + lo * l.in[column] * size, 0,
                    l.in[column], 1, hi - lo);
    };
    split(pool, columns, grain, body);
    return;
  }
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    while (lo < hi) {
      const std::int64_t i = lo % rows, n = rows - i < hi - lo ? rows - i : hi - lo;
      std::int64_t matrix = lo / rows, from = i * l.in[row], to = i * l.out[row];
      for (int k = row - 1; k >= 0; --k) {
        const std::int64_t index = matrix % l.dims[k];
        matrix /= l.dims[k];
        from += index * l.in[k];
        to += index * l.out[k];
      }
      copy_elements(size, out + to * size, l.out[row], l.out[column], in + from * size, l.in[row], l.in[column], n,
                    columns);
      lo += n;
    }
  };
  split(pool, matrices * rows, grain / columns + 1, body);
}

}  // namespace onto::detail
