// SPDX-License-Identifier: BSL-1.0
// What the threads of a row kernel know, and what each of them does in each stage. Plain arithmetic, the same on host
// and device.
#pragma once

#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/operands.hpp>
#include <onto/backend/cuda/row_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// What a row kernel reads. Names no program, as strided_inputs.
template <int Inputs, int Scalars>
struct row_inputs {
  static constexpr int inputs = Inputs;
  static constexpr int scalars = Scalars;

  operand_values<Inputs, Scalars> values;
  strided_space<Inputs> rows;                  // where rows begin
  std::int64_t step[Inputs > 0 ? Inputs : 1];  // from one element of a row to the next
};

/// The most kept bytes of a block that are in shared memory; more are in the workspace.
inline constexpr std::int64_t most_shared_bytes = 40 << 10;
/// Blocks of a row kernel that has a workspace.
inline constexpr std::int64_t workspace_blocks = 1024;

template <class RowProgram>
struct row_operands : row_inputs<row_facts<RowProgram>::inputs, row_facts<RowProgram>::scalars> {
  using facts = row_facts<RowProgram>;

  fold_grid grid;               // outputs are rows
  std::int64_t kept_bytes = 0;  // of a row, and where in them each kept value begins
  std::int64_t kept_at[facts::keeps > 0 ? facts::keeps : 1] = {};
  void* kept = nullptr;  // of all blocks; null where it is in shared memory
  void* out = nullptr;

  std::int64_t block_bytes() const { return kept_bytes * grid.width; }
  bool is_shared() const { return block_bytes() <= most_shared_bytes; }
};

/// *Preconditions* there are rows, and they have elements.
template <class RowProgram>
row_operands<RowProgram> row_operands_of(const kernel_call& call) {
  using facts = row_facts<RowProgram>;
  const int last = call.space.rank - 1;
  const dimension_set rows = all_dimensions(last);
  row_operands<RowProgram> r{};
  r.values = operand_values_of<facts::inputs, facts::scalars>(call);
  r.rows = collapse<facts::inputs>(call.space, rows, call.in);
  for (int k = 0; k < facts::inputs; ++k) r.step[k] = call.in[k].stride[last];
  const std::int64_t count = call.space[last];
  for (int k = 0; k < facts::keeps; ++k) {
    r.kept_at[k] = r.kept_bytes;
    r.kept_bytes += divide_up(count * facts::kept_size(k), 16) * 16;
  }
  // Eight elements a thread, and more threads where a block's rows would not fit into shared memory.
  fold_grid g{size_of_dimensions(call.space, rows), count, 1, 1, true, 1, 1, count};
  std::int64_t depth = power_of_two_from(divide_up(count, 8));
  while (depth < block_threads && block_threads / depth * r.kept_bytes > most_shared_bytes) depth *= 2;
  g.depth = static_cast<int>(depth < block_threads ? depth : block_threads);
  g.width = block_threads / g.depth;
  g.blocks = divide_up(g.outputs, g.width);
  r.grid = g;
  r.out = call.out.data;
  return r;
}

/// Whether rows may be read and written several elements at a time.
template <class RowProgram>
bool has_aligned_rows(const row_operands<RowProgram>& r) {
  using facts = row_facts<RowProgram>;
  constexpr int lanes = facts::lanes;
  const bool one_row = r.grid.outputs == 1;
  if (!facts::stores_fold() &&
      (!is_aligned(r.out, facts::result_size(), lanes) || (!one_row && r.grid.count % lanes != 0)))
    return false;
  for (int k = 0; k < facts::inputs; ++k) {
    if (facts::is_column(k) || r.step[k] == 0) continue;
    if (r.step[k] != 1 || !is_aligned(r.values.data[k], facts::size_of_input(k), lanes)) return false;
    for (int d = 0; d < r.rows.rank; ++d)
      if (r.rows.stride[k][d] % lanes != 0) return false;
  }
  return true;
}

/// One thread at one row.
template <int Inputs, int Scalars, int Keeps, int Given>
struct row_thread {
  const row_inputs<Inputs, Scalars>& operands;
  std::int64_t number = 0;                           // of the row
  std::int64_t count = 0;                            // of elements
  std::int64_t start[Inputs > 0 ? Inputs : 1] = {};  // where the row begins in each input
  char* kept[Keeps > 0 ? Keeps : 1] = {};            // what is kept of the row
  std::uint64_t given[Given > 0 ? Given : 1] = {};   // the values of the row so far

  ONTO_HD explicit row_thread(const row_inputs<Inputs, Scalars>& o) : operands(o) {}
};

template <class RowProgram>
using row_thread_of = row_thread<row_facts<RowProgram>::inputs, row_facts<RowProgram>::scalars,
                                 row_facts<RowProgram>::keeps, row_facts<RowProgram>::given>;

/// Begins with row `number`, of which the values kept are at `kept`.
template <class RowProgram>
ONTO_HD ONTO_INLINE void start_row(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                   std::int64_t number, char* kept) {
  using facts = row_facts<RowProgram>;
  const coordinates where = locate(operands.rows, number);
  t.number = number;
  t.count = operands.grid.count;
  for (int k = 0; k < facts::inputs; ++k) t.start[k] = offset(operands.rows, where, k);
  for (int k = 0; k < facts::keeps; ++k) t.kept[k] = kept + operands.kept_at[k];
}

/// Takes one lane of what was loaded of a row.
template <class Thread, class Slots>
struct row_source {
  using calls = operation_must_be_host_device;

  const Thread& thread;
  const Slots& slots;
  std::int64_t position;
  int lane;

  template <element Type>
  using value = computed_t<Type>;

  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> load() const {
    return pack_of<Slot>(slots).at[lane];
  }
  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> scalar() const {
    constexpr int scalars = std::remove_reference_t<decltype(thread.operands)>::scalars;
    if constexpr (Slot < scalars)
      return from_bits<computed_t<Type>>(thread.operands.values.scalars[Slot]);
    else
      return from_bits<computed_t<Type>>(thread.given[Slot - scalars]);
  }
  ONTO_HD std::int64_t index() const { return thread.number * thread.count + position; }
};

/// Takes what there is once a row.
template <class Thread>
struct column_source : row_source<Thread, int> {
  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> load() const {
    return device_load(static_cast<const element_t<Type>*>(this->thread.operands.values.data[Slot]) +
                       this->thread.start[Slot]);
  }
};

/// Inputs have the elements' own type, kept values that in which they were computed.
template <class Program, int Inputs, int Slot>
using row_slot_type = std::conditional_t<(Slot < Inputs), element_t<program_operands<Program>::found.type[Slot]>,
                                         computed_t<program_operands<Program>::found.type[Slot]>>;

template <class Program, int Slot, int Inputs, int Lanes, class Thread, class T>
ONTO_HD ONTO_INLINE void load_row(const Thread& t, lane_pack<T, Lanes>& pack, std::int64_t first) {
  if constexpr (loads_slot<Program, Slot>) {
    if constexpr (Slot >= Inputs) {
      load_pack(pack, t.kept[Slot - Inputs], true, first, t.count - first);
    } else {
      const T* row = static_cast<const T*>(t.operands.values.data[Slot]) + t.start[Slot];
      if constexpr (Lanes == 1)
        pack.at[0] = device_load(row + first * t.operands.step[Slot]);
      else
        load_pack(pack, row, t.operands.step[Slot] != 0, first, t.count - first);
    }
  }
}

/// The values of a program at elements of the row from `first` on.
template <class Program, int Lanes, class Thread, int... Slot, int... Lane>
ONTO_HD ONTO_INLINE lane_pack<computed_t<Program::result>, Lanes> row_values(const Thread& t, std::int64_t first,
                                                                             std::integer_sequence<int, Slot...> slots,
                                                                             std::integer_sequence<int, Lane...>) {
  constexpr int inputs = std::remove_reference_t<decltype(t.operands)>::inputs;
  using loaded = lane_slots<Lanes, decltype(slots), row_slot_type<Program, inputs, Slot>...>;
  loaded in;
  (load_row<Program, Slot, inputs>(t, pack_of<Slot>(in), first), ...);
  lane_pack<computed_t<Program::result>, Lanes> out;
  ((out.at[Lane] = static_cast<computed_t<Program::result>>(
        Program::evaluate(row_source<Thread, loaded>{t, in, first + Lane, Lane}))),
   ...);
  return out;
}
template <class Program, int Lanes, class Thread>
ONTO_HD ONTO_INLINE auto row_values(const Thread& t, std::int64_t first) {
  return row_values<Program, Lanes>(t, first, std::make_integer_sequence<int, program_operands<Program>::inputs>{},
                                    std::make_integer_sequence<int, Lanes>{});
}

/// Writes as many of a pack's elements as are left.
template <class To, class T, int Lanes>
ONTO_HD ONTO_INLINE void store_pack(To* to, const lane_pack<T, Lanes>& pack, std::int64_t left) {
  lane_pack<To, Lanes> out;
  for (int j = 0; j < Lanes; ++j) out.at[j] = static_cast<To>(pack.at[j]);
  if (Lanes > 1 && left >= Lanes) {
    device_store(reinterpret_cast<lane_pack<To, Lanes>*>(to), out);
  } else {
    for (int j = 0; j < Lanes; ++j)
      if (j < left) device_store(to + j, out.at[j]);
  }
}

/// What the thread in `place` of a row's `depth` does of a stage that goes over the row. *Returns* what it folded, if
/// the stage folds.
template <class RowProgram, class Stage, int Number, int Lanes>
ONTO_HD ONTO_INLINE auto stage_part(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t, int place) {
  using facts = stage_of<Stage>;
  using program_type = typename facts::code;
  using value_type = computed_t<program_type::result>;
  constexpr int kept = kept_before<RowProgram, Number>;
  const std::int64_t step = std::int64_t{operands.grid.depth} * Lanes;
  const auto over_row = [&](auto&& take) {
    for (std::int64_t k = std::int64_t{place} * Lanes; k < t.count; k += step) {
      const auto values = row_values<program_type, Lanes>(t, k);
      if constexpr (facts::keeps) store_pack(reinterpret_cast<value_type*>(t.kept[kept]) + k, values, t.count - k);
      take(values, k);
    }
  };
  if constexpr (facts::folds) {
    using accumulation_type = typename facts::accumulation_type;
    auto state = accumulation_type::empty();
    over_row([&](const auto& values, std::int64_t k) {
      for (int j = 0; j < Lanes; ++j)
        if (k + j < t.count) accumulation_type::add(state, values.at[j], k + j);
    });
    return state;
  } else {
    over_row([&](const auto& values, std::int64_t k) {
      if constexpr (facts::stores)
        store_pack(static_cast<element_t<program_type::result>*>(operands.out) + t.number * t.count + k, values,
                   t.count - k);
    });
    return 0;
  }
}

template <class T>
ONTO_HD ONTO_INLINE std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// What a stage computes once for the row.
template <class RowProgram, class Stage, int Number>
ONTO_HD ONTO_INLINE void stage_value(row_thread_of<RowProgram>& t) {
  using program_type = typename stage_of<Stage>::code;
  using thread = row_thread_of<RowProgram>;
  t.given[given_before<RowProgram, Number>] = to_bits(
      static_cast<computed_t<program_type::result>>(program_type::evaluate(column_source<thread>{{t, 0, 0, 0}})));
}

/// What follows when all that was folded of the row is in `state`.
template <class RowProgram, class Stage, int Number, class State>
ONTO_HD ONTO_INLINE void stage_end(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                   const State& state, int place, bool in_range) {
  using accumulation_type = typename stage_of<Stage>::accumulation_type;
  if constexpr (stage_of<Stage>::stores) {
    if (place == 0 && in_range)
      device_store(static_cast<typename accumulation_type::result*>(operands.out) + t.number,
                   accumulation_type::finish(state, t.count));
  } else {
    t.given[given_before<RowProgram, Number>] = to_bits(accumulation_type::finish(state, t.count));
  }
}

/// Bytes of device memory that `cuda_row` needs for the call.
template <class RowProgram>
std::size_t cuda_row_workspace(const kernel_call& call) {
  if (call.space.size() == 0) return 0;
  const row_operands<RowProgram> r = row_operands_of<RowProgram>(call);
  if (r.is_shared()) return 0;
  return static_cast<std::size_t>(r.block_bytes() *
                                  (r.grid.blocks < workspace_blocks ? r.grid.blocks : workspace_blocks));
}

}  // namespace onto::detail
