// SPDX-License-Identifier: BSL-1.0
// Reductions on the GPU, with the elementwise program that feeds them in the same kernel. Partial results are folded in
// an order that depends on the shape alone, so a result is the same each time and on each GPU.
#pragma once

#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/reduce_operands.hpp>

namespace onto::detail {

template <class Program, fold F, bool Linear>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ reduce_operands<Program> operands) {
  using operation = program_accumulation<Program, F>;
  auto* const slots = shared_array<typename operation::state, block_threads>();
  const fold_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread), row = grid.row(thread);
  const std::int64_t piece = blockIdx.y;
  for (std::int64_t block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const std::int64_t output = block * grid.width + column;
    const bool in_range = output < grid.outputs;
    device_store(slots + row * grid.width + column,
                 in_range ? fold_part<Program, F, Linear>(operands, output, piece, row) : operation::empty());
    fold_rows<operation>(slots, grid, row, column);
    if (row == 0 && in_range) {
      const typename operation::state state = device_load(slots + column);
      if (grid.pieces > 1)
        device_store(static_cast<typename operation::state*>(operands.partials) + output * grid.pieces + piece, state);
      else
        device_store(static_cast<typename operation::result*>(operands.out) + output,
                     operation::finish(state, grid.count));
    }
    __syncthreads();
  }
}

template <class Accumulation>
__global__ void __launch_bounds__(block_threads)
    combine_kernel(const __grid_constant__ combine_operands<Accumulation> operands) {
  auto* const slots = shared_array<typename Accumulation::state, block_threads>();
  const fold_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread), row = grid.row(thread);
  for (std::int64_t block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const std::int64_t output = block * grid.width + column;
    const bool in_range = output < grid.outputs;
    device_store(slots + row * grid.width + column,
                 in_range ? combine_part(operands, output, row) : Accumulation::empty());
    fold_rows<Accumulation>(slots, grid, row, column);
    if (row == 0 && in_range)
      device_store(operands.out + output, Accumulation::finish(device_load(slots + column), operands.count));
    __syncthreads();
  }
}

/// Folds the values of `Program` over the axes that the call's operation names. Where there is nothing to fold the
/// result is that of no elements: 0 for a sum. *Throws* `internal_error` where a kernel cannot be launched.
template <class Program, fold F>
void cuda_reduce(gpu_context& context, const kernel_call& call) {
  using operation = program_accumulation<Program, F>;
  const dimension_set kept = all_dimensions(call.space.rank) & ~folded_dimensions(*call.op, call.space.rank);
  if (size_of_dimensions(call.space, kept) == 0) return;
  const reduce_operands<Program> operands = reduce_operands_of<Program>(call);
  static_assert(sizeof operands <= max_parameter_bytes);
  const fold_grid& grid = operands.grid;
  if (grid.pieces > 1 && !operands.partials)
    throw internal_error("[onto.cuda] a reduction was launched without its workspace");
  const dim3 blocks(grid_blocks(grid.blocks), static_cast<unsigned>(grid.pieces));
  if (operands.folded.rank <= 1)
    launch(context.stream, "launching a reduction kernel", &reduce_kernel<Program, F, true>, {blocks}, operands);
  else
    launch(context.stream, "launching a reduction kernel", &reduce_kernel<Program, F, false>, {blocks}, operands);
  if (grid.pieces == 1) return;
  combine_operands<operation> combine{};
  combine.grid = arrange_fold(grid.outputs, grid.pieces, true, block_threads, false);
  combine.count = grid.count;
  combine.partials = static_cast<const typename operation::state*>(operands.partials);
  combine.out = static_cast<typename operation::result*>(call.out.data);
  launch(context.stream, "launching a reduction kernel", &combine_kernel<operation>, {grid_blocks(combine.grid.blocks)},
         combine);
}

}  // namespace onto::detail
