// SPDX-License-Identifier: BSL-1.0
// Elementwise programs on the GPU. Two kernels for most programs: one for contiguous operands, one for any strides.
#pragma once

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/operands.hpp>

namespace onto::detail {

template <class Program>
__global__ void __launch_bounds__(block_threads)
    flat_map_kernel(const __grid_constant__ flat_operands<Program> operands) {
  constexpr std::int64_t lanes = flat_operands<Program>::lanes;
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads * lanes;
  std::int64_t first = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) * lanes;
  for (; first < operands.size; first += step) map_flat(operands, first);
}

template <class Program>
__global__ void __launch_bounds__(block_threads)
    strided_map_kernel(const __grid_constant__ strided_operands<Program> operands) {
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  std::int64_t index = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  for (; index < operands.space.size; index += step) map_strided(operands, index);
}

/// Evaluates `Program` at every index of the call's space, on the context's stream. Operands may have any strides.
/// `Lanes`: whether there may be a kernel of its own for contiguous operands; else the one for any strides takes them.
/// *Throws* `internal_error` where the kernel cannot be launched.
template <class Program, bool Lanes = true>
void cuda_map(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  const strided_operands<Program> strided = strided_operands_of<Program>(call);
  static_assert(sizeof strided <= max_parameter_bytes);
  const std::int64_t size = strided.space.size;
  bool done = false;
  if constexpr (Lanes && worth_lanes<Program>) {
    flat_operands<Program> flat{};
    if (flatten(strided, flat)) {
      const unsigned blocks = grid_blocks(divide_up(size, std::int64_t{block_threads} * flat_operands<Program>::lanes));
      launch(context.stream, "launching an elementwise kernel", &flat_map_kernel<Program>, {blocks}, flat);
      done = true;
    }
  }
  if (!done)
    launch(context.stream, "launching an elementwise kernel", &strided_map_kernel<Program>,
           {grid_blocks(divide_up(size, block_threads))}, strided);
}

}  // namespace onto::detail
