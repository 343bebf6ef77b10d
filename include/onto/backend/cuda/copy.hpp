// SPDX-License-Identifier: BSL-1.0
// Copies between strided tensors on one GPU: views made contiguous, and the parts of a concatenation.
#pragma once

#include <onto/backend/cuda/copy_operands.hpp>
#include <onto/backend/cuda/map.hpp>

namespace onto::detail {

/// Copies a part in words of its size; rows that are aligned so, in two words of 8 bytes at a time.
ONTO_COLD inline void launch_copy(void* job, const map_layout& part) {
  const map_job& j = *static_cast<const map_job*>(job);
  if (part.bytes[0] == 8)
    launch_map<copied_words<std::uint64_t>, true>(job, part);
  else if (part.bytes[0] == 4)
    launch_tiled_map<copied_words<std::uint32_t>>(j, part);
  else if (part.bytes[0] == 2)
    launch_tiled_map<copied_words<std::uint16_t>>(j, part);
  else
    launch_tiled_map<copied_words<std::uint8_t>>(j, part);
}

/// Copies the call's input to its output, each with its own strides.
/// *Throws* `internal_error` where the copy cannot be issued.
ONTO_COLD inline void cuda_copy(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  map_layout copy;
  set_copy(copy, call);
  if (is_one_run(copy)) {
    const auto bytes = static_cast<std::size_t>(copy.size * copy.bytes[0]);
    cuda_check(cudaMemcpyAsync(call.out.data, call.in[0].data, bytes, cudaMemcpyDeviceToDevice, context.stream),
               "cudaMemcpyAsync");
    return;
  }
  widen_words(copy);
  map_job job{context.stream, "launching a copy kernel", nullptr};
  for_each_short(copy, &launch_copy, &job);
}

}  // namespace onto::detail
