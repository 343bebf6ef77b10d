// SPDX-License-Identifier: BSL-1.0
// Copies between strided tensors on one GPU: views made contiguous, and the parts of a concatenation.
#pragma once

#include <onto/backend/cuda/copy_operands.hpp>
#include <onto/backend/cuda/map.hpp>

namespace onto::detail {

/// Copies words of a size one by one, or turned in tiles.
template <class Word>
void copy_turned(gpu_context& context, const char* what, const copy_parameters& copy) {
  const turn_plan<copied_words<Word>> plan = turn_map_of(map_of<Word>(copy));
  launch(context.stream, what, &turn_map_kernel<copied_words<Word>>,
         {grid_blocks(plan.blocks), static_cast<std::size_t>(plan.shared)}, plan.map);
}

/// Copies the call's input to its output, each with its own strides.
/// *Throws* `internal_error` where the copy cannot be issued.
inline void cuda_copy(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  const copy_parameters all = copy_parameters_of(call);
  if (is_one_run(all.space)) {
    const auto bytes = static_cast<std::size_t>(all.space.size * all.bytes);
    cuda_check(cudaMemcpyAsync(all.to, all.from, bytes, cudaMemcpyDeviceToDevice, context.stream), "cudaMemcpyAsync");
    return;
  }
  const char* const what = "launching a copy kernel";
  const copy_parameters wide = in_wide_words(all);
  for_each_short(space_part<2>{wide.space}, [&](const space_part<2>& part) {
    const copy_parameters copy{advanced(wide.from, part.start[0], wide.bytes),
                               const_cast<void*>(advanced(wide.to, part.start[1], wide.bytes)), part.space, wide.bytes};
    if (copy.bytes == 8)
      launch_map(context, what, map_of<std::uint64_t>(copy));
    else if (copy.bytes == 4)
      copy_turned<std::uint32_t>(context, what, copy);
    else if (copy.bytes == 2)
      copy_turned<std::uint16_t>(context, what, copy);
    else
      copy_turned<std::uint8_t>(context, what, copy);
  });
}

}  // namespace onto::detail
