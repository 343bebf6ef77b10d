// SPDX-License-Identifier: BSL-1.0
// Reductions on the GPU, with the elementwise program that feeds them in the same kernel. Partial results are folded in
// an order that depends on the shape and on the alignment of operands alone, so a result is the same each time and on
// each GPU.
#pragma once

#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/reduce_operands.hpp>

namespace onto::detail {

/// Shared memory for the states of a block, whatever its grid.
inline constexpr int most_block_states = block_threads;

template <class Program, fold F, int Lanes>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ reduce_operands<Program> operands) {
  using operation = program_accumulator<Program, F>;
  using words = state_words<typename operation::state>;
  auto* const exchange = shared_array<words, most_block_states>();
  const fold_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread), row = grid.row(thread);
  const int piece = static_cast<int>(blockIdx.y);
  for (std::int64_t block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const std::int64_t output = block * grid.width + column;
    const bool in_range = output < grid.outputs;
    auto state = operation::empty();
    if (in_range) state = fold_part<Program, F, Lanes>(operands, output, piece, row);
    state = fold_block<operation>(state, exchange, grid, thread);
    if (row == 0 && in_range) {
      if (grid.pieces > 1)
        device_store(static_cast<typename operation::state*>(operands.partials) + piece * grid.outputs + output, state);
      else
        device_store(static_cast<typename operation::result*>(operands.out) + output,
                     operation::finish(state, grid.count()));
    }
    __syncthreads();
  }
}

template <class Accumulator>
__global__ void __launch_bounds__(block_threads)
    combine_kernel(const __grid_constant__ combine_operands<Accumulator> operands) {
  auto* const exchange = shared_array<state_words<typename Accumulator::state>, most_block_states>();
  const thread_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread), row = grid.row(thread);
  for (std::int64_t block = blockIdx.x; block < operands.blocks; block += gridDim.x) {
    const std::int64_t output = block * grid.width + column;
    const bool in_range = output < operands.outputs;
    auto state = Accumulator::empty();
    if (in_range) state = combine_part(operands, output, row);
    state = fold_block<Accumulator>(state, exchange, grid, thread);
    if (row == 0 && in_range) device_store(operands.out + output, Accumulator::finish(state, operands.count));
    __syncthreads();
  }
}

/// Folds the values of `Program` over the axes that the call's operation names. Where there is nothing to fold the
/// result is that of no elements: 0 for a sum. *Throws* `internal_error` where a kernel cannot be launched.
template <class Program, fold F>
void cuda_reduce(gpu_context& context, const kernel_call& call) {
  using operation = program_accumulator<Program, F>;
  const dimension_set kept = all_dimensions(call.space.rank) & ~folded_axes(*call.op, call.space.rank);
  if (size_of_dimensions(call.space, kept) == 0) return;
  const reduce_operands<Program> operands = reduce_operands_of<Program>(call);
  static_assert(sizeof operands <= max_parameter_bytes);
  const fold_grid& grid = operands.grid;
  if (grid.pieces > 1 && !operands.partials)
    throw internal_error("[onto.cuda] a reduction was launched without its workspace");
  auto* kernel = &reduce_kernel<Program, F, 1>;
  if constexpr (reduce_lanes < Program >> 1)
    if (operands.packed) kernel = &reduce_kernel<Program, F, reduce_lanes<Program>>;
  const dim3 blocks(grid_blocks(grid.blocks), static_cast<unsigned>(grid.pieces));
  launch(context.stream, "launching a reduction kernel", kernel, {blocks, 0, static_cast<unsigned>(grid.threads())},
         operands);
  if (grid.pieces == 1) return;
  const combine_operands<operation> combine = combine_operands_of<operation>(grid, operands.partials, operands.out);
  launch(context.stream, "launching a reduction kernel", &combine_kernel<operation>,
         {grid_blocks(combine.blocks), 0, static_cast<unsigned>(combine.grid.threads())}, combine);
}

}  // namespace onto::detail
