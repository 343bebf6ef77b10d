// SPDX-License-Identifier: BSL-1.0
// Host memory of a program that GPUs copy from and to themselves, as long as it is bound.
#pragma once

#include <onto/session/bound_program.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Pins what a program has in host memory between its steps from `first` to before `end`, if it is worth it and copies
/// go between there and a GPU, and it is not pinned.
ONTO_COLD inline void pin_host_block(bound_program& b, const device_list& devices, int first, int end) {
  constexpr std::int64_t worth_pinning = std::int64_t{1} << 20;
  for (int k = first; k < end && !b.pinning; ++k) {
    const bound_step& s = b.steps[k];
    if (s.elsewhere || s.is_message || s.step.kind != step_kind::transfer) continue;
    const bool out = devices[s.device].is_host();
    if (!out && !devices[s.from_device].is_host()) continue;
    const int v = out ? s.step.value : s.step.source;
    if (v < 0 || b.values[v].fetch >= 0) continue;
    const device_block* const block = b.blocks[out ? s.device : s.from_device];
    if (block && block->bytes() >= worth_pinning)
      b.pinning = devices[out ? s.from_device : s.device].pin(block->data(), block->bytes()).release();
    return;
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
