// SPDX-License-Identifier: BSL-1.0
// Elementwise programs on the GPU. Two kernels for most programs: one for rows of neighbours, one for any strides.
#pragma once

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/map_plan.hpp>

namespace onto::detail {

template <class Program>
__global__ void __launch_bounds__(block_threads) walk_map_kernel(const __grid_constant__ walk_map<Program> map) {
  walk(map, blockIdx.x * block_threads + threadIdx.x);
}

template <class Program, int... Slot>
__device__ ONTO_INLINE void turn_block(const turn_map<Program>& map, std::integer_sequence<int, Slot...>) {
  constexpr int lanes = turn_lanes<Program>;
  turn_thread<map_operands<Program>::operands, lanes> t;
  place_turn(map.space, blockIdx.x, static_cast<int>(threadIdx.x), t);
  typename input_packs<Program, lanes>::type in;
  (load_turn<Program, Slot>(map, t, in), ...);
  if (map.space.grid.tiled) {
    [[maybe_unused]] char* shared = dynamic_shared();
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

/// What parts of a map have in common.
struct map_job {
  cudaStream_t stream;
  const char* what;  // in errors
  const std::uint64_t* scalars;
};

template <class Program>
ONTO_COLD void launch_walk(const map_job& job, const map_layout& part) {
  walk_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(part, job.scalars);
  const std::int64_t threads = plan_walk(part, map_lanes<Program>, walk_ahead<Program>, walk_ref(map));
  launch(job.stream, job.what, &walk_map_kernel<Program>, {grid_blocks(divide_up(threads, block_threads))}, map);
}

template <class Program>
ONTO_COLD void launch_turn(const map_job& job, const map_layout& part) {
  turn_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(part, job.scalars);
  const turn_launch plan = plan_turn(part, turn_lanes<Program> * block_threads, turn_ref(map));
  launch(job.stream, job.what, &turn_map_kernel<Program>,
         {grid_blocks(plan.blocks), static_cast<std::size_t>(plan.shared)}, map);
}

template <class Program>
ONTO_COLD void launch_strided(const map_job& job, const map_layout& part) {
  strided_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(part, job.scalars);
  static_assert(sizeof map <= max_parameter_bytes);
  map.size = static_cast<std::uint32_t>(part.size);
  short_space_ref(map.space).append(part, all_dimensions(part.rank));
  launch(job.stream, job.what, &strided_map_kernel<Program>, {grid_blocks(divide_up(part.size, block_threads))}, map);
}

/// Goes through a part of a map with the kernel for rows of neighbours, or with that for any strides. `Lanes`: whether
/// there may be kernels that take several elements a thread; else the one that takes one does it all.
template <class Program, bool Lanes>
ONTO_COLD void launch_map(void* job, const map_layout& part) {
  const map_job& j = *static_cast<const map_job*>(job);
  if constexpr (!Lanes || !worth_lanes<Program>)
    launch_strided<Program>(j, part);
  else if (has_aligned_packs(part, map_lanes<Program>))
    launch_walk<Program>(j, part);
  else
    launch_turn<Program>(j, part);
}

/// Evaluates `Program` at every index of the call's space, on the context's stream. Operands may have any strides.
/// *Throws* `internal_error` where a kernel cannot be launched.
template <class Program, bool Lanes = true>
ONTO_COLD void cuda_map(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  using facts = program_operands<Program>;
  map_layout all;
  set_layout(all, call, facts::inputs, facts::results, map_bytes<Program>::value);
  map_job job{context.stream, "launching an elementwise kernel", call.scalars};
  for_each_short(all, &launch_map<Program, Lanes>, &job);
}

}  // namespace onto::detail
