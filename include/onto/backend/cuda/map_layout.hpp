// SPDX-License-Identifier: BSL-1.0
// What the host knows of a map before it is launched: where its operands lie, with as few dimensions as they allow, and
// in parts where positions would not fit in 32 bits. The same code for all programs, which compile none of it anew.
#pragma once

#include <onto/backend/cuda/operands.hpp>
#include <onto/backend/cuda/short_space.hpp>

#include <bit>
#include <cstdint>

namespace onto::detail {

/// Spaces have fewer elements than this, and elements lie nearer to the first than this: beyond, threads have room
/// for a step more.
inline constexpr std::int64_t short_limit = std::int64_t{1} << 30;

/// The space of a map and its operands: the inputs, then the result. Not cleared when it is made: it is large.
struct map_layout {
  int operands;
  const std::int8_t* bytes;  // of an element of each operand, then of each further result
  int more;                  // further results, which lie as the result does
  const operand_view* more_out;
  int rank;
  std::int64_t size;
  std::int64_t first;  // the index at which it begins: 0, or that of a part
  std::int64_t extent[max_rank];
  const void* data[max_kernel_inputs + 1];
  std::int64_t stride[max_kernel_inputs + 1][max_rank];

  const void* further(int k) const { return static_cast<const char*>(more_out[k].data) + first * bytes[operands + k]; }
};

/// Sets the space and the operands, with dimensions joined where every operand lets one stride stand for two. Extents
/// of 1 go away. *Preconditions* the space is not empty.
ONTO_COLD inline void set_layout(map_layout& r, const extents& space, int inputs, const operand_view* in,
                                 const void* out, const std::int64_t* out_stride) {
  const dimension_set all = all_dimensions(space.rank);
  dimension_set joined = joined_dimensions(space, out_stride, all);
  for (int k = 0; k < inputs; ++k) joined &= joined_dimensions(space, in[k].stride, all);
  const coalesced_space c = coalesce(space, joined, all);
  r.operands = inputs + 1;
  r.more = 0;
  r.rank = c.rank;
  r.size = space.size();
  r.first = 0;
  for (int d = 0; d < c.rank; ++d) r.extent[d] = c.extent[d];
  for (int k = 0; k <= inputs; ++k) {
    r.data[k] = k < inputs ? in[k].data : out;
    for (int d = 0; d < c.rank; ++d) r.stride[k][d] = (k < inputs ? in[k].stride : out_stride)[c.dimension[d]];
  }
}

/// The layout of a map's call.
ONTO_COLD inline void set_layout(map_layout& r, const kernel_call& call, int inputs, int more,
                                 const std::int8_t* bytes) {
  std::int64_t stride[max_rank];
  contiguous_strides(call.space, stride);
  set_layout(r, call.space, inputs, call.in, call.out.data, stride);
  r.bytes = bytes;
  r.more = more;
  r.more_out = call.more_out;
}

/// How far the elements of an operand lie from the first along dimension `d`.
inline std::int64_t reach(const map_layout& m, int operand, int d) {
  const std::int64_t stride = m.stride[operand][d];
  return (m.extent[d] - 1) * (stride < 0 ? -stride : stride);
}
/// The greatest of them.
ONTO_COLD inline std::int64_t reach(const map_layout& m, int d) {
  std::int64_t most = 0;
  for (int k = 0; k < m.operands; ++k) most = greatest(most, reach(m, k, d));
  return most;
}

ONTO_COLD inline bool is_short(const map_layout& m) {
  if (m.size >= short_limit) return false;
  for (int k = 0; k < m.operands; ++k) {
    std::int64_t sum = 0;
    for (int d = 0; d < m.rank; ++d) sum += reach(m, k, d);
    if (sum >= short_limit) return false;
  }
  return true;
}

/// Leaves out dimensions that became 1.
ONTO_COLD inline void drop_ones(map_layout& m) {
  int rank = 0;
  for (int d = 0; d < m.rank; ++d) {
    if (m.extent[d] == 1) continue;
    m.extent[rank] = m.extent[d];
    for (int k = 0; k < m.operands; ++k) m.stride[k][rank] = m.stride[k][d];
    ++rank;
  }
  m.rank = rank;
}

ONTO_COLD inline void advance(map_layout& m, int d, std::int64_t count) {
  for (int k = 0; k < m.operands; ++k)
    m.data[k] = static_cast<const char*>(m.data[k]) + count * m.stride[k][d] * m.bytes[k];
  m.first += count * m.stride[m.operands - 1][d];
}

/// Calls `take` with parts of the space that are short, one after another: with the whole of it in nearly every case.
/// Parts are halves along the dimension that reaches the furthest, the outer one of those that reach as far.
/// `m` is as it was when this returns.
ONTO_COLD inline void for_each_short(map_layout& m, void (*take)(void* job, const map_layout& part), void* job,
                                     bool whole = true) {
  if (is_short(m)) {
    if (whole) return take(job, m);
    map_layout part = m;
    drop_ones(part);
    return take(job, part);
  }
  int widest = 0;
  for (int d = 1; d < m.rank; ++d)
    if (reach(m, d) > reach(m, widest)) widest = d;
  const std::int64_t extent = m.extent[widest], size = m.size;
  constexpr std::int64_t unit = 1024;  // so that the second half is aligned as the first is
  const std::int64_t half = extent > 2 * unit ? extent / 2 / unit * unit : extent / 2;
  m.extent[widest] = half;
  m.size = size / extent * half;
  for_each_short(m, take, job, false);
  advance(m, widest, half);
  m.extent[widest] = extent - half;
  m.size = size - size / extent * half;
  for_each_short(m, take, job, false);
  advance(m, widest, -half);
  m.extent[widest] = extent;
  m.size = size;
}

/// A short space of any number of operands, to be written to.
struct short_space_ref {
  int& rank;
  short_divisor* extent;
  std::int32_t* stride;
  int operands;

  template <int Operands>
  explicit short_space_ref(short_space<Operands>& s)
      : rank(s.rank), extent(s.extent), stride(s.stride[0]), operands(Operands) {
    s.rank = 0;
  }

  std::int32_t* append(std::int64_t e) const {
    extent[rank] = short_divisor(e);
    return stride + operands * rank++;
  }
  /// Appends these dimensions of a map.
  void append(const map_layout& m, dimension_set dimensions) const {
    for (dimension_set left = dimensions; left != 0; left &= left - 1) {
      const int d = std::countr_zero(left);
      std::int32_t* to = append(m.extent[d]);
      for (int k = 0; k < operands; ++k) to[k] = static_cast<std::int32_t>(m.stride[k][d]);
    }
  }
};

}  // namespace onto::detail
