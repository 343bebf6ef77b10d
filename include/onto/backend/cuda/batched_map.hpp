// SPDX-License-Identifier: BSL-1.0
// A batch of maps of one program on the GPU, each over a space of its own: one launch, whose blocks find in a table
// which map they are of. An optimizer's step over all parameters is such a batch.
#pragma once

#include <onto/backend/cuda/map.hpp>

#include <cstdint>
#include <utility>

namespace onto::detail {

/// Neighbours that a thread of a batch takes.
template <class Program>
inline constexpr int batched_lanes = worth_lanes<Program> ? map_lanes<Program> : 1;

/// One map of a batch.
template <class Program>
struct batched_map : map_operands<Program> {
  bool advances[map_operands<Program>::operands];  // false: one element for all the neighbours
  std::int32_t end;                                // of its elements
  std::uint32_t first_block;                       // of the launch that is its own
};

/// The table of a launch, a kernel's parameter.
template <class Program, int Most>
struct map_batch {
  batched_map<Program> maps[Most];
  int count;
};

/// As many maps as fit in a table, at most `Most`.
template <class Program, int Most>
inline constexpr int maps_in_batch = [] {
  constexpr int fit = static_cast<int>((max_parameter_bytes - 16) / sizeof(batched_map<Program>));
  return Most < fit ? Most : fit;
}();

/// The map of a block: the last that begins at it or before.
template <class Program, int Most>
ONTO_HD ONTO_INLINE const batched_map<Program>& map_of_block(const map_batch<Program, Most>& batch,
                                                             std::uint32_t block) {
  int first = 0;
  for (int n = batch.count; n > 1;) {
    const int half = n / 2;
    if (batch.maps[first + half].first_block <= block) first += half;
    n -= half;
  }
  return batch.maps[first];
}

/// What one thread computes.
template <class Program, int... Slot>
ONTO_HD ONTO_INLINE void run_batched(const batched_map<Program>& map, std::uint32_t thread,
                                     std::integer_sequence<int, Slot...>) {
  constexpr int lanes = batched_lanes<Program>;
  const auto first = static_cast<std::int64_t>(thread) * lanes;
  if (first >= map.end) return;
  const auto at = static_cast<std::int32_t>(first), left = map.end - at;
  typename input_packs<Program, lanes>::type in;
  (load_coarsened<Program, Slot>(map, in, true, map.advances[Slot] ? at : 0, left), ...);
  store_coarsened<Program>(map, in, at, left, result_slots<Program>{}, std::make_integer_sequence<int, lanes>{});
}

template <class Program, int Most>
__global__ void __launch_bounds__(block_threads)
    batched_map_kernel(const __grid_constant__ map_batch<Program, Most> batch) {
  const batched_map<Program>& map = map_of_block(batch, blockIdx.x);
  run_batched(map, (blockIdx.x - map.first_block) * block_threads + threadIdx.x, input_slots<Program>{});
}

/// Whether a map can be part of a batch: its elements lie in one row, in packs of `lanes`.
ONTO_COLD inline bool is_row_of_packs(const map_layout& m, int lanes) {
  return is_short(m) && (m.rank == 0 || (m.rank == 1 && has_aligned_packs(m, lanes)));
}

/// Evaluates `Program` for a batch of calls. What does not lie in a row is a launch of its own.
/// *Throws* `internal_error` where a kernel cannot be launched.
template <class Program, int Most>
ONTO_COLD void cuda_map_batch(gpu_context& context, const kernel_call& calls) {
  using facts = program_operands<Program>;
  constexpr int most = maps_in_batch<Program, Most>, lanes = batched_lanes<Program>;
  map_batch<Program, most> batch;
  static_assert(sizeof batch <= max_parameter_bytes);
  batch.count = 0;
  std::uint32_t blocks = 0;
  const auto launch_them = [&] {
    if (batch.count == 0) return;
    launch(context.stream, "launching a batch of elementwise kernels", &batched_map_kernel<Program, most>, {blocks},
           batch);
    batch.count = 0;
    blocks = 0;
  };
  for (const kernel_call* c = &calls; c; c = c->next) {
    if (c->space.size() == 0) continue;
    map_layout all;
    if (!c->rolls) set_layout(all, *c, facts::inputs, facts::results, map_bytes<Program>::value);
    if (c->rolls || !is_row_of_packs(all, lanes)) {
      cuda_map<Program, false>(context, *c);
      continue;
    }
    batched_map<Program>& map = batch.maps[batch.count++];
    static_cast<map_operands<Program>&>(map) = operands_of<Program>(all, c->scalars);
    for (int k = 0; k < all.operands; ++k) map.advances[k] = all.rank > 0 && all.stride[k][0] != 0;
    map.end = static_cast<std::int32_t>(all.size);
    map.first_block = blocks;
    blocks += static_cast<std::uint32_t>(divide_up(divide_up(all.size, lanes), block_threads));
    if (batch.count == most) launch_them();
  }
  launch_them();
}

}  // namespace onto::detail
