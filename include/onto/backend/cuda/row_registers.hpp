// SPDX-License-Identifier: BSL-1.0
// Rows in registers: what a thread holds of a row that is short enough, and what it does with it in each phase. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/row_phase.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// Whether a thread holds a slot of its row: an input that several phases read, or what a phase keeps. Other inputs are
/// read where they are used.
template <class RowProgram, int Slot>
inline constexpr bool is_held = Slot >= RowProgram::inputs || row_facts<RowProgram>::table.readers[Slot] > 1;

/// Several packs of a slot; none where it is not held.
template <int Slot, class Pack, int Packs, bool Held>
struct held_packs {
  Pack pack[Packs];
};
template <int Slot, class Pack, int Packs>
struct held_packs<Slot, Pack, Packs, false> {};

template <class RowProgram, class Slots = std::make_integer_sequence<int, row_facts<RowProgram>::slot_count>>
struct row_registers;
template <class RowProgram, int... Slot>
struct row_registers<RowProgram, std::integer_sequence<int, Slot...>>
    : held_packs<Slot, lane_pack<row_slot_type<RowProgram, Slot>, row_facts<RowProgram>::lanes>,
                 row_facts<RowProgram>::packs_held(), is_held<RowProgram, Slot>>... {};

template <int Slot, class Pack, int Packs>
ONTO_HD ONTO_INLINE Pack& held_pack(held_packs<Slot, Pack, Packs, true>& h, int number) {
  return h.pack[number];
}

/// Reads `Count` packs of an input, from the thread's pack `number` on. Nothing else stands between the loads: they are
/// to be under way together.
template <class RowProgram, int Slot, int Count, class Pack>
ONTO_HD ONTO_INLINE void read_packs(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                    Pack* const (&packs)[Count], int number) {
  using T = row_slot_type<RowProgram, Slot>;
  const T* const row = static_cast<const T*>(operands.values.data[Slot]) + t.start[Slot];
  if (operands.in_packs[Slot]) {
    for (int a = 0; a < Count; ++a) {
      const int k = t.first + (number + a) * t.stride;
      if (k < t.count) *packs[a] = device_load(reinterpret_cast<const Pack*>(row + k));
    }
  } else {  // one element for all of the row
    const T same = device_load(row);
    for (int a = 0; a < Count; ++a)
      for (int j = 0; j < row_facts<RowProgram>::lanes; ++j) packs[a]->at[j] = same;
  }
}

template <class RowProgram, class Slots = std::make_integer_sequence<int, row_facts<RowProgram>::slot_count>>
struct register_row;
template <class RowProgram, int... Slot>
struct register_row<RowProgram, std::integer_sequence<int, Slot...>> {
  using facts = row_facts<RowProgram>;
  using registers = row_registers<RowProgram>;
  using values_of = row_values_of<RowProgram>;
  using loaded = typename values_of::loaded;
  static constexpr int lanes = facts::lanes, packs = facts::packs_held();
  /// Packs of inputs that are not held, and are loaded before any of them is used.
  static constexpr int together = packs < 4 ? packs : 4;

  /// Loads what is held.
  ONTO_HD ONTO_INLINE static void hold(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                       registers& r) {
    (hold_slot<Slot>(operands, t, r), ...);
  }

  /// What a thread does of a phase that goes over the row. *Returns* what it folded, if the phase folds.
  template <class Stage, int Number>
  ONTO_HD ONTO_INLINE static auto phase_part(const row_operands<RowProgram>& operands,
                                             const row_thread_of<RowProgram>& t, registers& r) {
    using program_type = typename Stage::code;
    if constexpr (Stage::folds) {
      using accumulator_type = phase_accumulator<Stage>;
      auto state = accumulator_type::empty();
      over_row<Stage, Number>(operands, t, r, [&](const auto& values, int k) {
        for (int j = 0; j < lanes; ++j) accumulator_type::add(state, values.at[j], k + j);
      });
      return state;
    } else {
      over_row<Stage, Number>(operands, t, r, [&](const auto& values, int k) {
        if constexpr (Stage::stores) {
          using to = element_t<program_type::result>;
          lane_pack<to, lanes> pack;
          for (int j = 0; j < lanes; ++j) pack.at[j] = static_cast<to>(values.at[j]);
          to* const row = static_cast<to*>(operands.out) + t.start[facts::inputs];
          device_store_result(reinterpret_cast<lane_pack<to, lanes>*>(row + k), pack);
        }
      });
      return 0;
    }
  }

 private:
  template <int K>
  ONTO_HD ONTO_INLINE static void hold_slot(const row_operands<RowProgram>& operands,
                                            const row_thread_of<RowProgram>& t, registers& r) {
    if constexpr (K < facts::inputs && is_held<RowProgram, K>) {
      lane_pack<row_slot_type<RowProgram, K>, lanes>* at[packs];
      for (int i = 0; i < packs; ++i) at[i] = &held_pack<K>(r, i);
      read_packs<RowProgram, K>(operands, t, at, 0);
    }
  }

  /// Loads what is not held of some packs, for a phase.
  template <int Number, int K>
  ONTO_HD ONTO_INLINE static void read(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                       loaded (&in)[together], int number) {
    if constexpr (phase_has<RowProgram, Number, K, false> && !is_held<RowProgram, K>) {
      lane_pack<row_slot_type<RowProgram, K>, lanes>* at[together];
      for (int a = 0; a < together; ++a) at[a] = &pack_of<K>(in[a]);
      read_packs<RowProgram, K>(operands, t, at, number);
    }
  }
  template <int Number, int K>
  ONTO_HD ONTO_INLINE static void take_held(registers& r, loaded& in, int number) {
    if constexpr (phase_has<RowProgram, Number, K, false> && is_held<RowProgram, K>)
      pack_of<K>(in) = held_pack<K>(r, number);
  }

  /// Hands the values of each pack, and its first element, to `take`.
  template <class Stage, int Number, class Take>
  ONTO_HD ONTO_INLINE static void over_row(const row_operands<RowProgram>& operands, const row_thread_of<RowProgram>& t,
                                           registers& r, const Take& take) {
    using program_type = typename Stage::code;
    for (int i = 0; i < packs; i += together) {
      loaded in[together];
      (read<Number, Slot>(operands, t, in, i), ...);
      for (int a = 0; a < together; ++a) {
        const int k = t.first + (i + a) * t.stride;
        if (k >= t.count) continue;
        (take_held<Number, Slot>(r, in[a], i + a), ...);
        const auto values = values_of::template of<program_type, Number, false>(t, in[a], k, 1);
        if constexpr (Stage::keeps) {
          constexpr int slot = facts::inputs + kept_before<RowProgram, Number>;
          held_pack<slot>(r, i + a) = values;
        }
        take(values, k);
      }
    }
  }
};

}  // namespace onto::detail
