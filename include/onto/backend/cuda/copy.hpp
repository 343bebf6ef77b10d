// SPDX-License-Identifier: BSL-1.0
// Copies between strided tensors on one GPU: views made contiguous, and the parts of a concatenation.
#pragma once

#include <onto/backend/cuda/copy_operands.hpp>
#include <onto/backend/cuda/launch.hpp>

namespace onto::detail {

// A template, so that it may be defined in several translation units.
template <class Copy>
__global__ void __launch_bounds__(block_threads) copy_kernel(const __grid_constant__ Copy copy) {
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  std::int64_t index = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  for (; index < copy.space.size; index += step) copy_element(copy, index);
}

/// Copies the call's input to its output, each with its own strides.
/// *Throws* `internal_error` where the copy cannot be issued.
inline void cuda_copy(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  const copy_parameters copy = copy_parameters_of(call);
  if (is_one_run(copy.space)) {
    const auto bytes = static_cast<std::size_t>(copy.space.size * copy.bytes);
    cuda_check(cudaMemcpyAsync(copy.to, copy.from, bytes, cudaMemcpyDeviceToDevice, context.stream), "cudaMemcpyAsync");
    return;
  }
  const unsigned blocks = grid_blocks(divide_up(copy.space.size, block_threads));
  launch(context.stream, "launching a copy kernel", &copy_kernel<copy_parameters>, {blocks}, copy);
}

}  // namespace onto::detail
