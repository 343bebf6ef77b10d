// SPDX-License-Identifier: BSL-1.0
// How a reduction, or a softmax, is spread over threads: which dimensions are folded, and who folds what. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/index.hpp>

#include <cstdint>

namespace onto::detail {

/// The axes that a reduction's attributes name.
constexpr dimension_set folded_dimensions(const op_info& op, int rank) {
  const std::int64_t count = op.attribute[2];
  if (count == 0) return all_dimensions(rank);
  dimension_set set = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t axis = op.attribute[3 + k];
    set |= 1u << static_cast<unsigned>(axis < 0 ? axis + rank : axis);
  }
  return set;
}

/// The product of the extents in a set, which may be 0.
constexpr std::int64_t size_of_dimensions(const extents& space, dimension_set set) {
  std::int64_t n = 1;
  for (int d = 0; d < space.rank; ++d)
    if (set >> d & 1u) n *= space[d];
  return n;
}

/// A grid of blocks, each `width` outputs wide and `depth` threads deep; `width * depth` threads, powers of two.
struct fold_grid {
  std::int64_t outputs;  // results
  std::int64_t count;    // elements folded into each
  int width;
  int depth;
  bool neighbours_fold;    // neighbouring threads: true, on one output; false, on neighbouring outputs
  std::int64_t blocks;     // along the outputs
  std::int64_t pieces;     // blocks that share an output, whose partial results are folded by a second kernel
  std::int64_t per_piece;  // elements of each, but fewer in the last

  /// Which of its block's outputs a thread works on, and which of the threads on it the thread is.
  ONTO_HD constexpr int column(int thread) const { return neighbours_fold ? thread / depth : thread % width; }
  ONTO_HD constexpr int row(int thread) const { return neighbours_fold ? thread % depth : thread / width; }
};

constexpr std::int64_t power_of_two_from(std::int64_t n) {
  std::int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

/// Chooses the grid. The choice, and so the order of additions and the result, is the same on every GPU.
/// *Preconditions* `outputs > 0`.
constexpr fold_grid arrange_fold(std::int64_t outputs, std::int64_t count, bool neighbours_fold, int threads,
                                 bool in_pieces) {
  constexpr std::int64_t enough_blocks = 1024;  // keeps the largest GPUs of today busy
  constexpr std::int64_t worth_a_block = 32;    // elements per thread below which sharing an output costs more
  fold_grid g{outputs, count, 1, 1, neighbours_fold, 1, 1, count};
  // Where outputs are neighbours a warp reads 32 of them at once; where folded elements are, many outputs keep to a
  // warp each.
  const std::int64_t narrowest = power_of_two_from(outputs < 32 ? outputs : 32);
  std::int64_t deepest = threads;
  if (neighbours_fold && outputs >= enough_blocks * 8) deepest = 32;
  if (!neighbours_fold) deepest = outputs >= enough_blocks * threads ? 1 : threads / narrowest;
  std::int64_t depth = power_of_two_from(neighbours_fold ? (count + 3) / 4 : count);
  if (depth > deepest) depth = deepest;
  g.depth = static_cast<int>(depth);
  g.width = threads / g.depth;
  g.blocks = (outputs + g.width - 1) / g.width;
  if (in_pieces && g.blocks < enough_blocks) {
    const std::int64_t wanted = (enough_blocks + g.blocks - 1) / g.blocks;
    const std::int64_t worth = count / (depth * worth_a_block);
    const std::int64_t pieces = wanted < worth ? wanted : worth;
    if (pieces > 1) {
      g.per_piece = (count + pieces - 1) / pieces;
      g.pieces = (count + g.per_piece - 1) / g.per_piece;
    }
  }
  return g;
}

/// Whether neighbouring threads should take neighbouring elements of one fold: where memory is contiguous along it.
template <int Operands>
constexpr bool folds_along_memory(const strided_space<Operands>& kept, const strided_space<Operands>& folded) {
  if (kept.rank == 0 || folded.rank == 0) return folded.rank > 0;
  int along = 0, across = 0;
  for (int k = 0; k < Operands; ++k) {
    const std::int64_t in_fold = folded.stride[k][folded.rank - 1];
    const std::int64_t in_kept = kept.stride[k][kept.rank - 1];
    if (in_fold == in_kept || (in_fold == 0 && in_kept == 0)) continue;
    if (in_kept == 0 || (in_fold != 0 && in_fold < in_kept))
      ++along;
    else
      ++across;
  }
  return along >= across;
}

}  // namespace onto::detail
