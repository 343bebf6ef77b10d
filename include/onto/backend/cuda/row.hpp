// SPDX-License-Identifier: BSL-1.0
// Row kernels on the GPU: the threads of a row go through all stages together, and what stages keep is in shared
// memory.
#pragma once

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/row_operands.hpp>
#include <onto/expr/named.hpp>

namespace onto::detail {

/// The value of the thread `delta` further in groups of `width` threads of a warp.
template <bool Down, class T>
__device__ ONTO_INLINE T shuffled(const T& value, int delta, int width) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned word[words] = {};
  std::memcpy(word, &value, sizeof(T));
  for (int k = 0; k < words; ++k)
    word[k] = Down ? __shfl_down_sync(0xffffffffu, word[k], static_cast<unsigned>(delta), width)
                   : __shfl_sync(0xffffffffu, word[k], delta, width);
  T result;
  std::memcpy(&result, word, sizeof(T));
  return result;
}

/// Folds the states of the threads of each row; all of them get the result. All threads of the block call it, in turns
/// with one and the other half of `slots`, so that waiting once is enough.
template <class Accumulation, class State>
__device__ ONTO_INLINE State fold_row(State state, State* slots, const fold_grid& grid, int thread) {
  constexpr int warp = 32;
  const int width = grid.depth < warp ? grid.depth : warp;
  for (int half = width / 2; half > 0; half /= 2) {
    const State other = shuffled<true>(state, half, width);
    Accumulation::merge(state, other);  // of use in the lower half of a group
  }
  if (grid.depth <= warp) return shuffled<false>(state, 0, width);
  if (thread % warp == 0) device_store(slots + thread / warp, state);
  __syncthreads();
  const int warps = grid.depth / warp, first = grid.column(thread) * warps;
  State all = device_load(slots + first);
  for (int k = 1; k < warps; ++k) Accumulation::merge(all, device_load(slots + first + k));
  return all;
}

/// Shared memory of a row kernel beside what is kept: two sets of states, one for each warp.
inline constexpr int fold_slot_bytes = 16;
struct alignas(fold_slot_bytes) fold_slot {
  char bytes[fold_slot_bytes];
};
inline constexpr int fold_slots = block_threads / 32;

template <class RowProgram, class Stage, int Number, int Lanes>
__device__ ONTO_INLINE void run_stage(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                      char* slots, int& turn, int thread, bool in_range) {
  const int place = operands.grid.row(thread);
  if constexpr (stage_of<Stage>::folds) {
    using accumulation_type = typename stage_of<Stage>::accumulation_type;
    using state = typename accumulation_type::state;
    static_assert(sizeof(state) <= fold_slot_bytes);
    state part = accumulation_type::empty();
    if (in_range) part = stage_part<RowProgram, Stage, Number, Lanes>(operands, t, place);
    state* const mine = reinterpret_cast<state*>(slots + turn * fold_slots * fold_slot_bytes);
    turn ^= 1;
    const state all = fold_row<accumulation_type>(part, mine, operands.grid, thread);
    stage_end<RowProgram, Stage, Number>(operands, t, all, place, in_range);
  } else if constexpr (stage_of<Stage>::gives) {
    if (in_range) stage_value<RowProgram, Stage, Number>(t);
  } else {
    if (in_range) stage_part<RowProgram, Stage, Number, Lanes>(operands, t, place);
  }
}

template <class RowProgram, class Numbers>
struct row_stages_of;
template <int Inputs, int Scalars, class... Stages, int... Number>
struct row_stages_of<row_program<Inputs, Scalars, Stages...>, std::integer_sequence<int, Number...>> {
  using row_program_type = row_program<Inputs, Scalars, Stages...>;
  template <int Lanes>
  __device__ ONTO_INLINE static void run(const row_operands<row_program_type>& operands,
                                         row_thread_of<row_program_type>& t, char* slots, int& turn, int thread,
                                         bool in_range) {
    (run_stage<row_program_type, Stages, Number, Lanes>(operands, t, slots, turn, thread, in_range), ...);
  }
};

template <class RowProgram, int Lanes>
__global__ void __launch_bounds__(block_threads)
    row_kernel_on_gpu(const __grid_constant__ row_operands<RowProgram> operands) {
  using facts = row_facts<RowProgram>;
  using stages = row_stages_of<RowProgram, std::make_integer_sequence<int, facts::stages>>;
  auto* const slots = reinterpret_cast<char*>(shared_array<fold_slot, 2 * fold_slots>());
  const fold_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread);
  char* const block_kept = operands.kept
                               ? static_cast<char*>(operands.kept) + blockIdx.x * operands.kept_bytes * grid.width
                               : dynamic_shared();
  // What a thread keeps it reads itself: no one waits for it.
  char* const kept = block_kept + column * operands.kept_bytes;
  int turn = 0;
  for (std::int64_t block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const std::int64_t row = block * grid.width + column;
    const bool in_range = row < grid.outputs;
    row_thread_of<RowProgram> t(operands);
    start_row(operands, t, in_range ? row : 0, kept);
    stages::template run<Lanes>(operands, t, slots, turn, thread, in_range);
  }
}

/// Writes the folds of rows without elements.
template <class Result, class Accumulation>
__global__ void __launch_bounds__(block_threads) no_elements_kernel(Result* out, std::int64_t rows) {
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < rows; k += step)
    device_store(out + k, Accumulation::finish(Accumulation::empty(), 0));
}

template <int Inputs, int Scalars, class... Stages>
void fold_nothing_on_gpu(gpu_context& context, const kernel_call& call, row_program<Inputs, Scalars, Stages...>) {
  using last = decltype((type_box<Stages>{}, ...));
  using facts = stage_of<typename last::type>;
  if constexpr (facts::folds) {
    using accumulation_type = typename facts::accumulation_type;
    const std::int64_t rows = size_of_dimensions(call.space, all_dimensions(call.space.rank - 1));
    if (rows == 0) return;
    auto* const out = static_cast<typename accumulation_type::result*>(call.out.data);
    launch(context.stream, "launching a row kernel",
           &no_elements_kernel<typename accumulation_type::result, accumulation_type>,
           {grid_blocks(divide_up(rows, block_threads))}, out, rows);
  }
}

/// Runs a row program on the context's stream. Operands may have any strides.
/// *Throws* `internal_error` where the kernel cannot be launched.
template <class RowProgram>
void cuda_row(gpu_context& context, const kernel_call& call) {
  using facts = row_facts<RowProgram>;
  if (call.space.size() == 0) return fold_nothing_on_gpu(context, call, RowProgram{});
  row_operands<RowProgram> operands = row_operands_of<RowProgram>(call);
  static_assert(sizeof operands <= max_parameter_bytes);
  std::int64_t blocks = operands.grid.blocks;
  std::size_t shared = 0;
  if (operands.is_shared()) {
    shared = static_cast<std::size_t>(operands.block_bytes());
  } else {
    if (!call.workspace) throw internal_error("[onto.cuda] a row kernel was launched without its workspace");
    operands.kept = call.workspace;
    if (blocks > workspace_blocks) blocks = workspace_blocks;
  }
  launch(context.stream, "launching a row kernel",
         has_aligned_rows(operands) ? &row_kernel_on_gpu<RowProgram, facts::lanes> : &row_kernel_on_gpu<RowProgram, 1>,
         {grid_blocks(blocks), shared}, operands);
}

}  // namespace onto::detail
