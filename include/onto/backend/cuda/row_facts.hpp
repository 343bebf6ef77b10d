// SPDX-License-Identifier: BSL-1.0
// What a GPU's row kernel must know of its program's type: how phases accumulate, what they keep and give, which inputs
// they load and how wide.
#pragma once

#include <onto/backend/cuda/operands.hpp>
#include <onto/kernel/accumulator.hpp>
#include <onto/kernel/row_phases.hpp>

#include <type_traits>

namespace onto::detail {

/// How a phase accumulates. A fold inside is not rounded to half or bfloat16, one that is stored is.
template <class Phase>
using phase_accumulator = std::conditional_t<Phase::stores, accumulator_of<Phase::reduction, element_t<Phase::type>>,
                                             accumulator<fold_or_max(Phase::reduction), computed_t<Phase::type>>>;

/// The most inputs of a row kernel that go through shared memory, and are read from global memory once; others are read
/// wherever they are used.
inline constexpr int most_staged_inputs = 12;

/// What is known of the slots of a row program: its inputs, and after them what it keeps.
template <int Stages, int Slots>
struct row_slot_table {
  bool loads[Stages][Slots]{};  // by which phase, for each element of a row or once for it
  bool needs[Stages][Slots]{};  // where a phase computes anew what others would keep for it
  bool column[Slots]{};         // read once for each row
  bool elements[Slots]{};       // read for each element of it
  int readers[Slots]{};         // by so many phases
  bool staged[Slots]{};         // goes through shared memory
  int last[Slots]{};            // the last phase that loads it
  element type[Slots]{};        // inputs have the elements' own, kept values are computed ones
  int size[Slots]{};            // in bytes
  int lanes = 4;                // elements at a time: 16 bytes of the widest

  template <class Table>
  constexpr void note(int phase, const Table& found, int count) {
    for (int k = 0; k < count; ++k)
      if (found.loads[k]) loads[phase][k] = true, type[k] = found.type[k];
  }
};

template <class RowProgram>
struct row_facts;
template <int Inputs, int Scalars, class... Stages>
struct row_facts<row_program<Inputs, Scalars, Stages...>> {
  static constexpr int inputs = Inputs, scalars = Scalars;
  static constexpr int phases = sizeof...(Stages);

  using program_type = row_program<Inputs, Scalars, Stages...>;
  static constexpr int keeps = program_type::kept_before(phases);
  static constexpr int given = program_type::given_before(phases);
  static constexpr int folds = program_type::folds_before(phases);

  static constexpr int slot_count = Inputs + keeps;
  using slot_table = row_slot_table<phases, (slot_count > 0 ? slot_count : 1)>;
  static constexpr slot_table find() {
    constexpr bool columns[] = {Stages::kind == phase_kind::value...};
    slot_table t;
    int phase = 0;
    (t.note(phase++, program_operands<typename Stages::code>::found, program_operands<typename Stages::code>::inputs),
     ...);
    int widest = result_size(), staged = 0;
    for (int k = 0; k < slot_count; ++k) {
      for (int s = 0; s < phases; ++s) {
        if (!t.loads[s][k]) continue;
        (columns[s] ? t.column : t.elements)[k] = true;
        if (!columns[s]) ++t.readers[k];
        t.last[k] = s;
      }
      t.size[k] = size_of(k < Inputs ? t.type[k] : computed_as(t.type[k]));
      t.staged[k] = k < Inputs && t.elements[k] && staged < most_staged_inputs;
      if (t.staged[k]) ++staged;
      if ((k >= Inputs || t.elements[k]) && t.size[k] > widest) widest = t.size[k];
    }
    for (int s = 0; s < phases; ++s)
      for (int k = 0; k < slot_count; ++k) {
        if (!t.loads[s][k]) continue;
        t.needs[s][k] = true;
        for (int i = 0; k >= Inputs && i < slot_count; ++i)
          if (t.needs[program_type::phase_of_kept(k - Inputs)][i]) t.needs[s][i] = true;
      }
    t.lanes = widest > 4 ? 2 : widest == 2 ? 8 : 4;
    return t;
  }
  using last_phase = typename program_type::template phase<phases - 1>;
  /// Bytes of an element that is stored.
  static constexpr int result_size() { return size_of(last_phase::type); }
  static constexpr bool stores_fold() { return last_phase::folds; }
  static constexpr slot_table table = find();
  static constexpr int lanes = table.lanes;

  /// Packs of each slot that a thread can hold in registers: 8 of one slot of 16 bytes, 4 of up to three; 0: there are
  /// too many slots. What is kept takes the place of an input that is not read any more.
  static constexpr int packs_held() {
    int bytes = 0;
    bool taken[slot_count > 0 ? slot_count : 1] = {};
    for (int k = 0; k < slot_count; ++k) {
      const bool kept = k >= Inputs;
      if (!kept && table.readers[k] < 2) continue;
      int place = 0;
      while (place < Inputs &&
             !(kept && table.readers[place] > 1 && !taken[place] && table.size[place] >= table.size[k] &&
               table.last[place] <= program_type::phase_of_kept(k - Inputs)))
        ++place;
      if (place < Inputs)
        taken[place] = true;
      else
        bytes += table.size[k] * lanes;
    }
    return bytes <= 16 ? 8 : bytes <= 48 ? 4 : 0;
  }
};

// As variables, since device code may not call the functions, even for a constant.
template <class RowProgram, int Stage>
inline constexpr int kept_before = RowProgram::kept_before(Stage);
template <class RowProgram, int Stage>
inline constexpr int given_before = RowProgram::given_before(Stage);
template <class RowProgram, int Stage>
inline constexpr int folds_before = RowProgram::folds_before(Stage);
/// Whether a phase is to have a slot: `Anew`, for what it computes instead of reading what was kept, too.
template <class RowProgram, int Stage, int Slot, bool Anew>
inline constexpr bool phase_has =
    Anew ? row_facts<RowProgram>::table.needs[Stage][Slot] : row_facts<RowProgram>::table.loads[Stage][Slot];
template <class RowProgram, int Slot>
inline constexpr bool is_staged = row_facts<RowProgram>::table.staged[Slot];
template <class RowProgram, int Slot>
using row_slot_type =
    std::conditional_t<(Slot < RowProgram::inputs), element_t<row_facts<RowProgram>::table.type[Slot]>,
                       computed_t<row_facts<RowProgram>::table.type[Slot]>>;

/// The program of what is kept under a number.
template <class RowProgram, int Number>
using kept_program = typename RowProgram::template phase<RowProgram::phase_of_kept(Number)>::code;

}  // namespace onto::detail
