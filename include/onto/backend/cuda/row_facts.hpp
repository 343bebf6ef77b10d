// SPDX-License-Identifier: BSL-1.0
// What a GPU's row kernel must know of its program's type: how stages accumulate, what they keep and give, which inputs
// they load and how wide.
#pragma once

#include <onto/backend/cuda/operands.hpp>
#include <onto/kernel/accumulator.hpp>
#include <onto/runtime/row.hpp>

#include <type_traits>

namespace onto::detail {

/// What a stage does: folds, keeps its values, gives a value to later stages, stores its values.
template <class Program, bool Folds, bool Keeps, bool Gives, bool Stores>
struct stage_facts {
  using code = Program;
  static constexpr bool folds = Folds, keeps = Keeps, gives = Gives, stores = Stores;
  static constexpr element type = Program::result;
  /// Bytes of a kept value.
  static constexpr int kept_size = Keeps ? static_cast<int>(sizeof(computed_t<type>)) : 0;
};
template <class Stage>
struct stage_of;
// A fold inside is not rounded to half or bfloat16, one that is stored is.
template <class Program, fold F, bool Keeps>
struct stage_of<fold_stage<Program, F, Keeps>> : stage_facts<Program, true, Keeps, true, false> {
  using accumulator_type = accumulator<fold_or_max(F), computed_t<Program::result>>;
};
template <class Program>
struct stage_of<keep_stage<Program>> : stage_facts<Program, false, true, false, false> {};
template <class Program>
struct stage_of<value_stage<Program>> : stage_facts<Program, false, false, true, false> {};
template <class Program>
struct stage_of<store_stage<Program>> : stage_facts<Program, false, false, false, true> {};
template <class Program, fold F>
struct stage_of<store_fold_stage<Program, F>> : stage_facts<Program, true, false, false, true> {
  using accumulator_type = accumulator_of<F, element_t<Program::result>>;
};

/// Notes which slots a program loads, and of which types they are.
template <class... I>
constexpr void note_loads(program<I...>, bool* loads, element* types) {
  constexpr int slot[] = {slots_used<I>::inputs - 1 ...};
  constexpr element type[] = {I::type...};
  for (int k = 0; k < static_cast<int>(sizeof...(I)); ++k) {
    if (slot[k] < 0) continue;
    loads[slot[k]] = true;
    types[slot[k]] = type[k];
  }
}

/// How many of the first `end` are true.
constexpr int count_before(const bool* has, int end) {
  int n = 0;
  for (int k = 0; k < end; ++k) n += has[k] ? 1 : 0;
  return n;
}

/// The most inputs of a row kernel that go through shared memory, and are read from global memory once; others are read
/// wherever they are used.
inline constexpr int most_staged_inputs = 12;

/// What is known of the slots of a row program: its inputs, and after them what it keeps.
template <int Stages, int Slots>
struct row_slot_table {
  bool loads[Stages][Slots]{};  // by which stage, for each element of a row or once for it
  bool needs[Stages][Slots]{};  // where a stage computes anew what others would keep for it
  bool column[Slots]{};         // read once for each row
  bool elements[Slots]{};       // read for each element of it
  bool staged[Slots]{};         // goes through shared memory
  int last[Slots]{};            // the last stage that loads it
  element type[Slots]{};        // inputs have the elements' own, kept values are computed ones
  int size[Slots]{};            // in bytes
  int lanes = 4;                // elements at a time: 16 bytes of the widest
};

template <class RowProgram>
struct row_facts;
template <int Inputs, int Scalars, class... Stages>
struct row_facts<row_program<Inputs, Scalars, Stages...>> {
  static constexpr int inputs = Inputs, scalars = Scalars;
  static constexpr int stages = sizeof...(Stages);

  /// How many stages before this one keep values, give a value, fold.
  static constexpr int kept_before(int stage) {
    constexpr bool keeps[] = {stage_of<Stages>::keeps...};
    return count_before(keeps, stage);
  }
  static constexpr int given_before(int stage) {
    constexpr bool gives[] = {stage_of<Stages>::gives...};
    return count_before(gives, stage);
  }
  static constexpr int folds_before(int stage) {
    constexpr bool folds[] = {stage_of<Stages>::folds...};
    return count_before(folds, stage);
  }
  static constexpr int keeps = kept_before(stages);
  static constexpr int given = given_before(stages);
  static constexpr int folds = folds_before(stages);

  /// The stage that keeps value `number`.
  static constexpr int stage_of_kept(int number) {
    int stage = 0;
    while (kept_before(stage + 1) <= number) ++stage;
    return stage;
  }

  static constexpr int slots = Inputs + keeps;
  using slot_table = row_slot_table<stages, (slots > 0 ? slots : 1)>;
  static constexpr slot_table find() {
    constexpr bool gives[] = {stage_of<Stages>::gives...}, folds[] = {stage_of<Stages>::folds...};
    constexpr int sizes[] = {stage_of<Stages>::kept_size...};
    slot_table t;
    int stage = 0;
    (note_loads(typename stage_of<Stages>::code{}, t.loads[stage++], t.type), ...);
    int widest = result_size(), staged = 0;
    for (int k = 0; k < slots; ++k) {
      for (int s = 0; s < stages; ++s) {
        if (!t.loads[s][k]) continue;
        (gives[s] && !folds[s] ? t.column : t.elements)[k] = true;
        t.last[k] = s;
      }
      t.size[k] = k < Inputs ? size_of(t.type[k]) : sizes[stage_of_kept(k - Inputs)];
      t.staged[k] = k < Inputs && t.elements[k] && staged < most_staged_inputs;
      if (t.staged[k]) ++staged;
      if ((k >= Inputs || t.elements[k]) && t.size[k] > widest) widest = t.size[k];
    }
    for (int s = 0; s < stages; ++s)
      for (int k = 0; k < slots; ++k) {
        if (!t.loads[s][k]) continue;
        t.needs[s][k] = true;
        for (int i = 0; k >= Inputs && i < slots; ++i)
          if (t.needs[stage_of_kept(k - Inputs)][i]) t.needs[s][i] = true;
      }
    t.lanes = widest > 4 ? 2 : widest == 2 ? 8 : 4;
    return t;
  }
  /// Bytes of an element that is stored.
  static constexpr int result_size() {
    constexpr int sizes[] = {size_of(stage_of<Stages>::type)...};
    return sizes[stages - 1];
  }
  static constexpr bool stores_fold() {
    constexpr bool folds[] = {stage_of<Stages>::folds...};
    return folds[stages - 1];
  }
  static constexpr slot_table table = find();
  static constexpr int lanes = table.lanes;
  static constexpr bool few_inputs = Inputs <= max_kernel_inputs;
  static_assert(
      few_inputs,
      "[onto.cuda] a kernel takes at most 192 tensors; give a part of the expression a name with named<\"h\">(e)");
};

// As variables, since device code may not call the functions, even for a constant.
template <class RowProgram, int Stage>
inline constexpr int kept_before = row_facts<RowProgram>::kept_before(Stage);
template <class RowProgram, int Stage>
inline constexpr int given_before = row_facts<RowProgram>::given_before(Stage);
template <class RowProgram, int Stage>
inline constexpr int folds_before = row_facts<RowProgram>::folds_before(Stage);
/// Whether a stage is to have a slot: `Anew`, for what it computes instead of reading what was kept, too.
template <class RowProgram, int Stage, int Slot, bool Anew>
inline constexpr bool stage_has =
    Anew ? row_facts<RowProgram>::table.needs[Stage][Slot] : row_facts<RowProgram>::table.loads[Stage][Slot];
template <class RowProgram, int Slot>
inline constexpr bool is_staged = row_facts<RowProgram>::table.staged[Slot];
template <class RowProgram, int Slot>
using row_slot_type =
    std::conditional_t<(Slot < RowProgram::inputs), element_t<row_facts<RowProgram>::table.type[Slot]>,
                       computed_t<row_facts<RowProgram>::table.type[Slot]>>;

/// The program of what is kept under a number.
template <class RowProgram, int Number>
struct kept_program;
template <int Inputs, int Scalars, class... Stages, int Number>
struct kept_program<row_program<Inputs, Scalars, Stages...>, Number> {
  template <int K, class... S>
  struct nth;
  template <int K, class S, class... Rest>
  struct nth<K, S, Rest...> : nth<K - 1, Rest...> {};
  template <class S, class... Rest>
  struct nth<0, S, Rest...> {
    using type = S;
  };
  using stage =
      typename nth<row_facts<row_program<Inputs, Scalars, Stages...>>::stage_of_kept(Number), Stages...>::type;
  using type = typename stage_of<stage>::code;
};

}  // namespace onto::detail
