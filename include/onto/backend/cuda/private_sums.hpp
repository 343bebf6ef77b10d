// SPDX-License-Identifier: BSL-1.0
// Sums over few groups, on the GPU, of numbers as they come: each thread has a sum of its own for each group, in shared
// memory, and goes through every so manyth number. The threads' sums are folded in an order that never changes. Nothing
// is sorted.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/group_sums.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/number_groups.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

inline constexpr int private_sum_threads = 128;

/// The most groups that threads have sums of their own for: beside what the block folds through, and a KiB that GPUs
/// of compute capability 9.0 keep of each block's.
template <class State>
inline constexpr std::int64_t most_private_groups = (static_cast<std::int64_t>(usual_shared_bytes) -
                                                     private_sum_threads * bytes_of_state - 1024) /
                                                    (private_sum_threads * static_cast<std::int64_t>(sizeof(State)));
static_assert(most_private_groups<std::int64_t> == 45);

/// How numbers and columns are spread over threads: a block has `width` columns, and every `depth * blocks`-th number.
struct private_sums {
  thread_grid of_block, of_element;
  std::int64_t blocks, tiles;  // that share a column; of columns
  std::int64_t groups;
  group_columns columns;
};

/// *Preconditions* there are numbers, and the result has elements.
constexpr private_sums arrange_private_sums(std::int64_t count, std::int64_t groups, std::int64_t size,
                                            std::int64_t inner, std::int64_t state_bytes) {
  constexpr std::int64_t numbers_of_thread = 16, shared_of_many = 200 << 10, most_together = 12;
  // As many blocks as there is shared memory for on each of an H100's multiprocessors.
  const std::int64_t bytes = private_sum_threads * (groups * state_bytes + bytes_of_state);
  const std::int64_t together = greatest(least(shared_of_many / bytes, most_together), 1);
  private_sums g{};
  g.groups = groups;
  g.columns = group_columns(size, groups, inner);
  const std::int64_t width = least(power_of_two_from(g.columns.count()), private_sum_threads);
  g.of_block = thread_grid(width, private_sum_threads / width, false);
  g.tiles = divide_up(g.columns.count(), width);
  g.blocks =
      greatest(least(divide_up(count, g.of_block.depth * numbers_of_thread), together * few_blocks / g.tiles), 1);
  // Four sums are a sector.
  std::int64_t depth = 1;
  while (depth < block_threads / 4 && 4 * depth < g.blocks && size * depth < enough_blocks * block_threads) depth *= 2;
  g.of_element = thread_grid(block_threads / depth, depth, false);
  return g;
}

template <class Op, class T>
private_sums private_sums_of(const indexed_call& c) {
  using groups = number_groups<Op, T>;
  return arrange_private_sums(groups::count(c), groups::groups(c), c.size, groups::inner(c),
                              sizeof(state_of_group<Op, T>));
}

/// Each block's sums: `sums[block][group][column]`.
template <class Op, class T>
__global__ void __launch_bounds__(private_sum_threads)
    private_sums_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ private_sums g,
                        state_of_group<Op, T>* sums) {
  using groups = number_groups<Op, T>;
  using rule = typename groups::rule;
  using own_sum = state_of_group<Op, T>;
  constexpr int together = 4;
  const thread_grid& grid = g.of_block;
  auto* const exchange = shared_array<state_words<own_sum>, private_sum_threads>();
  const int thread = static_cast<int>(threadIdx.x);
  auto* const mine = reinterpret_cast<own_sum*>(dynamic_shared()) + thread;
  const std::int64_t columns = g.columns.count(), count = groups::count(c);
  const std::int64_t step = std::int64_t{gridDim.x} * grid.depth;
  for (std::int64_t tile = blockIdx.y; tile < g.tiles; tile += gridDim.y) {
    const std::int64_t column = tile * grid.width + grid.column(thread);
    const bool in_range = column < columns;
    for (std::int64_t k = 0; k < g.groups; ++k) device_store(mine + k * private_sum_threads, rule::none());
    const T* const updates = static_cast<const T*>(groups::updates(c).data) +
                             (in_range ? groups::element(c, g.columns.first_element(column)).offset : std::int64_t{0});
    std::int64_t number = in_range ? std::int64_t{blockIdx.x} * grid.depth + grid.row(thread) : count;
    for (; number < count; number += together * step) {
      // So many loads are under way at once.
      std::int64_t group[together];
      T update[together];
      groups_of<groups, device_access>(c, number, step, count, group);
      for (int k = 0; k < together; ++k)
        update[k] = group[k] >= 0 ? device_load(updates + groups::offset(c, number + k * step)) : T(0);
      for (int k = 0; k < together; ++k) {
        if (group[k] < 0) continue;
        own_sum s = device_load(mine + group[k] * private_sum_threads);
        rule::add(s, update[k]);
        device_store(mine + group[k] * private_sum_threads, s);
      }
    }
    for (std::int64_t k = 0; k < g.groups; ++k) {
      const own_sum s = fold_block<rule>(device_load(mine + k * private_sum_threads), exchange, grid, thread);
      if (in_range && grid.row(thread) == 0) device_store(sums + (blockIdx.x * g.groups + k) * columns + column, s);
      __syncthreads();
    }
  }
}

/// The elements of the result: what they begin with, and the blocks' sums.
template <class Op, class T, class Result>
__global__ void __launch_bounds__(block_threads)
    sums_of_blocks_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ private_sums g,
                          const state_of_group<Op, T>* sums, Result* out) {
  using groups = number_groups<Op, T>;
  make_sums<Op, T>(c, g.of_element, out, [&](state_of_group<Op, T>& s, std::int64_t k, int row) {
    const std::int64_t at = groups::element(c, k).group * g.columns.count() + g.columns.of(k);
    for (std::int64_t b = row; b < g.blocks; b += g.of_element.depth)
      groups::rule::merge(s, device_load(sums + b * c.size + at));
  });
}

/// Bytes of device memory for the blocks' sums.
template <class Op, class T>
std::size_t private_sums_workspace(const private_sums& g) {
  return static_cast<std::size_t>(g.blocks * g.groups * g.columns.count()) * sizeof(state_of_group<Op, T>);
}

template <class Op, class T, class Result>
void launch_private_sums(cudaStream_t stream, const char* what, const indexed_call& c, const private_sums& g,
                         void* room, Result* out) {
  constexpr std::int64_t most_tiles = 65535;  // that a grid has along its second axis
  auto* const sums = static_cast<state_of_group<Op, T>*>(room);
  const dim3 blocks(static_cast<unsigned>(g.blocks), static_cast<unsigned>(least(g.tiles, most_tiles)));
  const auto shared = static_cast<std::size_t>(g.groups * private_sum_threads) * sizeof(state_of_group<Op, T>);
  launch(stream, what, &private_sums_kernel<Op, T>, {blocks, shared, private_sum_threads}, c, g, sums);
  launch(stream, what, &sums_of_blocks_kernel<Op, T, Result>, {grid_blocks(divide_up(c.size, g.of_element.width))}, c,
         g, sums, out);
}

}  // namespace onto::detail

#endif  // ONTO_CUDA
