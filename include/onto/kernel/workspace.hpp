// SPDX-License-Identifier: BSL-1.0
// The memory that kernels on a GPU work in beside operands and results: where blocks share a fold or a row, what each
// of them has found. At most so much by extents alone, so that a plan counts it without a GPU. Plain arithmetic.
#pragma once

#include <onto/core/config.hpp>
#include <onto/shape/extents.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) { return n / by + (n % by != 0 ? 1 : 0); }

ONTO_HD constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
ONTO_HD constexpr std::int64_t greatest(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

/// Bytes of so many elements in a workspace: what follows them begins as allocations of CUDA's do, at a multiple of
/// 256.
constexpr std::size_t aligned_bytes(std::int64_t elements, std::size_t size = 1) {
  return (static_cast<std::size_t>(elements) * size + 255) / 256 * 256;
}

/// Blocks that keep GPUs of today busy: four on each of an H100's 132 multiprocessors. Not asked of the GPU, so that
/// the order of additions, and with it the result, is the same on every one.
inline constexpr std::int64_t few_blocks = 132;
inline constexpr std::int64_t enough_blocks = 4 * few_blocks;

/// The most elements of a piece of what is folded.
inline constexpr std::int64_t longest_piece = 1 << 30;
/// Elements from which a second launch for a reduction pays.
inline constexpr std::int64_t worth_pieces = 1 << 15;
/// Neighbouring outputs that a warp of a reduction reads at once.
inline constexpr std::int64_t outputs_together = 32;

/// Threads of the largest block of a row kernel, and of the smallest.
inline constexpr std::int64_t most_row_threads = 512, fewest_row_threads = 128;
/// The most rows that a block of a row kernel goes over at once so that it reads whole sectors.
inline constexpr std::int64_t most_rows_together = 16;
/// Rows whose pieces are in the works at one time. It bounds a row kernel's workspace: 32 bytes for each piece and 8
/// for each value that is given to a later phase, of so many rows; rows are in more than one piece where there are few.
inline constexpr std::int64_t most_split_rows = 4096;
/// Elements of a block of rows from which few blocks are too few.
inline constexpr std::int64_t worth_splitting = 1 << 14;
/// Bytes of a partial result.
inline constexpr std::int64_t partial_bytes = 16;

ONTO_BEGIN_RUNS_ONCE
/// The most bytes that a reduction to `outputs` results of `count` elements each works in: the partial results, of
/// `bytes` each, of the blocks that share an output.
constexpr std::int64_t most_fold_workspace(std::int64_t outputs, std::int64_t count, std::int64_t bytes) {
  if (outputs <= 0 || count <= 0) return 0;
  // A block has threads in depth for 64 elements of each of its outputs, of which there are at most so many together.
  std::int64_t pieces = least(enough_blocks / divide_up(outputs, outputs_together), count / 64);
  if (pieces < 2 || times(outputs, count) < worth_pieces) pieces = 1;
  pieces = times(pieces, divide_up(count, longest_piece));
  return pieces > 1 ? times(times(outputs, pieces), bytes) : 0;
}

/// What the workspace of a row kernel depends on.
struct row_work {
  std::int64_t rows = 0, count = 0;  // count: elements of a row
  std::int64_t slot_count = 0;       // inputs, and what phases keep, for each element of a row
  std::int64_t size = 0;             // of an element of the widest slot
  std::int64_t given = 0;            // values for a row that phases give to later ones
};

/// Rows that a block goes over at once, or fewer: a power of two.
constexpr std::int64_t rows_together(std::int64_t rows) {
  std::int64_t n = 1;
  while (n < rows && n < most_rows_together) n *= 2;
  return n;
}

/// Whether rows are not shared by blocks on any GPU, however they lie in memory: there are many or they are short, and
/// those of a block fit into the shared memory that each GPU has since compute capability 7.5.
constexpr bool stay_whole(const row_work& w) {
  constexpr std::int64_t shared = 64 << 10, states = 512, pack = 16;
  const bool many = w.rows >= most_rows_together * few_blocks || times(w.rows, w.count) <= worth_splitting / 2;
  const std::int64_t in_slot = plus(times(times(rows_together(w.rows), w.count), w.size), pack * most_row_threads);
  return many && times(w.slot_count, in_slot) <= shared - states;
}

/// The most bytes that a row kernel works in: two partial results of each piece, and what is given.
constexpr std::int64_t most_row_workspace(const row_work& w) {
  if (w.rows <= 0 || w.count <= 0 || stay_whole(w)) return 0;
  const std::int64_t at_once = least(w.rows, most_split_rows);
  const std::int64_t together = rows_together(w.rows);
  std::int64_t pieces = least(greatest(at_once, enough_blocks * together),
                              times(at_once, divide_up(w.count, 2 * fewest_row_threads / together)));
  pieces = greatest(pieces, times(at_once, divide_up(w.count, longest_piece)));
  return plus(times(pieces, 2 * partial_bytes), times(at_once, 8 * w.given));
}
ONTO_END_RUNS_ONCE

}  // namespace onto::detail
