// SPDX-License-Identifier: BSL-1.0
// Elementwise programs on the GPU. Two kernels for most programs: one for rows of neighbours, one for any strides.
#pragma once

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/map_operands.hpp>
#include <onto/backend/cuda/turn.hpp>
#include <onto/backend/cuda/walk.hpp>

namespace onto::detail {

template <class Program>
__global__ void __launch_bounds__(block_threads) walk_map_kernel(const __grid_constant__ walk_map<Program> map) {
  walk(map, blockIdx.x * block_threads + threadIdx.x);
}

template <class Program, int... Slot>
__device__ ONTO_INLINE void turn_block(const turn_map<Program>& map, std::integer_sequence<int, Slot...> slots) {
  constexpr int lanes = turn_lanes<Program>;
  turn_thread<map_operands<Program>::operands, lanes> t;
  place_turn(map.space, blockIdx.x, static_cast<int>(threadIdx.x), t);
  typename map_loads<Program, lanes, decltype(slots)>::type in;
  (load_turn<Program, Slot>(map, t, in), ...);
  if (map.space.tiled) {
    char* shared = dynamic_shared();
    (turn<Program, Slot, true>(map, t, in, shared), ...);
    __syncthreads();
    (turn<Program, Slot, false>(map, t, in, shared), ...);
  }
  finish_turn(map, t, in, result_slots<Program>{}, std::make_integer_sequence<int, lanes>{});
}

template <class Program>
__global__ void __launch_bounds__(block_threads) turn_map_kernel(const __grid_constant__ turn_map<Program> map) {
  turn_block(map, input_slots<Program>{});
}

template <class Program>
__global__ void __launch_bounds__(block_threads) strided_map_kernel(const __grid_constant__ strided_map<Program> map) {
  const std::uint32_t index = blockIdx.x * block_threads + threadIdx.x;
  if (index < map.size) map_strided(map, index);
}

/// Goes through a map with the kernel for rows of neighbours, or with that for any strides.
template <class Program>
void launch_map(gpu_context& context, const char* what, const whole_map<Program>& map) {
  if (has_aligned_packs(map)) {
    const walk_map<Program> walked = walk_map_of(map);
    launch(context.stream, what, &walk_map_kernel<Program>,
           {grid_blocks(divide_up(threads_of(walked.space), block_threads))}, walked);
  } else {
    const turn_plan<Program> plan = turn_map_of(map);
    launch(context.stream, what, &turn_map_kernel<Program>,
           {grid_blocks(plan.blocks), static_cast<std::size_t>(plan.shared)}, plan.map);
  }
}

/// Evaluates `Program` at every index of the call's space, on the context's stream. Operands may have any strides.
/// `Lanes`: whether there may be kernels that take several elements a thread; else the one that takes one does it all.
/// *Throws* `internal_error` where a kernel cannot be launched.
template <class Program, bool Lanes = true>
void cuda_map(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  const char* const what = "launching an elementwise kernel";
  const whole_map<Program> all = whole_map_of<Program>(call);
  for_each_short(all.part, [&](const auto& part) {
    const whole_map<Program> map{operands_of_part<Program>(all.operands, part.start), {part.space}};
    if constexpr (Lanes && worth_lanes<Program>) {
      launch_map(context, what, map);
    } else {
      const strided_map<Program> strided = strided_map_of(map);
      static_assert(sizeof strided <= max_parameter_bytes);
      launch(context.stream, what, &strided_map_kernel<Program>,
             {grid_blocks(divide_up(map.part.space.size, block_threads))}, strided);
    }
  });
}

}  // namespace onto::detail
