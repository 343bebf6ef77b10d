// SPDX-License-Identifier: BSL-1.0
// What the threads of a reduction know, what each of them folds, and how much memory the reduction needs. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/fold.hpp>
#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/operands.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// What a reduction reads. Names no program, as strided_inputs.
template <int Inputs, int Scalars>
struct reduce_inputs {
  static constexpr int inputs = Inputs;
  static constexpr int scalars = Scalars;

  operand_values<Inputs, Scalars> values;
  strided_space<Inputs> kept;
  strided_space<Inputs> folded;
};

template <class Program>
using reduce_inputs_of = reduce_inputs<program_operands<Program>::inputs, program_operands<Program>::scalars>;

/// What a reduction's threads know.
template <class Program>
struct reduce_operands : reduce_inputs_of<Program> {
  fold_grid grid;
  void* out;       // the results, or
  void* partials;  // where outputs are shared, the states of the pieces of one output after another
};

/// Loads at one index of a reduction. `Linear`: at most one dimension is folded, and nothing is divided.
template <class Operands, bool Linear>
struct reduce_source {
  using calls = operation_must_be_host_device;

  const Operands& operands;
  const coordinates& kept;
  std::conditional_t<Linear, std::int64_t, coordinates> folded;

  template <element Type>
  using value = computed_t<Type>;

  ONTO_HD ONTO_INLINE static reduce_source at(const Operands& operands, const coordinates& kept, std::int64_t index) {
    if constexpr (Linear)
      return {operands, kept, index};
    else
      return {operands, kept, locate(operands.folded, index)};
  }

  ONTO_HD ONTO_INLINE std::int64_t along(int slot) const {
    if constexpr (Linear)
      return folded * operands.folded.stride[slot][0];
    else
      return offset(operands.folded, folded, slot);
  }

  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> load() const {
    const element_t<Type>* first = static_cast<const element_t<Type>*>(operands.values.data[Slot]);
    return device_load(first + offset(operands.kept, kept, Slot) + along(Slot));
  }
  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> scalar() const {
    return from_bits<computed_t<Type>>(operands.values.scalars[Slot]);
  }
};

template <class Program, fold F>
using program_accumulation = accumulation_of<F, element_t<Program::result>>;

/// Elements a thread loads before it folds them: so many loads wait for memory together.
template <class Program, bool Linear>
inline constexpr int fold_unroll = Program::size <= 8              ? (Linear ? 8 : 2)
                                   : Program::size <= 32 && Linear ? 2
                                                                   : 1;

template <class Program, fold F, bool Linear, int... Step>
ONTO_HD ONTO_INLINE void fold_steps(const reduce_operands<Program>& operands, const coordinates& kept,
                                    std::int64_t first, std::int64_t end,
                                    typename program_accumulation<Program, F>::state& state,
                                    std::integer_sequence<int, Step...>) {
  using operation = program_accumulation<Program, F>;
  using source = reduce_source<reduce_inputs_of<Program>, Linear>;
  const std::int64_t depth = operands.grid.depth;
  // Past the end, an element is read again and dropped.
  const computed_t<Program::result> values[] = {
      Program::evaluate(source::at(operands, kept, first + Step * depth < end ? first + Step * depth : first))...};
  ((first + Step * depth < end ? operation::add(state, values[Step], first + Step * depth) : void()), ...);
}

/// Folds what the thread in `row` folds of `output`, in the `piece` of it.
template <class Program, fold F, bool Linear>
ONTO_HD ONTO_INLINE typename program_accumulation<Program, F>::state fold_part(const reduce_operands<Program>& operands,
                                                                               std::int64_t output, std::int64_t piece,
                                                                               int row) {
  constexpr int unroll = fold_unroll<Program, Linear>;
  const fold_grid& grid = operands.grid;
  const coordinates kept = locate(operands.kept, output);
  const std::int64_t begin = piece * grid.per_piece;
  const std::int64_t end = begin + grid.per_piece < grid.count ? begin + grid.per_piece : grid.count;
  auto state = program_accumulation<Program, F>::empty();
  for (std::int64_t k = begin + row; k < end; k += std::int64_t{unroll} * grid.depth)
    fold_steps<Program, F, Linear>(operands, kept, k, end, state, std::make_integer_sequence<int, unroll>{});
  return state;
}

/// Folds partial results of the pieces.
template <class Accumulation>
struct combine_operands {
  fold_grid grid;  // of the pieces of each output
  std::int64_t count;
  const typename Accumulation::state* partials;
  typename Accumulation::result* out;
};

template <class Accumulation>
ONTO_HD ONTO_INLINE typename Accumulation::state combine_part(const combine_operands<Accumulation>& operands,
                                                              std::int64_t output, int row) {
  const fold_grid& grid = operands.grid;
  auto state = Accumulation::empty();
  for (std::int64_t k = row; k < grid.count; k += grid.depth)
    Accumulation::merge(state, device_load(operands.partials + output * grid.count + k));
  return state;
}

/// The grid, and where elements lie; `out` and the rest are left for the launch.
/// *Preconditions* there is a result.
template <class Program>
reduce_operands<Program> reduce_operands_of(const kernel_call& call) {
  constexpr int inputs = reduce_operands<Program>::inputs;
  const dimension_set folded = folded_dimensions(*call.op, call.space.rank);
  const dimension_set kept = all_dimensions(call.space.rank) & ~folded;
  reduce_operands<Program> r{};
  r.values = operand_values_of<inputs, reduce_operands<Program>::scalars>(call);
  r.kept = collapse<inputs>(call.space, kept, call.in);
  r.folded = collapse<inputs>(call.space, folded, call.in);
  r.grid = arrange_fold(size_of_dimensions(call.space, kept), size_of_dimensions(call.space, folded),
                        folds_along_memory(r.kept, r.folded), block_threads, true);
  r.out = call.out.data;
  r.partials = call.workspace;
  return r;
}

/// Bytes of device memory that `cuda_reduce` needs for the call.
template <class Program, fold F>
std::size_t cuda_reduce_workspace(const kernel_call& call) {
  const dimension_set kept = all_dimensions(call.space.rank) & ~folded_dimensions(*call.op, call.space.rank);
  if (size_of_dimensions(call.space, kept) == 0) return 0;
  const fold_grid grid = reduce_operands_of<Program>(call).grid;
  if (grid.pieces == 1) return 0;
  return static_cast<std::size_t>(grid.outputs * grid.pieces) *
         sizeof(typename program_accumulation<Program, F>::state);
}

}  // namespace onto::detail
