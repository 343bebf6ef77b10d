// SPDX-License-Identifier: BSL-1.0
// Elementwise programs on the GPU. Two kernels for most programs: one for rows of neighbours, one for any strides.
#pragma once

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/map_boxes.hpp>
#include <onto/backend/cuda/map_plan.hpp>

namespace onto::detail {

template <class Program>
__global__ void __launch_bounds__(block_threads)
    coarsened_map_kernel(const __grid_constant__ coarsened_map<Program> map) {
  run_coarsened(map, blockIdx.x * block_threads + threadIdx.x);
}

template <class Program, int... Slot>
__device__ ONTO_INLINE void tiled_map_block(const tiled_map<Program>& map, std::integer_sequence<int, Slot...>) {
  constexpr int lanes = tiled_lanes<Program>;
  tiled_thread<map_operands<Program>::operands, lanes> t;
  place_tiled_thread(map.space, blockIdx.x, static_cast<int>(threadIdx.x), t);
  typename input_packs<Program, lanes>::type in;
  (load_tiled<Program, Slot>(map, t, in), ...);
  if (map.space.grid.tiled) {
    [[maybe_unused]] char* shared = dynamic_shared();
    (transpose_tile<Program, Slot, true>(map, t, in, shared), ...);
    __syncthreads();
    (transpose_tile<Program, Slot, false>(map, t, in, shared), ...);
  }
  store_tiled(map, t, in, result_slots<Program>{}, std::make_integer_sequence<int, lanes>{});
}

template <class Program>
__global__ void __launch_bounds__(block_threads) tiled_map_kernel(const __grid_constant__ tiled_map<Program> map) {
  tiled_map_block(map, input_slots<Program>{});
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
ONTO_COLD void launch_coarsened_map(const map_job& job, const map_layout& part) {
  coarsened_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(part, job.scalars);
  const std::int64_t threads =
      plan_coarsened_map(part, map_lanes<Program>, coarsened_ahead<Program>, coarsened_map_ref(map));
  launch(job.stream, job.what, &coarsened_map_kernel<Program>, blocks_for(threads), map);
}

template <class Program>
ONTO_COLD void launch_tiled_map(const map_job& job, const map_layout& part) {
  tiled_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(part, job.scalars);
  const tiled_launch plan = plan_tiled_map(part, tiled_lanes<Program> * block_threads, tiled_map_ref(map));
  launch(job.stream, job.what, &tiled_map_kernel<Program>,
         {grid_blocks(plan.blocks), static_cast<std::size_t>(plan.shared)}, map);
}

template <class Program>
ONTO_COLD void launch_strided(const map_job& job, const map_layout& part) {
  strided_map<Program> map;
  static_cast<map_operands<Program>&>(map) = operands_of<Program>(part, job.scalars);
  static_assert(sizeof map <= max_parameter_bytes);
  map.size = static_cast<std::uint32_t>(part.size);
  short_space_ref(map.space).append(part, all_dimensions(part.rank));
  launch(job.stream, job.what, &strided_map_kernel<Program>, blocks_for(part.size), map);
}

/// Goes through a part of a map with the kernel for rows of neighbours, or with that for any strides. `Lanes`: whether
/// there may be kernels that take several elements a thread; else the one that takes one does it all.
template <class Program, bool Lanes>
ONTO_COLD void launch_map(void* job, const map_layout& part) {
  const map_job& j = *static_cast<const map_job*>(job);
  if constexpr (!Lanes || !worth_lanes<Program>)
    launch_strided<Program>(j, part);
  else if (has_aligned_packs(part, map_lanes<Program>))
    launch_coarsened_map<Program>(j, part);
  else
    launch_tiled_map<Program>(j, part);
}

/// Evaluates `Program` at every index of the call's space, on the context's stream. Operands may have any strides, and
/// may be rolled.
/// *Throws* `internal_error` where a kernel cannot be launched.
template <class Program, bool Lanes = true>
ONTO_COLD void cuda_map(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  using facts = program_operands<Program>;
  map_job job{context.stream, "launching an elementwise kernel", call.scalars};
  for_each_box(call, facts::inputs, facts::results, map_bytes<Program>::value, &launch_map<Program, Lanes>, &job);
}

}  // namespace onto::detail
