// SPDX-License-Identifier: BSL-1.0
// What each thread of a row kernel does in each phase: inputs go to shared memory, packs of them through the phase's
// program, and its values into a fold, to shared memory or to the result. Plain arithmetic, the same on host and
// device.
#pragma once

#include <onto/backend/cuda/row_operands.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// One thread at one row, or at a piece of one.
template <int Inputs, int Scalars, int Given>
struct row_thread {
  using inputs = row_inputs<Inputs, Scalars>;

  const inputs& operands;
  char* memory = nullptr;  // shared by the block
  int thread = 0;
  int place = 0;            // among the row's threads
  std::int64_t number = 0;  // of the row
  std::int64_t length = 0;  // elements of the row
  std::int64_t begin = 0;   // of the piece in it
  int count = 0;            // elements of the piece
  int first = 0;            // the thread's first element of it
  int stride = 0;           // from one pack of the thread to its next

  std::int64_t start[Inputs + 1] = {};              // where the piece begins in each input, and in the result
  std::uint64_t given[Given > 0 ? Given : 1] = {};  // the values of the row so far

  ONTO_HD explicit row_thread(const inputs& o) : operands(o) {}
};

template <class RowProgram>
using row_thread_of =
    row_thread<row_facts<RowProgram>::inputs, row_facts<RowProgram>::scalars, row_facts<RowProgram>::given>;

template <class RowProgram>
ONTO_HD ONTO_INLINE row_thread_of<RowProgram> row_thread_at(const row_operands<RowProgram>& operands, char* memory,
                                                            int thread) {
  row_thread_of<RowProgram> t(operands);
  t.memory = memory;
  t.thread = thread;
  t.place = operands.grid.row(thread);
  t.length = operands.count;
  t.first = t.place * operands.pack_step;
  t.stride = operands.grid.depth * row_facts<RowProgram>::lanes;
  return t;
}

/// Begins with a piece of row `number`.
template <class RowProgram>
ONTO_HD ONTO_INLINE void start_row(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                   std::int64_t number, std::int64_t piece) {
  t.number = number;
  t.begin = piece * operands.grid.per_piece;
  t.count = static_cast<int>(least(operands.grid.per_piece, t.length - t.begin));
  for (int k = 0; k <= row_facts<RowProgram>::inputs; ++k) t.start[k] = t.begin * operands.step[k];
  add_offsets(operands.rows, number, t.start);
}

/// Takes one lane of what was loaded of a row, and the scalars that phases gave for it.
template <class Thread, class Slots>
struct row_source : lane_source<typename Thread::inputs, Slots> {
  const Thread& thread;
  std::int64_t position;

  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> scalar() const {
    constexpr int scalars = Thread::inputs::scalars;
    if constexpr (Slot < scalars)
      return program_source<typename Thread::inputs>::template scalar<Type, Slot>();
    else
      return from_bits<computed_t<Type>>(thread.given[Slot - scalars]);
  }
  ONTO_HD std::int64_t index() const {  // of a map's result
    constexpr int result = Thread::inputs::inputs;
    return thread.start[result] + (position - thread.begin) * thread.operands.step[result];
  }
};

/// Takes what there is once a row.
template <class Thread>
struct column_source : row_source<Thread, int> {
  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> load() const {
    return device_load(static_cast<const element_t<Type>*>(this->inputs.values.data[Slot]) + this->thread.start[Slot]);
  }
};

/// Loads the elements of a pack one by one, as many as there are.
template <int Slot, class RowProgram, class T, int Lanes>
ONTO_HD ONTO_INLINE void load_elements(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                       lane_pack<T, Lanes>& pack, int first) {
  const T* const row = static_cast<const T*>(operands.values.data[Slot]) + t.start[Slot];
  for (int j = 0; j < Lanes; ++j) {
    const int k = first + j * operands.lane_step;
    if (k < t.count) pack.at[j] = device_load(row + k * operands.step[Slot]);
  }
}

/// Brings what input `Slot` has of the row to shared memory, from element `from` on, as much as there is room for.
template <class RowProgram, int Slot>
ONTO_HD ONTO_INLINE void stage_input(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                     int from) {
  using T = row_slot_type<RowProgram, Slot>;
  using pack = lane_pack<T, row_facts<RowProgram>::lanes>;
  const int threads = operands.grid.threads(), steps = operands.grid.steps;
  pack* const mine = reinterpret_cast<pack*>(t.memory + operands.at[Slot]) + (operands.same[Slot] ? t.place : t.thread);
  const T* const row = static_cast<const T*>(operands.values.data[Slot]) + t.start[Slot];
  for (int i = 0; i < steps; i += packs_ahead) {
    const int first = from + t.first + i * t.stride;
    if (first >= t.count) break;
    const auto is_there = [&](int a) { return i + a < steps && first + a * t.stride < t.count; };
    pack packs[packs_ahead] = {};
    if (operands.in_packs[Slot]) {
      for (int a = 0; a < packs_ahead; ++a)
        if (is_there(a)) packs[a] = device_load(reinterpret_cast<const pack*>(row + first + a * t.stride));
    } else {
      for (int a = 0; a < packs_ahead; ++a)
        if (i + a < steps) load_elements<Slot>(operands, t, packs[a], first + a * t.stride);
    }
    for (int a = 0; a < packs_ahead; ++a)
      if (is_there(a)) device_store(mine + (i + a) * threads, packs[a]);
  }
}

/// Gets a slot's pack for a phase: from shared memory, or straight from the input.
template <class RowProgram, int Number, int Slot, bool Anew, class Pack>
ONTO_HD ONTO_INLINE void get_pack(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                  Pack& pack, int step, int first) {
  constexpr int inputs = row_facts<RowProgram>::inputs;
  if constexpr (phase_has<RowProgram, Number, Slot, Anew>) {
    if constexpr (Slot < inputs && !is_staged<RowProgram, Slot>) {
      if (operands.in_packs[Slot])
        pack = device_load(reinterpret_cast<const Pack*>(
            static_cast<const row_slot_type<RowProgram, Slot>*>(operands.values.data[Slot]) + t.start[Slot] + first));
      else
        load_elements<Slot>(operands, t, pack, first);
    } else if constexpr (Slot < inputs || !Anew) {
      bool same = false;
      if constexpr (Slot < inputs) same = operands.same[Slot];
      const int at = (same ? t.place : t.thread) + step * operands.grid.threads();
      pack = device_load(reinterpret_cast<const Pack*>(t.memory + operands.at[Slot]) + at);
    }
  }
}

/// Computes one lane of what a phase would keep.
template <class RowProgram, int Number, int Slot, bool Anew, class Source, class Pack>
ONTO_HD ONTO_INLINE void compute_kept(const Source& source, Pack& pack) {
  constexpr int inputs = row_facts<RowProgram>::inputs;
  if constexpr (Slot >= inputs && Anew && phase_has<RowProgram, Number, Slot, Anew>)
    pack.at[source.lane] =
        static_cast<row_slot_type<RowProgram, Slot>>(kept_program<RowProgram, Slot - inputs>::evaluate(source));
}

template <class RowProgram, class Slots = std::make_integer_sequence<int, row_facts<RowProgram>::slot_count>,
          class Lanes = std::make_integer_sequence<int, row_facts<RowProgram>::lanes>>
struct row_values_of;
template <class RowProgram, int... Slot, int... Lane>
struct row_values_of<RowProgram, std::integer_sequence<int, Slot...>, std::integer_sequence<int, Lane...>> {
  static constexpr int lanes = sizeof...(Lane);
  using loaded = lane_slots<lanes, std::integer_sequence<int, Slot...>, row_slot_type<RowProgram, Slot>...>;
  using source = row_source<row_thread_of<RowProgram>, loaded>;

  /// The values of a phase at a pack, of which the first is element `first` of the piece.
  template <class Program, int Number, bool Anew>
  ONTO_HD ONTO_INLINE static lane_pack<computed_t<Program::result>, lanes> at(const row_operands<RowProgram>& operands,
                                                                              const row_thread_of<RowProgram>& t,
                                                                              int step, int first) {
    loaded in{};
    (get_pack<RowProgram, Number, Slot, Anew>(operands, t, pack_of<Slot>(in), step, first), ...);
    return of<Program, Number, Anew>(t, in, t.begin + first, operands.lane_step);
  }
  /// The same of what was loaded: element `first` of the row, and those `lane_step` apart.
  template <class Program, int Number, bool Anew>
  ONTO_HD ONTO_INLINE static lane_pack<computed_t<Program::result>, lanes> of(const row_thread_of<RowProgram>& t,
                                                                              loaded& in, std::int64_t first,
                                                                              int lane_step) {
    lane_pack<computed_t<Program::result>, lanes> out;
    ((out.at[Lane] = lane<Program, Number, Anew>(source{{{t.operands}, in, Lane}, t, first + Lane * lane_step}, in)),
     ...);
    return out;
  }
  /// Brings what a phase reads of a piece, from element `from` on.
  template <int Number>
  ONTO_HD ONTO_INLINE static void phase(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                        int from) {
    (stage_if < Slot, is_staged<RowProgram, Slot> && phase_has < RowProgram, Number, Slot, true >> (operands, t, from),
     ...);
  }
  /// Brings the inputs of whole rows: `same`, those that are the same for all rows, or the others.
  ONTO_HD ONTO_INLINE static void stage_all(const row_operands<RowProgram>& operands,
                                            const row_thread_of<RowProgram>& t, bool same) {
    (stage_one_of<Slot>(operands, t, same), ...);
  }

 private:
  template <class Program, int Number, bool Anew>
  ONTO_HD ONTO_INLINE static computed_t<Program::result> lane(const source& from, loaded& in) {
    (compute_kept<RowProgram, Number, Slot, Anew>(from, pack_of<Slot>(in)), ...);
    return static_cast<computed_t<Program::result>>(Program::evaluate(from));
  }
  template <int K, bool Staged>
  ONTO_HD ONTO_INLINE static void stage_if(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                           int from) {
    if constexpr (Staged) stage_input<RowProgram, K>(operands, t, from);
  }
  template <int K>
  ONTO_HD ONTO_INLINE static void stage_one_of(const row_operands<RowProgram>& operands,
                                               const row_thread_of<RowProgram>& t, bool same) {
    if constexpr (is_staged<RowProgram, K>)
      if (operands.same[K] == same) stage_input<RowProgram, K>(operands, t, 0);
  }
};

/// Writes a pack of the result.
template <class RowProgram, class To, class T, int Lanes>
ONTO_HD ONTO_INLINE void store_elements(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                        To* row, const lane_pack<T, Lanes>& values, int first) {
  constexpr int result = row_facts<RowProgram>::inputs;
  lane_pack<To, Lanes> pack;
  for (int j = 0; j < Lanes; ++j) pack.at[j] = static_cast<To>(values.at[j]);
  if (operands.in_packs[result]) {
    device_store_result(reinterpret_cast<lane_pack<To, Lanes>*>(row + first), pack);
  } else {
    for (int j = 0; j < Lanes; ++j) {
      const int k = first + j * operands.lane_step;
      if (k < t.count) device_store(row + k * operands.step[result], pack.at[j]);
    }
  }
}

/// What a thread does of a phase that goes over the row. `Split`: over a piece of it, of which nothing is in shared
/// memory yet, and nothing is kept. *Returns* what it folded, if the phase folds.
template <class RowProgram, class Stage, int Number, bool Split>
ONTO_HD ONTO_INLINE auto phase_part(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t) {
  using program_type = typename Stage::code;
  using values_of = row_values_of<RowProgram>;
  constexpr int lanes = row_facts<RowProgram>::lanes;
  const int steps = operands.grid.steps;
  const auto over_piece = [&](auto&& take) {
    for (int from = 0; from < t.count; from += steps * t.stride) {
      if constexpr (Split) values_of::template phase<Number>(operands, t, from);
      ONTO_NO_UNROLL
      for (int i = 0; i < steps; ++i) {
        const int k = from + t.first + i * t.stride;
        if (k >= t.count) break;
        const auto values = values_of::template at<program_type, Number, Split>(operands, t, i, k);
        if constexpr (Stage::keeps && !Split) {
          constexpr int slot = row_facts<RowProgram>::inputs + kept_before<RowProgram, Number>;
          using pack = lane_pack<computed_t<program_type::result>, lanes>;
          device_store(reinterpret_cast<pack*>(t.memory + operands.at[slot]) + t.thread + i * operands.grid.threads(),
                       values);
        }
        take(values, k);
      }
    }
  };
  if constexpr (Stage::folds) {
    using accumulator_type = phase_accumulator<Stage>;
    auto state = accumulator_type::empty();
    over_piece([&](const auto& values, int k) {
      for (int j = 0; j < lanes; ++j)
        if (k + j * operands.lane_step < t.count)
          accumulator_type::add(state, values.at[j], t.begin + k + j * operands.lane_step);
    });
    return state;
  } else {
    over_piece([&](const auto& values, int k) {
      if constexpr (Stage::stores)
        store_elements(
            operands, t,
            static_cast<element_t<program_type::result>*>(operands.out) + t.start[row_facts<RowProgram>::inputs],
            values, k);
    });
    return 0;
  }
}

/// What a phase computes once for the row.
template <class RowProgram, class Stage, int Number>
ONTO_HD ONTO_INLINE void stage_value(row_thread_of<RowProgram>& t) {
  using program_type = typename Stage::code;
  using thread = row_thread_of<RowProgram>;
  t.given[given_before<RowProgram, Number>] = to_bits(static_cast<computed_t<program_type::result>>(
      program_type::evaluate(column_source<thread>{{{{t.operands}, 0, 0}, t, 0}})));
}

/// What follows when all that was folded of the row is in `state`; `stores`: whether this thread is to store it, if it
/// is to be stored.
template <class RowProgram, class Stage, int Number, class State>
ONTO_HD ONTO_INLINE void stage_end(const row_operands<RowProgram>& operands, row_thread_of<RowProgram>& t,
                                   const State& state, bool stores) {
  using accumulator_type = phase_accumulator<Stage>;
  if constexpr (Stage::stores) {
    if (stores)
      device_store(static_cast<typename accumulator_type::result*>(operands.out) + t.number,
                   accumulator_type::finish(state, t.length));
  } else {
    t.given[given_before<RowProgram, Number>] = to_bits(accumulator_type::finish(state, t.length));
  }
}

}  // namespace onto::detail
