// SPDX-License-Identifier: BSL-1.0
// How folds are spread over threads and blocks: which dimensions are folded, and who folds what. Plain arithmetic, the
// same on host and device.
#pragma once

#include <onto/backend/cuda/index.hpp>
#include <onto/ops/reduce.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace onto::detail {

/// The product of the extents in a set, which may be 0.
constexpr std::int64_t size_of_dimensions(const extents& space, dimension_set set) {
  std::int64_t n = 1;
  for (; set != 0; set &= set - 1) n *= space[std::countr_zero(set)];
  return n;
}

/// How the threads of a block share outputs: each block is `width` outputs wide and `depth` threads deep, both powers
/// of two.
struct thread_grid {
  int width = 1;
  int depth = 1;
  bool neighbours_fold = true;  // neighbouring threads: true, on one output; false, on neighbouring outputs
  int low_bits = 0;             // of a thread's number: its row, or its column

  constexpr thread_grid() = default;
  ONTO_HD constexpr thread_grid(std::int64_t w, std::int64_t d, bool along)
      : width(static_cast<int>(w)),
        depth(static_cast<int>(d)),
        neighbours_fold(along),
        low_bits(logarithm_from(along ? depth : width)) {}

  ONTO_HD constexpr int threads() const { return width * depth; }
  /// Which of its block's outputs a thread works on, and which of the threads on it the thread is.
  ONTO_HD constexpr int column(int thread) const {
    return neighbours_fold ? thread >> low_bits : thread & ((1 << low_bits) - 1);
  }
  ONTO_HD constexpr int row(int thread) const {
    return neighbours_fold ? thread & ((1 << low_bits) - 1) : thread >> low_bits;
  }
};

/// What threads of a block hand each other while it folds: a state of each warp and each output in it.
ONTO_HD constexpr int states_of_block(const thread_grid& g) {
  constexpr int warp = 32;
  if (g.depth == 1 || (g.neighbours_fold && g.depth <= warp)) return 0;
  return g.threads() / warp * (g.neighbours_fold ? 1 : g.width < warp ? g.width : warp);
}

/// The grid of a reduction. What is folded has an inner dimension, along which threads go in strides of their own, and
/// outer ones, which are walked through one index after another.
struct fold_grid : thread_grid {
  std::int64_t outputs = 0;
  std::int64_t outer = 1, inner = 1;
  int inner_depth = 1;      // threads of a block's depth beside each other along the inner dimension; a power of two
  int inner_bits = 0;       // of it
  std::int64_t blocks = 1;  // along the outputs
  // Blocks that share an output, whose partial results are folded by a second kernel; and the part of each.
  int pieces = 1, inner_pieces = 1;
  std::int64_t per_outer = 1, per_inner = 1;

  ONTO_HD constexpr std::int64_t count() const { return outer * inner; }
};

/// Whether `a * b`, which may be more than a number holds, is at least `n`. *Preconditions* `b > 0`.
constexpr bool reaches(std::int64_t a, std::int64_t b, std::int64_t n) { return a >= divide_up(n, b); }

/// Elements of a fold up to which threads do not share it, where there are many folds.
inline constexpr std::int64_t shortest_shared = 16;

/// Chooses the grid, from the shape alone. `lanes`: elements that a thread takes at a time, of which `inner` is a
/// multiple. *Preconditions* `outputs > 0`.
constexpr fold_grid arrange_fold(std::int64_t outputs, std::int64_t outer, std::int64_t inner, bool along, int lanes) {
  const std::int64_t packs = divide_up(inner, lanes), all = packs * outer;
  const bool in_pieces = reaches(outer * inner, outputs, worth_pieces);
  // Half as wide where there is too little for blocks on every multiprocessor.
  const bool little = in_pieces && along && !reaches(divide_up(all, block_threads), outputs, 2 * few_blocks);
  const std::int64_t threads = little ? block_threads / 2 : block_threads;
  std::int64_t depth = 1;
  if (along && lanes == 1 && outer == 1 && inner <= shortest_shared && outputs >= enough_blocks * block_threads / 4) {
    depth = 1;  // a thread a fold: its sectors are in the cache when it comes to their other elements
  } else if (along) {
    // A warp for each of many outputs. Threads of one output read at least a cache line together, where there is one.
    const std::int64_t deepest = outputs >= 8 * enough_blocks ? 32 : threads;
    depth = greatest(power_of_two_from(divide_up(all, 4)), least(power_of_two_from(packs), lanes == 1 ? 32 : 8));
    depth = least(depth, deepest);
    // More threads to an output rather than few blocks.
    while (depth < least(all, deepest) && divide_up(outputs, threads / depth) < enough_blocks) depth *= 2;
  } else {
    const std::int64_t narrowest = power_of_two_from(least(outputs, outputs_together));
    depth = least(power_of_two_from(all), outputs >= enough_blocks * threads ? 1 : threads / narrowest);
  }
  fold_grid g;
  static_cast<thread_grid&>(g) = thread_grid(threads / depth, depth, along);
  g.outputs = outputs;
  g.outer = outer;
  g.inner = inner;
  g.inner_depth = static_cast<int>(outer == 1 ? depth : least(depth, power_of_two_from(packs)));
  g.inner_bits = logarithm_from(g.inner_depth);
  g.blocks = divide_up(outputs, g.width);
  g.per_outer = outer;
  g.per_inner = inner;
  // A thread numbers the elements of its piece by ints.
  const std::int64_t least_pieces = divide_up(inner, longest_piece);
  std::int64_t wanted = least(enough_blocks / g.blocks, all / (depth * (along ? 1 : 8)));
  if (!in_pieces) wanted = 1;
  if (wanted <= 1 && least_pieces <= 1) return g;
  const std::int64_t of_outer = least(outer, greatest(wanted, 1));
  g.per_outer = divide_up(outer, of_outer);
  const std::int64_t outer_pieces = divide_up(outer, g.per_outer);
  // Pieces begin where a sector does, if rows do.
  const std::int64_t of_inner = greatest(wanted / outer_pieces, least_pieces);
  g.per_inner = divide_up(divide_up(inner, of_inner), 16) * 16;
  g.inner_pieces = static_cast<int>(divide_up(inner, g.per_inner));
  g.pieces = static_cast<int>(outer_pieces) * g.inner_pieces;
  return g;
}

/// Whether neighbouring threads should take neighbouring elements of one fold: where memory is contiguous along it.
template <int Operands>
constexpr bool folds_along_memory(const strided_space<Operands>& kept, const strided_space<Operands>& folded) {
  if (kept.rank == 0 || folded.rank == 0) return folded.rank > 0;
  // What does not change is as good as far apart: nothing is gained by neighbours.
  const auto apart = [](std::int64_t stride) {
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
  };
  int along = 0, across = 0;
  for (int k = 0; k < Operands; ++k) {
    const std::int64_t in_fold = apart(folded.stride[k][folded.rank - 1]);
    const std::int64_t in_kept = apart(kept.stride[k][kept.rank - 1]);
    if (in_fold < in_kept) ++along;
    if (in_kept < in_fold) ++across;
  }
  return along >= across;
}

}  // namespace onto::detail
