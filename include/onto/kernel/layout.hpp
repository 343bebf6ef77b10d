// SPDX-License-Identifier: BSL-1.0
// Strided layouts: where the elements of a kernel's operands lie, in as few dimensions as say the same. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>

namespace onto::detail {

/// A set of dimensions, a bit each.
using dimension_set = unsigned;

/// Every dimension of a space of this rank.
ONTO_HD constexpr dimension_set all_dimensions(int rank) { return (1u << rank) - 1u; }

/// Whether the elements of an operand lie next to each other, in the order of the space.
ONTO_HD constexpr bool is_contiguous(const extents& space, const std::int64_t* stride) {
  std::int64_t expected = 1;
  for (int k = space.rank - 1; k >= 0; --k) {
    if (space.dims[k] != 1 && stride[k] != expected) return false;
    expected *= space.dims[k];
  }
  return true;
}

/// The dimensions among `among`, or all, that an operand of these strides lets join the one outside of them: a step in
/// that one is the whole of the inner. Extents of 1 are passed over.
ONTO_HD constexpr dimension_set joined_dimensions(const extents& space, const std::int64_t* stride,
                                                  dimension_set among = ~0u) {
  dimension_set joined = 0;
  int outside = -1;
  for (int d = 0; d < space.rank; ++d) {
    if ((among >> d & 1u) == 0 || space.dims[d] == 1) continue;
    if (outside >= 0 && stride[outside] == stride[d] * space.dims[d]) joined |= 1u << d;
    outside = d;
  }
  return joined;
}

/// A row-major space made of another's dimensions: without extents of 1, neighbours joined.
struct coalesced_space {
  int rank;
  std::int64_t extent[max_rank];
  int dimension[max_rank];  // of the other space: the innermost of those that were joined, whose strides are theirs

  /// The row-major `index` as one number per dimension.
  ONTO_HD constexpr void locate(std::int64_t index, std::int64_t* at) const {
    for (int k = rank - 1; k > 0; --k) {
      at[k] = index % extent[k];
      index /= extent[k];
    }
    at[0] = index;
  }
  /// How far from its first element an operand's element at `at` lies, by its strides over the other space.
  ONTO_HD constexpr std::int64_t offset_of(const std::int64_t* at, const std::int64_t* stride) const {
    std::int64_t offset = 0;
    for (int k = 0; k < rank; ++k) offset += at[k] * stride[dimension[k]];
    return offset;
  }
};

/// The dimensions of `space` among `among`, or all; those in `joined`, which all operands allow, with the one outside
/// of them.
ONTO_HD constexpr coalesced_space coalesce(const extents& space, dimension_set joined, dimension_set among = ~0u) {
  coalesced_space c{};
  for (int d = 0; d < space.rank; ++d) {
    if ((among >> d & 1u) == 0 || space.dims[d] == 1) continue;
    if (c.rank == 0 || (joined >> d & 1u) == 0) c.extent[c.rank++] = 1;
    c.extent[c.rank - 1] *= space.dims[d];
    c.dimension[c.rank - 1] = d;
  }
  return c;
}

/// A row-major space and, for each operand, how many elements apart neighbours in each dimension lie.
template <int Operands>
struct strided_layout {
  int rank;
  std::int64_t extent[max_rank];
  std::int64_t stride[Operands][max_rank];

  ONTO_HD constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= extent[k];
    return n;
  }
};

/// Operands over `space` in as few dimensions as they allow, but at least one: a single element is one of stride 1.
/// Dimensions in `apart` are not joined with the one outside of them.
/// *Law* the size is the same, and the same element of each operand is at every index.
template <int Operands>
ONTO_HD constexpr strided_layout<Operands> coalesce(const extents& space, const std::int64_t* const (&stride)[Operands],
                                                    dimension_set apart = 0) {
  dimension_set joined = ~apart;
  for (int i = 0; i < Operands; ++i) joined &= joined_dimensions(space, stride[i]);
  const coalesced_space c = coalesce(space, joined);
  strided_layout<Operands> l{};
  l.rank = c.rank;
  for (int k = 0; k < c.rank; ++k) {
    l.extent[k] = c.extent[k];
    for (int i = 0; i < Operands; ++i) l.stride[i][k] = stride[i][c.dimension[k]];
  }
  if (c.rank > 0) return l;
  l.extent[l.rank++] = 1;
  for (int i = 0; i < Operands; ++i) l.stride[i][0] = 1;
  return l;
}

/// How far from its first element an operand's element at the row-major `index` lies.
/// *Preconditions* `index` is in the space.
ONTO_HD constexpr std::int64_t offset_of(int rank, const std::int64_t* extent, const std::int64_t* stride,
                                         std::int64_t index) {
  std::int64_t offset = 0;
  for (int k = rank - 1; k > 0; --k) {
    offset += index % extent[k] * stride[k];
    index /= extent[k];
  }
  return rank > 0 ? offset + index * stride[0] : offset;
}

/// Calls `row(offset, count)` for every row of `[first, last)`, in order: `count` elements along the innermost
/// dimension, of which the first is `offset[i]` from operand `i`'s first. The rows at both ends may be parts.
ONTO_HOST_DEVICE_EITHER
template <int Operands, class Row>
ONTO_HD ONTO_INLINE constexpr void for_each_row(const strided_layout<Operands>& l, std::int64_t first,
                                                std::int64_t last, Row&& row) {
  const int inner = l.rank - 1;
  std::int64_t index[max_rank]{}, offset[Operands]{}, rest = first;
  for (int k = inner; k >= 0; --k) {
    index[k] = k > 0 ? rest % l.extent[k] : rest;
    if (k > 0) rest /= l.extent[k];
    for (int i = 0; i < Operands; ++i) offset[i] += index[k] * l.stride[i][k];
  }
  while (first < last) {
    const std::int64_t left = inner < 0 ? 1 : l.extent[inner] - index[inner];
    const std::int64_t count = left < last - first ? left : last - first;
    row(offset, count);
    first += count;
    if (first == last) return;
    index[inner] += count;
    for (int i = 0; i < Operands; ++i) offset[i] += count * l.stride[i][inner];
    for (int k = inner; k > 0 && index[k] == l.extent[k]; --k) {
      index[k] = 0;
      ++index[k - 1];
      for (int i = 0; i < Operands; ++i) offset[i] += l.stride[i][k - 1] - l.extent[k] * l.stride[i][k];
    }
  }
}

}  // namespace onto::detail
