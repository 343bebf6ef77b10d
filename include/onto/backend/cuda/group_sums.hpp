// SPDX-License-Identifier: BSL-1.0
// Sums over groups of sorted numbers, on the GPU. Neighbouring threads are on neighbouring elements of a row where
// these lie side by side in the updates, else on neighbouring numbers of a group. Groups may be long, few or many, and
// of any lengths: pieces of the sorted numbers that are all of one group are summed up first. Who adds what follows
// from the shape alone, so that a sum is the same bits in every run.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/number_groups.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// Where the elements of one group, its columns, are in the result.
struct group_columns {
  index_divisor all;    // of a group
  index_divisor inner;  // those of them that are side by side
  index_divisor outer;  // such elements of all groups

  constexpr group_columns() = default;
  constexpr group_columns(std::int64_t size, std::int64_t groups, std::int64_t side_by_side)
      : all(size / groups), inner(side_by_side), outer(groups * side_by_side) {}

  ONTO_HD constexpr std::int64_t count() const { return all.divisor; }
  /// The element of a column that is of the first group; that of the next group is `inner` further.
  ONTO_HD std::int64_t first_element(std::int64_t column) const {
    return column + inner.divide(column) * (outer.divisor - inner.divisor);
  }
  /// The column of an element.
  ONTO_HD std::int64_t of(std::int64_t k) const {
    return outer.divide(k) * inner.divisor + (k - inner.divide(k) * inner.divisor);
  }
};

/// How sums of groups are spread over threads. A piece is as many sorted numbers as `piece_bits` says.
struct group_sums {
  thread_grid of_element, of_piece;  // threads on an element of the result, and on one of a piece
  std::int64_t groups;
  int piece_bits;
  std::int64_t pieces;  // 0: none are summed up first
  group_columns columns;
};

/// Threads on each of so many sums of at most `longest` terms; `least` where there are enough sums.
constexpr thread_grid threads_on_sums(std::int64_t sums, std::int64_t longest, bool along, std::int64_t least_depth) {
  constexpr std::int64_t enough_threads = enough_blocks * block_threads, worth_a_thread = 4;
  const std::int64_t deepest = along ? block_threads : block_threads / outputs_together;
  std::int64_t depth = least_depth;
  while (depth < deepest && worth_a_thread * depth < longest && sums * depth < enough_threads) depth *= 2;
  return {block_threads / depth, depth, along};
}

/// *Preconditions* there are numbers, and the result has elements.
constexpr group_sums arrange_sums(std::int64_t count, std::int64_t groups, std::int64_t size, std::int64_t inner,
                                  bool along) {
  // Neither many pieces nor long ones. A warp reads 32 of its numbers at once where neighbours go along a group.
  constexpr int most_pieces_bits = 14;
  group_sums g{};
  g.groups = groups;
  g.piece_bits = static_cast<int>(greatest(logarithm_from(count) - most_pieces_bits, along ? 8 : 6));
  const std::int64_t piece = std::int64_t{1} << g.piece_bits;
  g.pieces = count > 4 * piece ? count >> g.piece_bits : 0;
  g.columns = group_columns(size, groups, inner);
  const std::int64_t longest = g.pieces > 0 ? 2 * piece + g.pieces : count;
  const std::int64_t lanes = along ? power_of_two_from(least(divide_up(count / groups, 4), 32)) : 1;
  g.of_element = threads_on_sums(size, longest, along, greatest(lanes, 1));
  g.of_piece = threads_on_sums(g.pieces * g.columns.count(), piece, along, along ? 32 : 1);
  return g;
}

/// Whether neighbours in a row of the result are neighbours in the updates, and enough of them to be read at once.
template <class Op, class T>
bool sums_lie_side_by_side(const indexed_call& c) {
  using groups = number_groups<Op, T>;
  constexpr std::int64_t worth_a_row = 8, near = 4;
  if (groups::inner(c) < worth_a_row) return false;
  const indexed_operand& u = groups::updates(c);
  for (int d = u.shape.rank - 1; d >= groups::inner_axis(c); --d)
    if (u.shape.dims[d] > 1) return u.stride[d] >= -near && u.stride[d] <= near;
  return false;
}

template <class Op, class T>
group_sums group_sums_of(const indexed_call& c) {
  using groups = number_groups<Op, T>;
  return arrange_sums(groups::count(c), groups::groups(c), c.size, groups::inner(c), !sums_lie_side_by_side<Op, T>(c));
}

template <class Op, class T>
using state_of_group = typename number_groups<Op, T>::rule::state;

/// Adds the updates of `Count` sorted numbers, every `depth`-th from `number` on: their loads are under way together.
template <class Op, class T, int Count>
__device__ ONTO_INLINE void add_some_updates(state_of_group<Op, T>& s, const indexed_call& c, const T* updates,
                                             const std::uint32_t* number, int depth) {
  using groups = number_groups<Op, T>;
  std::uint32_t numbers[Count];
  T update[Count];
  for (int j = 0; j < Count; ++j) numbers[j] = device_load(number + j * depth);
  for (int j = 0; j < Count; ++j) update[j] = device_load(updates + groups::offset(c, numbers[j]));
  for (int j = 0; j < Count; ++j) groups::rule::add(s, update[j]);
}

/// Adds the updates of every `depth`-th sorted number of those from `begin` to `end`, from the one `row` on.
template <class Op, class T>
__device__ ONTO_INLINE void add_updates(state_of_group<Op, T>& s, const indexed_call& c, const sorted_numbers& sorted,
                                        std::int64_t offset, std::int64_t begin, std::int64_t end, int row, int depth) {
  constexpr int together = 4;
  const T* const updates = static_cast<const T*>(number_groups<Op, T>::updates(c).data) + offset;
  const std::uint32_t* number = sorted.number + begin + row;
  std::int64_t left = end - begin - row;
  for (; left > (together - 1) * depth; left -= together * depth, number += together * depth)
    add_some_updates<Op, T, together>(s, c, updates, number, depth);
  ONTO_NO_UNROLL
  for (; left > 0; left -= depth, number += depth) add_some_updates<Op, T, 1>(s, c, updates, number, depth);
}

/// The sums of pieces that are all of one group, an element of the group each; of the others nothing is written.
template <class Op, class T>
__global__ void __launch_bounds__(block_threads)
    piece_sums_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ group_sums g,
                      const __grid_constant__ sorted_numbers sorted, state_of_group<Op, T>* sums) {
  using groups = number_groups<Op, T>;
  using rule = typename groups::rule;
  const thread_grid& grid = g.of_piece;
  auto* const exchange = shared_array<state_words<state_of_group<Op, T>>, block_threads>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t size = g.pieces * g.columns.count(), piece = std::int64_t{1} << g.piece_bits;
  for (std::int64_t first = std::int64_t{blockIdx.x} * grid.width; first < size;
       first += std::int64_t{gridDim.x} * grid.width) {
    const std::int64_t sum = first + grid.column(thread);
    state_of_group<Op, T> s = rule::none();
    bool whole = sum < size;
    if (whole) {
      const std::int64_t at = g.columns.all.divide(sum), begin = at << g.piece_bits;
      const std::int64_t group = device_load(sorted.groups + begin);
      whole = group < g.groups && device_load(sorted.groups + begin + piece - 1) == group;
      if (whole) {
        const std::int64_t k = g.columns.first_element(sum - at * g.columns.count());
        add_updates<Op, T>(s, c, sorted, groups::element(c, k).offset, begin, begin + piece, grid.row(thread),
                           grid.depth);
      }
    }
    s = fold_block<rule>(s, exchange, grid, thread);
    if (whole && grid.row(thread) == 0) device_store(sums + sum, s);
    __syncthreads();
  }
}

/// Makes the elements of the result, each by the threads of `grid` that are on it: of what it begins with, and of what
/// `add(state, k, row)` adds to element `k` for the thread `row` of them.
template <class Op, class T, class Result, class Add>
__device__ ONTO_INLINE void make_sums(const indexed_call& c, const thread_grid& grid, Result* out, const Add& add) {
  using groups = number_groups<Op, T>;
  using rule = typename groups::rule;
  auto* const exchange = shared_array<state_words<state_of_group<Op, T>>, block_threads>();
  const int thread = static_cast<int>(threadIdx.x), row = grid.row(thread);
  for (std::int64_t first = std::int64_t{blockIdx.x} * grid.width; first < c.size;
       first += std::int64_t{gridDim.x} * grid.width) {
    const std::int64_t k = first + grid.column(thread);
    state_of_group<Op, T> s = rule::none();
    if (k < c.size) {
      if (row == 0) s = groups::template first<device_access>(c, k);
      add(s, k, row);
    }
    s = fold_block<rule>(s, exchange, grid, thread);
    if (k < c.size && row == 0) device_store(out + k, rule::finish(s));
    __syncthreads();
  }
}

/// The elements of the result: numbers before the first piece that is all of the group, such pieces, numbers behind.
template <class Op, class T, class Result>
__global__ void __launch_bounds__(block_threads)
    group_sums_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ group_sums g,
                      const __grid_constant__ sorted_numbers sorted, const state_of_group<Op, T>* sums, Result* out) {
  using groups = number_groups<Op, T>;
  const int depth = g.of_element.depth;
  make_sums<Op, T>(c, g.of_element, out, [&](state_of_group<Op, T>& s, std::int64_t k, int row) {
    const grouped_element e = groups::element(c, k);
    const std::int64_t begin = device_load(sorted.start + e.group), end = device_load(sorted.start + e.group + 1);
    const std::int64_t next = (begin + (std::int64_t{1} << g.piece_bits) - 1) >> g.piece_bits;
    const std::int64_t pieces = g.pieces > 0 ? (end >> g.piece_bits) - next : 0;
    const std::int64_t head = pieces > 0 ? next << g.piece_bits : end;
    const std::int64_t tail = pieces > 0 ? (next + pieces) << g.piece_bits : end;
    ONTO_NO_UNROLL
    for (int part = 0; part < 2; ++part)
      add_updates<Op, T>(s, c, sorted, e.offset, part == 0 ? begin : tail, part == 0 ? head : end, row, depth);
    const std::int64_t columns = g.columns.count(), column = g.columns.of(k);
    for (std::int64_t p = row; p < pieces; p += depth)
      groups::rule::merge(s, device_load(sums + (next + p) * columns + column));
  });
}

/// Bytes of device memory for the sums of pieces, a multiple of 256.
template <class Op, class T>
std::size_t group_sums_workspace(const group_sums& g) {
  return aligned_bytes(g.pieces * g.columns.count(), sizeof(state_of_group<Op, T>));
}

template <class Op, class T, class Result>
void launch_group_sums(cudaStream_t stream, const char* what, const indexed_call& c, const group_sums& g,
                       const sorted_numbers& sorted, void* room, Result* out) {
  auto* const sums = static_cast<state_of_group<Op, T>*>(room);
  const auto blocks = [](std::int64_t size, const thread_grid& grid) {
    return launch_shape{grid_blocks(divide_up(size, grid.width))};
  };
  if (g.pieces > 0)
    launch(stream, what, &piece_sums_kernel<Op, T>, blocks(g.pieces * g.columns.count(), g.of_piece), c, g, sorted,
           sums);
  launch(stream, what, &group_sums_kernel<Op, T, Result>, blocks(c.size, g.of_element), c, g, sorted, sums, out);
}

}  // namespace onto::detail

#endif  // ONTO_CUDA
