// SPDX-License-Identifier: BSL-1.0
// What the threads of a reduction know, what each of them folds, and how much memory the reduction needs. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/operands.hpp>
#include <onto/kernel/accumulator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// What a reduction reads: where outputs begin in its inputs, how far the outer dimensions of what is folded take them
/// from there, and the steps along the inner one. `Indexed`: and so of an operand behind the inputs, whose elements are
/// their indices. Names no program, as strided_inputs.
template <int Inputs, int Scalars, bool Indexed>
struct reduce_inputs {
  static constexpr int inputs = Inputs;
  static constexpr int scalars = Scalars;
  static constexpr bool indexed = Indexed;
  static constexpr int operands = Inputs + (Indexed ? 1 : 0);

  operand_values<Inputs, Scalars> values;
  strided_space<operands> kept;
  strided_space<operands> outer;
  std::int64_t step[operands > 0 ? operands : 1];
};

template <class Program>
using reduce_inputs_of =
    reduce_inputs<program_operands<Program>::inputs, program_operands<Program>::scalars, uses_index(Program{})>;

/// What a reduction's threads know.
template <class Program>
struct reduce_operands : reduce_inputs_of<Program> {
  fold_grid grid;
  bool packed;     // whether elements are read in packs
  void* out;       // the results, or
  void* partials;  // where outputs are shared, the states of all outputs' first pieces, of their second ones...
};

template <class Program, fold F>
using program_accumulator = accumulator_of<F, element_t<Program::result>>;

/// Whether the place of an element is what is wanted. As a variable, since device code may not call the function.
template <fold F>
inline constexpr bool finds_place = is_argument(F);

/// Elements that a thread reads with one load, where memory is contiguous along what is folded.
template <class Program>
constexpr int find_reduce_lanes() {
  using facts = program_operands<Program>;
  if (facts::inputs == 0 || facts::inputs > many_inputs || Program::size > 64) return 1;  // more code than it is worth
  return facts::widest > 4 ? 2 : facts::widest == 2 ? 8 : 4;
}
template <class Program>
inline constexpr int reduce_lanes = find_reduce_lanes<Program>();

/// Loads that a thread waits for together: as many bytes as keep memory busy, and no more code than it is worth.
template <class Program, int Lanes>
constexpr int find_fold_ahead() {
  using facts = program_operands<Program>;
  if (Program::size > 32) return 1;
  if (Program::size > 8) return Lanes == 1 ? 2 : 1;
  const int most = Lanes == 1 && facts::widest > 4 ? 8 : Lanes == 1 ? 24 : 16;
  const int elements = most / (Lanes * (facts::inputs > 0 ? facts::inputs : 1));
  return elements > 4 && Lanes > 1 ? 4 : elements > 1 ? elements : 1;
}
template <class Program, int Lanes>
inline constexpr int fold_ahead = find_fold_ahead<Program, Lanes>();
/// And where a thread has few elements: most of many loads would be of nothing. One after another they need no
/// registers beside those of many together.
template <class Program, int Lanes>
inline constexpr int short_fold_ahead = Lanes == 1 ? 1 : fold_ahead<Program, Lanes>;
inline constexpr int few_to_fold = 8;

/// A thread at one output and one index of the outer dimensions: where it begins in each input.
template <class Operands>
struct fold_position {
  const Operands& operands;
  std::int64_t start[Operands::operands > 0 ? Operands::operands : 1];
  std::uint64_t same[Operands::inputs > 0 ? Operands::inputs : 1];  // the value where all indices have one, in packs
};

/// Loads what input `Slot` has at some places of the inner dimension. What does not change along it was loaded before,
/// and is asked for once for all places: where each load began with the value that it might take from there, nvcc let
/// each wait for the one before (seen in the stalls of an H100). `Repeats`: what is not there is the first again.
template <int Slot, class T, int Lanes, bool Repeats, class Operands, class Packs, int Ahead>
ONTO_HD ONTO_INLINE void load_fold(const fold_position<Operands>& at, Packs (&in)[Ahead], int first, int step,
                                   int count) {
  const T* const p = static_cast<const T*>(at.operands.values.data[Slot]) + at.start[Slot];
  if (Lanes == 1 || at.operands.step[Slot] != 0) {
    const auto load = [&](int a, int index) {
      if constexpr (Lanes > 1)
        pack_of<Slot>(in[a]) = device_load(reinterpret_cast<const lane_pack<T, Lanes>*>(p + index));
      else
        pack_of<Slot>(in[a]).at[0] = device_load(p + index * at.operands.step[Slot]);
    };
    if (Repeats && first + (Ahead - 1) * step < count) {
      for (int a = 0; a < Ahead; ++a) load(a, first + a * step);
      return;
    }
    for (int a = 0; a < Ahead; ++a) {
      const int index = first + a * step;
      if (index < count)
        load(a, index);
      else if constexpr (Repeats)
        pack_of<Slot>(in[a]) = pack_of<Slot>(in[0]);
    }
  } else {
    const T same = from_bits<T>(at.same[Slot]);
    for (int a = 0; a < Ahead; ++a)
      for (int j = 0; j < Lanes; ++j) pack_of<Slot>(in[a]).at[j] = same;
  }
}
template <int Slot, class T, class Operands>
ONTO_HD ONTO_INLINE void load_same(fold_position<Operands>& at) {
  at.same[Slot] = 0;
  if (at.operands.step[Slot] != 0) return;
  const T value = device_load(static_cast<const T*>(at.operands.values.data[Slot]) + at.start[Slot]);
  std::memcpy(&at.same[Slot], &value, sizeof value);
}

/// Loads all inputs; a fold of what is the same everywhere has none.
template <class Program, class Slots = std::make_integer_sequence<int, program_operands<Program>::inputs>>
struct fold_loads;
template <class Program, int... Slot>
struct fold_loads<Program, std::integer_sequence<int, Slot...>> {
  template <int Lanes, bool Repeats, class Operands, class Packs, int Ahead>
  ONTO_HD ONTO_INLINE static void load([[maybe_unused]] const fold_position<Operands>& at,
                                       [[maybe_unused]] Packs (&in)[Ahead], [[maybe_unused]] int first,
                                       [[maybe_unused]] int step, [[maybe_unused]] int count) {
    (load_fold<Slot, typename program_operands<Program>::template input<Slot>, Lanes, Repeats>(at, in, first, step,
                                                                                               count),
     ...);
  }
  template <class Operands>
  ONTO_HD ONTO_INLINE static void begin([[maybe_unused]] fold_position<Operands>& at) {
    (load_same<Slot, typename program_operands<Program>::template input<Slot>>(at), ...);
  }
};

/// Joins some packs of values to the place of the most extreme so far: element `j` of pack `a` is at `first + a * step
/// + j`. Positions only grow from call to call, and a pack that is not there repeats the first. Few packs have anything
/// more extreme, and only those are gone over for where it is: the others cost what a maximum costs.
template <fold F, class State, class T, int Packs, int Lanes>
ONTO_HD ONTO_INLINE void find_extreme(State& state, const T (&values)[Packs][Lanes], std::int64_t first, int step) {
  T best[Lanes];
  for (int j = 0; j < Lanes; ++j) best[j] = values[0][j];
  for (int a = 1; a < Packs; ++a)
    for (int j = 0; j < Lanes; ++j)
      if (is_more_extreme<F>(values[a][j], best[j])) best[j] = values[a][j];
  for (int j = 1; j < Lanes; ++j)
    if (is_more_extreme<F>(best[j], best[0])) best[0] = best[j];
  if (state.index < 0)
    state = {values[0][0], first};
  else if (!is_more_extreme<F>(best[0], state.value))
    return;
  for (int a = 0; a < Packs; ++a)
    for (int j = 0; j < Lanes; ++j)
      if (is_more_extreme<F>(values[a][j], state.value)) state = {values[a][j], first + a * step + j};
}

/// Takes one lane of what was loaded, and knows its index.
template <class Inputs, class Packs>
struct indexed_source : lane_source<Inputs, Packs> {
  std::int64_t at;

  ONTO_HD std::int64_t index() const { return at; }
};

/// Folds `Ahead` packs, of which the first is at `first` of `count`. All are loaded before any is folded.
template <class Program, fold F, int Lanes, int Ahead>
ONTO_HD ONTO_INLINE void fold_packs(const fold_position<reduce_inputs_of<Program>>& at, int first, int step, int count,
                                    std::int64_t number, typename program_accumulator<Program, F>::state& state) {
  using operation = program_accumulator<Program, F>;
  using packs = typename input_packs<Program, Lanes>::type;
  packs in[Ahead];
  fold_loads<Program>::template load<Lanes, finds_place<F>>(at, in, first, step, count);
  using value = computed_t<Program::result>;
  const auto value_at = [&](int a, int j) {
    using inputs = reduce_inputs_of<Program>;
    if constexpr (inputs::indexed) {
      const std::int64_t index =
          at.start[inputs::inputs] + (std::int64_t{first} + a * step + j) * at.operands.step[inputs::inputs];
      const indexed_source<inputs, packs> source{{{at.operands}, in[a], j}, index};
      return static_cast<value>(Program::evaluate(source));
    } else {
      const lane_source<inputs, packs> source{{at.operands}, in[a], j};
      return static_cast<value>(Program::evaluate(source));
    }
  };
  if constexpr (finds_place<F>) {
    value values[Ahead][Lanes];
    for (int a = 0; a < Ahead; ++a)
      for (int j = 0; j < Lanes; ++j) values[a][j] = value_at(a, j);
    find_extreme<F>(state, values, number + first, step);
  } else {
    for (int a = 0; a < Ahead; ++a) {
      if (first + a * step >= count) continue;
      for (int j = 0; j < Lanes; ++j) operation::add(state, value_at(a, j), number + first + a * step + j);
    }
  }
}

/// Folds what the thread in `row` folds of `output`, in the `piece` of it.
template <class Program, fold F, int Lanes>
ONTO_HD ONTO_INLINE typename program_accumulator<Program, F>::state fold_part(const reduce_operands<Program>& operands,
                                                                              std::int64_t output, int piece, int row) {
  const fold_grid& grid = operands.grid;
  const int outer_piece = grid.inner_pieces == 1 ? piece : piece / grid.inner_pieces;
  const std::int64_t from = (piece - outer_piece * grid.inner_pieces) * grid.per_inner;
  const int count = static_cast<int>(least(grid.per_inner, grid.inner - from));
  const std::int64_t first = outer_piece * grid.per_outer, last = least(first + grid.per_outer, grid.outer);
  const int step = grid.inner_depth * Lanes;
  const int outer_step = grid.depth >> grid.inner_bits;
  constexpr int inputs = reduce_operands<Program>::operands, places = inputs > 0 ? inputs : 1;
  std::int64_t begin[places] = {};
  for (int s = 0; s < inputs; ++s) begin[s] = from * operands.step[s];
  if constexpr (inputs > 0) add_offsets(operands.kept, output, begin);
  fold_position<reduce_inputs_of<Program>> at{operands, {}, {}};
  auto state = program_accumulator<Program, F>::empty();
  for (std::int64_t o = first + (row >> grid.inner_bits); o < last; o += outer_step) {
    for (int s = 0; s < inputs; ++s) at.start[s] = begin[s];
    if constexpr (inputs > 0) add_offsets(operands.outer, o, at.start);
    if constexpr (Lanes > 1)
      if (count > 0) fold_loads<Program>::begin(at);
    const auto fold = [&]<int Ahead>(std::integral_constant<int, Ahead>) {
      for (int k = (row & (grid.inner_depth - 1)) * Lanes; k < count; k += step * Ahead)
        fold_packs<Program, F, Lanes, Ahead>(at, k, step, count, o * grid.inner + from, state);
    };
    constexpr int few = short_fold_ahead<Program, Lanes>, many = fold_ahead<Program, Lanes>;
    if (few < many && count <= few_to_fold * step)
      fold(std::integral_constant<int, few>{});
    else
      fold(std::integral_constant<int, many>{});
  }
  return state;
}

/// Folds partial results of the pieces.
template <class Accumulator>
struct combine_operands {
  thread_grid grid;  // of the pieces of each output
  std::int64_t outputs;
  std::int64_t blocks;
  int pieces;
  std::int64_t count;
  const typename Accumulator::state* partials;
  typename Accumulator::result* out;
};

template <class Accumulator>
ONTO_HD ONTO_INLINE typename Accumulator::state combine_part(const combine_operands<Accumulator>& operands,
                                                             std::int64_t output, int row) {
  auto state = Accumulator::empty();
  for (int k = row; k < operands.pieces; k += operands.grid.depth)
    Accumulator::merge(state, device_load(operands.partials + k * operands.outputs + output));
  return state;
}

template <class Accumulator>
combine_operands<Accumulator> combine_operands_of(const fold_grid& grid, const void* partials, void* out) {
  const std::int64_t width = power_of_two_from(least(grid.outputs, 32));
  const std::int64_t depth = least(power_of_two_from(grid.pieces), block_threads / width);
  combine_operands<Accumulator> c{};
  c.grid = thread_grid(block_threads / depth, depth, false);
  c.outputs = grid.outputs;
  c.blocks = divide_up(grid.outputs, c.grid.width);
  c.pieces = grid.pieces;
  c.count = grid.count();
  c.partials = static_cast<const typename Accumulator::state*>(partials);
  c.out = static_cast<typename Accumulator::result*>(out);
  return c;
}

/// Whether elements may be read in packs along the inner dimension.
template <class Program>
bool has_packs_to_fold(const reduce_inputs_of<Program>& r, std::int64_t inner) {
  using facts = program_operands<Program>;
  constexpr int lanes = reduce_lanes<Program>;
  if (lanes == 1 || inner % lanes != 0) return false;
  if constexpr (facts::inputs > 0)  // nvcc warns of a loop over none
    for (int k = 0; k < facts::inputs; ++k) {
      if (r.step[k] == 0) continue;
      const auto lie_in_packs = [&](const strided_space<reduce_inputs_of<Program>::operands>& space) {
        return lies_in_packs(r.values.data[k], size_of(facts::found.type[k]), lanes, r.step[k], space.stride[k],
                             space.rank);
      };
      if (!lie_in_packs(r.kept) || !lie_in_packs(r.outer)) return false;
    }
  return true;
}

/// The grid, and where elements lie. *Preconditions* there is a result.
template <class Program>
reduce_operands<Program> reduce_operands_of(const kernel_call& call) {
  constexpr int inputs = reduce_operands<Program>::inputs, operands = reduce_operands<Program>::operands;
  const operand_view* views = call.in;
  [[maybe_unused]] operand_view with_index[operands > 0 ? operands : 1];
  if constexpr (reduce_operands<Program>::indexed) {
    if constexpr (inputs > 0)
      for (int k = 0; k < inputs; ++k) with_index[k] = call.in[k];
    contiguous_strides(call.space, with_index[inputs].stride);
    views = with_index;
  }
  const dimension_set folded = folded_axes(*call.op, call.space.rank);
  const dimension_set kept = all_dimensions(call.space.rank) & ~folded;
  reduce_operands<Program> r{};
  r.values = operand_values_of<inputs, reduce_operands<Program>::scalars>(call);
  r.kept = collapse<operands>(call.space, kept, views);
  const strided_space<operands> all = collapse<operands>(call.space, folded, views);
  const bool along = folds_along_memory(r.kept, all);
  std::int64_t inner = 1;
  const int last = all.rank - 1;
  for (int d = 0; d < last; ++d) {
    r.outer.append(all.extent[d].divisor);
    for (int k = 0; k < operands; ++k) r.outer.stride[k][d] = all.stride[k][d];
  }
  if (last >= 0) {
    inner = all.extent[last].divisor;
    for (int k = 0; k < operands; ++k) r.step[k] = all.stride[k][last];
  }
  if (size_of_dimensions(call.space, folded) == 0) inner = 0;
  r.packed = along && has_packs_to_fold<Program>(r, inner);
  r.grid = arrange_fold(size_of_dimensions(call.space, kept), r.outer.size, inner, along,
                        r.packed ? reduce_lanes<Program> : 1);
  r.out = call.out.data;
  r.partials = call.workspace;
  return r;
}

/// Bytes of device memory that `cuda_reduce` needs for the call.
template <class Program, fold F>
std::size_t cuda_reduce_workspace(const kernel_call& call) {
  const dimension_set kept = all_dimensions(call.space.rank) & ~folded_axes(*call.op, call.space.rank);
  if (size_of_dimensions(call.space, kept) == 0) return 0;
  const fold_grid grid = reduce_operands_of<Program>(call).grid;
  if (grid.pieces == 1) return 0;
  return static_cast<std::size_t>(grid.outputs * grid.pieces) * sizeof(typename program_accumulator<Program, F>::state);
}

}  // namespace onto::detail
