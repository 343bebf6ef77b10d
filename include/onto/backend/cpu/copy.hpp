// SPDX-License-Identifier: BSL-1.0
// Copies on the CPU: a view to its elements next to each other, or to its part of a concatenation.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// Copies in[0] to out, both with any strides over the space, by `copy`.
inline void cpu_copy(thread_pool& pool, const kernel_call& call, copy_function copy = copy_elements) {
  if (call.space.size() <= 0) return;
  if (copy_few(call.space, size_of(call.out.type), call.out.data, call.out.stride, call.in[0].data, call.in[0].stride,
               copy))
    return;
  auto l = coalesce<2>(call.space, {call.in[0].stride, call.out.stride});
  const std::int64_t *const in_stride = l.stride[0], *const out_stride = l.stride[1];
  const int size = size_of(call.out.type), column = l.rank - 1, row = column - 1;
  const std::int64_t columns = l.extent[column], in_step = in_stride[column], out_step = out_stride[column];
  const std::int64_t grain = (std::int64_t{256} << 10) / size;
  const char* const in = static_cast<const char*>(call.in[0].data);
  char* const out = static_cast<char*>(call.out.data);
  if (row < 0) {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      copy(size, out + lo * out_step * size, 0, out_step, in + lo * in_step * size, 0, in_step, 1, hi - lo);
    };
    return split(pool, columns, grain, body);
  }
  // The dimension along which the source is nearest to contiguous comes next to the innermost, so that the two make
  // tiles.
  int second = row;
  for (int k = 0; k < row && in_step != 1 && in_step != 0; ++k)
    if (in_stride[k] != 0 && in_stride[k] < in_stride[second]) second = k;
  // Rows of few elements, as pixels that stand there twice: a call for each few takes longer than they do.
  if (in_step == 1 && columns * size <= short_row_bytes && l.extent[row] < 16)
    for (int k = 0; k < row; ++k)
      if (l.extent[k] > l.extent[second]) second = k;
  for (std::int64_t* v : {l.extent, l.stride[0], l.stride[1]}) {
    const std::int64_t t = v[second];
    v[second] = v[row];
    v[row] = t;
  }
  --l.rank;  // of the columns' first elements
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    while (lo < hi) {
      const std::int64_t left = l.extent[row] - lo % l.extent[row], rows = left < hi - lo ? left : hi - lo;
      copy(size, out + offset_of(l.rank, l.extent, out_stride, lo) * size, out_stride[row], out_step,
           in + offset_of(l.rank, l.extent, in_stride, lo) * size, in_stride[row], in_step, rows, columns);
      lo += rows;
    }
  };
  split(pool, l.size(), grain / columns + 1, body);
}

}  // namespace onto::detail
