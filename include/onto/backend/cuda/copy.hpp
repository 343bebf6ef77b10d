// SPDX-License-Identifier: BSL-1.0
// Copies between strided tensors on one GPU: views made contiguous, and the parts of a concatenation.
#pragma once

#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/copy_operands.hpp>

#include <cuda_runtime.h>

namespace onto::detail {

template <class Word>
__global__ void __launch_bounds__(block_threads) copy_kernel(const __grid_constant__ copy_parameters copy) {
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  std::int64_t index = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  for (; index < copy.space.size; index += step) copy_element<Word>(copy, index);
}

/// Elements are moved as words of their size: float and int32 share a kernel.
template <int Bytes>
struct word_of;
template <>
struct word_of<1> {
  using type = std::uint8_t;
};
template <>
struct word_of<4> {
  using type = std::uint32_t;
};
template <>
struct word_of<8> {
  using type = std::uint64_t;
};

/// Copies the call's input to its output, each with its own strides.
template <class T>
void cuda_copy(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  const copy_parameters copy = copy_parameters_of(call);
  if (is_one_run(copy.space)) {
    cuda_check(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.space.size) * sizeof(T),
                               cudaMemcpyDeviceToDevice, context.stream),
               "cudaMemcpyAsync");
    return;
  }
  using word = typename word_of<static_cast<int>(sizeof(T))>::type;
  copy_kernel<word><<<grid_blocks(divide_up(copy.space.size, block_threads)), block_threads, 0, context.stream>>>(copy);
  cuda_check(cudaGetLastError(), "launching a copy kernel");
}

}  // namespace onto::detail
