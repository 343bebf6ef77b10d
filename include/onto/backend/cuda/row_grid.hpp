// SPDX-License-Identifier: BSL-1.0
// How rows are spread over threads and blocks: a block goes over whole rows and has them in shared memory, or, where
// rows are too long for that or too few, many blocks go over a row in pieces. Plain arithmetic.
#pragma once

#include <onto/backend/cuda/fold_grid.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// Blocks of a launch that goes over its rows once.
inline constexpr std::int64_t most_register_blocks = 1 << 24;
/// Packs that a thread loads before it waits for any.
inline constexpr int packs_ahead = 4;

/// What the grid of a row kernel depends on.
struct row_shape {
  std::int64_t rows, count;  // count: elements of a row
  bool along;                // whether a row's elements lie beside each other, rather than those of neighbouring rows
  bool packed;               // whether they are read in packs
  int lanes;                 // elements of a pack, read so or one by one
  int narrowest;             // rows that a block is to have, so that it reads whole sectors
  std::int64_t bytes;        // of shared memory for each pack of a thread
};

struct row_grid : thread_grid {
  std::int64_t blocks = 1;     // along the rows
  std::int64_t pieces = 1;     // of each row
  std::int64_t per_piece = 1;  // elements of each, but fewer in the last
  int steps = 1;               // packs of a thread that are in shared memory at a time; of whole rows, all
  std::int64_t packs = 1;      // and of the block
  bool split = false;
  bool in_registers = false;  // whole rows, with nothing of them in shared memory
};

constexpr std::int64_t shared_bytes_of(const row_grid& g, std::int64_t bytes) {
  return bytes * g.packs + std::int64_t{2} * 16 * states_of_block(g);
}

constexpr row_grid arrange_whole_rows(const row_shape& s) {
  constexpr std::int64_t comfortable = 56 << 10;  // four blocks on a multiprocessor
  std::int64_t threads = most_row_threads;
  std::int64_t depth = power_of_two_from(divide_up(s.count, s.lanes * packs_ahead));
  // A few threads read together what lies together, but of many short rows a thread reads one: its sectors are in the
  // cache when it comes to their other elements.
  const bool alone = !s.packed && s.count <= shortest_shared && s.rows >= enough_blocks * fewest_row_threads;
  if (s.along && !alone)
    depth = greatest(depth, least(power_of_two_from(divide_up(s.count, s.packed ? s.lanes : 1)), s.packed ? 8 : 32));
  depth = least(depth, threads / s.narrowest);
  const auto steps = [&] { return divide_up(s.count, depth * s.lanes); };
  const auto may_deepen = [&] { return depth < threads / s.narrowest && depth * s.lanes < s.count; };
  const auto blocks = [&] { return divide_up(s.rows, threads / depth); };
  while (s.bytes * threads * steps() > comfortable && may_deepen()) depth *= 2;
  while (blocks() < few_blocks && threads > fewest_row_threads && threads / 2 >= depth * s.narrowest) threads /= 2;
  while (blocks() < few_blocks && may_deepen()) depth *= 2;
  row_grid g;
  static_cast<thread_grid&>(g) = thread_grid(threads / depth, depth, s.along);
  g.blocks = blocks();
  g.per_piece = s.count;
  g.steps = static_cast<int>(least(steps(), longest_piece));
  // Of one row in packs, those in the last step that there are.
  g.packs = s.packed && g.width == 1 ? divide_up(divide_up(s.count, s.lanes), 4) * 4 : threads * g.steps;
  return g;
}

/// Rows that are read in packs, of which each thread holds so many in registers. *Returns* a grid that is not
/// `in_registers` where rows are too long for that.
constexpr row_grid arrange_register_rows(const row_shape& s, int packs) {
  constexpr std::int64_t usual_threads = 128;
  row_grid g;
  const std::int64_t all = divide_up(s.count, s.lanes);
  // A few threads read together what lies together.
  std::int64_t depth =
      greatest(power_of_two_from(divide_up(all, greatest(packs, 1))), least(power_of_two_from(all), 8));
  if (packs == 0 || depth > most_row_threads) return g;
  const auto threads = [&] { return greatest(depth, usual_threads); };
  while (divide_up(s.rows, threads() / depth) < enough_blocks && depth < most_row_threads && depth < all) depth *= 2;
  static_cast<thread_grid&>(g) = thread_grid(threads() / depth, depth, true);
  g.blocks = divide_up(s.rows, g.width);
  g.per_piece = s.count;
  g.steps = packs;
  g.packs = 0;
  g.in_registers = true;
  return g;
}

/// Whether there are enough blocks of whole rows, or too little to share.
constexpr bool is_worth_whole(const row_shape& s, const row_grid& g) {
  return g.blocks > few_blocks / 2 || s.count * g.width < worth_splitting;
}

/// Whether whole rows fit into shared memory, and there are enough of them or too little to share.
constexpr bool fits_whole(const row_shape& s, const row_grid& g, std::int64_t most_shared) {
  return s.count <= longest_piece && shared_bytes_of(g, s.bytes) <= most_shared && is_worth_whole(s, g);
}

/// `bytes`: of shared memory for each pack of a thread, where nothing is kept.
constexpr row_grid arrange_split_rows(const row_shape& s, std::int64_t bytes, std::int64_t most_shared) {
  constexpr std::int64_t comfortable = 100 << 10;
  std::int64_t threads = most_row_threads;
  while (threads > fewest_row_threads && bytes * threads > most_shared / 2) threads /= 2;
  const std::int64_t blocks = divide_up(s.rows, s.narrowest);
  const auto depth = [&] { return threads / s.narrowest; };
  const auto most = [&] { return divide_up(s.count, depth() * s.lanes); };
  while (threads > fewest_row_threads && blocks * most() < 2 * few_blocks) threads /= 2;
  std::int64_t pieces = least(greatest(enough_blocks / blocks, divide_up(s.count, longest_piece)), most());
  row_grid g;
  static_cast<thread_grid&>(g) = thread_grid(s.narrowest, depth(), s.along);
  g.blocks = blocks;
  const std::int64_t unit = depth() * s.lanes;
  g.per_piece = divide_up(divide_up(s.count, greatest(pieces, 1)), unit) * unit;
  g.pieces = divide_up(s.count, g.per_piece);
  g.steps = static_cast<int>(least(divide_up(g.per_piece, unit), packs_ahead));
  while (g.steps > 1 && bytes * threads * g.steps > least(comfortable, most_shared)) g.steps /= 2;
  g.packs = threads * g.steps;
  g.split = true;
  return g;
}

}  // namespace onto::detail
