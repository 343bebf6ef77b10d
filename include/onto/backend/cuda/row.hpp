// SPDX-License-Identifier: BSL-1.0
// Row kernels on the GPU: the threads of a row go through all phases together, with the row in their registers, or in
// shared memory where it is longer or not read in packs. Rows that are too long for that, or too few, are done in
// pieces by many blocks, a launch for each fold of theirs.
#pragma once

#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/row_phase.hpp>
#include <onto/backend/cuda/row_registers.hpp>
#include <onto/expr/named.hpp>

namespace onto::detail {

/// The two sets of states that folds use in turn, so that threads wait once for each.
class fold_turns {
 public:
  __device__ ONTO_INLINE fold_turns(char* memory, const thread_grid& grid)
      : memory_(memory), bytes_(states_of_block(grid) * bytes_of_state) {}
  __device__ ONTO_INLINE char* next() {
    turn_ ^= 1;
    return memory_ + turn_ * bytes_;
  }

 private:
  char* memory_;
  int bytes_;
  int turn_ = 0;
};

/// Goes over whole rows in shared memory.
struct rows_in_shared_memory {
  template <class RowProgram, class Stage, int Number>
  __device__ ONTO_INLINE static auto part(const row_operands<RowProgram>& operands,
                                          const row_thread_of<RowProgram>& t) {
    return phase_part<RowProgram, Stage, Number, false>(operands, t);
  }
};
/// Goes over them in registers.
template <class RowProgram>
struct rows_in_registers {
  row_registers<RowProgram>& held;
  template <class, class Stage, int Number>
  __device__ ONTO_INLINE auto part(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t) const {
    return register_row<RowProgram>::template phase_part<Stage, Number>(operands, t, held);
  }
};

/// A phase of whole rows.
template <class RowProgram, class Stage, int Number, class Rows>
__device__ ONTO_INLINE void run_phase(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                      fold_turns& turns, bool in_range, const Rows& rows) {
  if constexpr (Stage::folds) {
    using accumulator_type = phase_accumulator<Stage>;
    auto state = accumulator_type::empty();
    if (in_range) state = rows.template part<RowProgram, Stage, Number>(operands, t);
    state = fold_block<accumulator_type>(state, turns.next(), operands.grid, t.thread);
    stage_end<RowProgram, Stage, Number>(operands, t, state, in_range && t.place == 0);
  } else if constexpr (Stage::gives) {
    if (in_range) stage_value<RowProgram, Stage, Number>(t);
  } else {
    if (in_range) rows.template part<RowProgram, Stage, Number>(operands, t);
  }
}

/// The number of the partial result of a piece of a row: beside those that are read together with it. All blocks of the
/// row read them, so they lie as close as they can.
template <class RowProgram>
ONTO_HD ONTO_INLINE std::int64_t partial_at(const row_operands<RowProgram>& operands, std::int64_t row,
                                            std::int64_t piece) {
  const row_grid& grid = operands.grid;
  return grid.neighbours_fold ? row * grid.pieces + piece : piece * operands.row_count + row;
}

/// Folds what the pieces of the row have folded.
template <class Accumulator, class RowProgram>
__device__ ONTO_INLINE typename Accumulator::state fold_pieces(const row_operands<RowProgram>& operands,
                                                               const row_thread_of<RowProgram>& t, fold_turns& turns,
                                                               const void* partials, bool in_range) {
  using words = state_words<typename Accumulator::state>;
  auto state = Accumulator::empty();
  const std::int64_t row = t.number - operands.first_row;
  for (int k = t.place; in_range && k < operands.grid.pieces; k += operands.grid.depth)
    Accumulator::merge(state, device_load(static_cast<const words*>(partials) + partial_at(operands, row, k)).state());
  return fold_block<Accumulator>(state, turns.next(), operands.grid, t.thread);
}

/// What a launch does about a phase of rows in pieces. Launch `pass` begins with what the launch before it has folded,
/// and ends with the next fold. `speaks`: whether this thread is the one of its row that writes what all know.
template <class RowProgram, class Stage, int Number>
__device__ ONTO_INLINE void run_phase_of_pieces(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                                fold_turns& turns, int pass, std::int64_t piece, bool in_range) {
  constexpr int mine = folds_before<RowProgram, Number>;
  constexpr int number = given_before<RowProgram, Number>;
  if (pass < mine) return;
  const bool speaks = in_range && t.place == 0 && piece == 0;
  const std::int64_t row = t.number - operands.first_row;
  std::uint64_t* const given = operands.given + row * row_facts<RowProgram>::given + number;
  if constexpr (Stage::folds) {
    using accumulator_type = phase_accumulator<Stage>;
    const std::int64_t bytes = operands.grid.pieces * operands.row_count * partial_bytes;
    char* const partials = static_cast<char*>(operands.partials) + mine % 2 * bytes;
    if (pass == mine) {
      using words = state_words<typename accumulator_type::state>;
      auto state = accumulator_type::empty();
      if (in_range) state = phase_part<RowProgram, Stage, Number, true>(operands, t);
      state = fold_block<accumulator_type>(state, turns.next(), operands.grid, t.thread);
      if (in_range && t.place == 0)
        device_store(reinterpret_cast<words*>(partials) + partial_at(operands, row, piece), words::of(state));
    } else if (pass == mine + 1) {
      const auto state = fold_pieces<accumulator_type>(operands, t, turns, partials, in_range);
      stage_end<RowProgram, Stage, Number>(operands, t, state, speaks);
      if constexpr (Stage::gives)
        if (speaks) device_store(given, t.given[number]);
    } else if constexpr (Stage::gives) {
      if (in_range) t.given[number] = device_load(given);
    }
  } else if constexpr (Stage::gives) {
    if (pass > mine) {
      if (in_range) t.given[number] = device_load(given);
    } else {
      if (in_range) stage_value<RowProgram, Stage, Number>(t);
      if (speaks) device_store(given, t.given[number]);
    }
  } else if constexpr (Stage::stores) {
    if (in_range) phase_part<RowProgram, Stage, Number, true>(operands, t);
  }
}

template <class RowProgram, class Numbers = std::make_integer_sequence<int, row_facts<RowProgram>::phases>>
struct row_phases_of;
template <int Inputs, int Scalars, class... Stages, int... Number>
struct row_phases_of<row_program<Inputs, Scalars, Stages...>, std::integer_sequence<int, Number...>> {
  using row_program_type = row_program<Inputs, Scalars, Stages...>;
  template <class Rows>
  __device__ ONTO_INLINE static void run(const row_operands<row_program_type>& operands,
                                         row_thread_of<row_program_type>& t, fold_turns& turns, bool in_range,
                                         const Rows& rows) {
    (run_phase<row_program_type, Stages, Number>(operands, t, turns, in_range, rows), ...);
  }
  __device__ ONTO_INLINE static void run_pieces(const row_operands<row_program_type>& operands,
                                                row_thread_of<row_program_type>& t, fold_turns& turns, int pass,
                                                std::int64_t piece, bool in_range) {
    (run_phase_of_pieces<row_program_type, Stages, Number>(operands, t, turns, pass, piece, in_range), ...);
  }
};

template <class RowProgram>
__global__ void __launch_bounds__(most_row_threads)
    whole_row_kernel(const __grid_constant__ row_operands<RowProgram> operands) {
  using values_of = row_values_of<RowProgram>;
  char* const memory = dynamic_shared();
  const row_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = grid.column(thread);
  row_thread_of<RowProgram> t = row_thread_at(operands, memory, thread);
  fold_turns turns(memory + operands.states_at, grid);
  if (operands.any_same) {
    start_row(operands, t, 0, 0);
    if (column == 0) values_of::stage_all(operands, t, true);
    __syncthreads();
  }
  // What else a thread has in shared memory it reads itself: no one waits for it.
  for (std::int64_t block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const std::int64_t row = block * grid.width + column;
    const bool in_range = row < operands.row_count;
    start_row(operands, t, in_range ? row : 0, 0);
    if (in_range) values_of::stage_all(operands, t, false);
    row_phases_of<RowProgram>::run(operands, t, turns, in_range, rows_in_shared_memory{});
  }
}

/// Rows that fit in registers. A block is done with its rows soon, so that others read meanwhile.
template <class RowProgram>
__global__ void __launch_bounds__(most_row_threads)
    register_row_kernel(const __grid_constant__ row_operands<RowProgram> operands) {
  const row_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  char* const memory = dynamic_shared();
  row_thread_of<RowProgram> t = row_thread_at(operands, memory, thread);
  fold_turns turns(memory, grid);
  const std::int64_t row = std::int64_t{blockIdx.x} * grid.width + grid.column(thread);
  const bool in_range = row < operands.row_count;
  start_row(operands, t, in_range ? row : 0, 0);
  row_registers<RowProgram> held;
  if (in_range) register_row<RowProgram>::hold(operands, t, held);
  row_phases_of<RowProgram>::run(operands, t, turns, in_range, rows_in_registers<RowProgram>{held});
}

template <class RowProgram>
__global__ void __launch_bounds__(most_row_threads)
    split_row_kernel(const __grid_constant__ row_operands<RowProgram> operands, int pass) {
  char* const memory = dynamic_shared();
  const row_grid& grid = operands.grid;
  const int thread = static_cast<int>(threadIdx.x);
  row_thread_of<RowProgram> t = row_thread_at(operands, memory, thread);
  fold_turns turns(memory + operands.states_at, grid);
  const std::int64_t row = std::int64_t{blockIdx.x} * grid.width + grid.column(thread);
  const bool in_range = row < operands.row_count;
  start_row(operands, t, operands.first_row + (in_range ? row : 0), blockIdx.y);
  row_phases_of<RowProgram>::run_pieces(operands, t, turns, pass, blockIdx.y, in_range);
}

/// Writes the folds of rows without elements.
template <class Accumulator>
__global__ void __launch_bounds__(block_threads)
    no_elements_kernel(typename Accumulator::result* out, std::int64_t rows) {
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < rows; k += step)
    device_store(out + k, Accumulator::finish(Accumulator::empty(), 0));
}

template <class Accumulator>
void fold_nothing_on_gpu(gpu_context& context, const kernel_call& call) {
  const std::int64_t rows = size_of_dimensions(call.space, all_dimensions(call.space.rank - 1));
  if (rows == 0) return;
  launch(context.stream, "launching a row kernel", &no_elements_kernel<Accumulator>, blocks_for(rows),
         static_cast<typename Accumulator::result*>(call.out.data), rows);
}

/// Bytes of device memory that `cuda_row` needs for the call: a few for each of `most_split_rows` at most.
template <class RowProgram>
std::size_t cuda_row_workspace(const kernel_call& call, int axis) {
  if (call.space.size() == 0) return 0;
  return static_cast<std::size_t>(
      row_workspace(row_operands_of<RowProgram>(call, axis, static_cast<std::int64_t>(most_shared_bytes()))));
}
template <class RowProgram>
std::size_t cuda_row_workspace(const kernel_call& call) {
  return cuda_row_workspace<RowProgram>(call, call.space.rank - 1 - call.row_axis);
}

/// Launches the kernels of rows in pieces, some rows after others.
template <class RowProgram>
void run_split_rows(gpu_context& context, row_operands<RowProgram> operands, char* workspace) {
  using facts = row_facts<RowProgram>;
  const std::int64_t all = operands.row_count, at_once = rows_at_once(operands);
  const auto shared = static_cast<std::size_t>(shared_bytes_of(operands));
  const auto threads = static_cast<unsigned>(operands.grid.threads());
  operands.partials = workspace;
  operands.given = reinterpret_cast<std::uint64_t*>(workspace + 2 * partial_bytes * operands.grid.pieces * at_once);
  for (; operands.first_row < all; operands.first_row += at_once) {
    operands.row_count = least(at_once, all - operands.first_row);
    const auto blocks = static_cast<unsigned>(divide_up(operands.row_count, operands.grid.width));
    for (int pass = 0; pass <= facts::folds; ++pass) {
      // What is folded last needs one block to finish it.
      const bool finishes = pass == facts::folds && facts::stores_fold();
      const dim3 grid(blocks, finishes ? 1u : static_cast<unsigned>(operands.grid.pieces));
      launch(context.stream, "launching a row kernel", &split_row_kernel<RowProgram>, {grid, shared, threads}, operands,
             pass);
    }
  }
}

/// Runs a row program on the context's stream, over rows along `axis`. Operands may have any strides.
/// *Throws* `internal_error` where the kernel cannot be launched.
template <class RowProgram>
void cuda_row(gpu_context& context, const kernel_call& call, int axis) {
  if (call.space.size() == 0) {
    using last = typename RowProgram::template phase<RowProgram::phases - 1>;
    if constexpr (last::folds) fold_nothing_on_gpu<phase_accumulator<last>>(context, call);
    return;
  }
  const row_operands<RowProgram> operands =
      row_operands_of<RowProgram>(call, axis, static_cast<std::int64_t>(most_shared_bytes()));
  static_assert(sizeof operands <= max_parameter_bytes);
  if (operands.grid.split) {
    if (!call.workspace) throw internal_error("[onto.cuda] a row kernel was launched without its workspace");
    return run_split_rows(context, operands, static_cast<char*>(call.workspace));
  }
  if constexpr (row_facts<RowProgram>::packs_held() > 0) {
    if (operands.grid.in_registers)
      return launch(context.stream, "launching a row kernel", &register_row_kernel<RowProgram>,
                    {grid_blocks(operands.blocks), static_cast<std::size_t>(shared_bytes_of(operands)),
                     static_cast<unsigned>(operands.grid.threads())},
                    operands);
  }
  launch(context.stream, "launching a row kernel", &whole_row_kernel<RowProgram>,
         {grid_blocks(operands.blocks), static_cast<std::size_t>(shared_bytes_of(operands)),
          static_cast<unsigned>(operands.grid.threads())},
         operands);
}
template <class RowProgram>
void cuda_row(gpu_context& context, const kernel_call& call) {
  cuda_row<RowProgram>(context, call, call.space.rank - 1 - call.row_axis);
}

}  // namespace onto::detail
