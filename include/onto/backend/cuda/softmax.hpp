// SPDX-License-Identifier: BSL-1.0
// Softmax and its logarithm over one axis on the GPU: one pass for the maximum and the sum, one to write.
#pragma once

#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/softmax_operands.hpp>

namespace onto::detail {

template <class T>
__global__ void __launch_bounds__(block_threads) softmax_kernel(const __grid_constant__ softmax_operands<T> operands) {
  auto* const slots = shared_array<typename softmax_fold<T>::state, block_threads>();
  const fold_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread), row = grid.row(thread);
  for (std::int64_t block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const std::int64_t output = block * grid.width + column;
    const bool in_range = output < grid.outputs;
    const row_start start = start_of_row(operands, in_range ? output : 0);
    device_store(slots + row * grid.width + column,
                 in_range ? softmax_part(operands, start, row) : softmax_fold<T>::empty());
    fold_rows<softmax_fold<T>>(slots, grid, row, column);
    if (in_range) softmax_write(operands, start, row, device_load(slots + column));
    __syncthreads();
  }
}

/// Softmax, or log softmax, of the call's input over the axis that its operation names.
/// *Throws* `internal_error` where the kernel cannot be launched.
template <class T>
void cuda_softmax(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  const softmax_operands<T> operands = softmax_operands_of<T>(call);
  launch(context.stream, "launching a softmax kernel", &softmax_kernel<T>, {grid_blocks(operands.grid.blocks)},
         operands);
}

}  // namespace onto::detail
