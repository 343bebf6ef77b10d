// SPDX-License-Identifier: BSL-1.0
// What a GPU's row kernel must know of its program's type: how stages accumulate, what they keep and give, which inputs
// they load and how wide.
#pragma once

#include <onto/backend/cuda/fold.hpp>
#include <onto/backend/cuda/operands.hpp>
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
  using accumulation_type = accumulation<fold_or_max(F), computed_t<Program::result>>;
};
template <class Program>
struct stage_of<keep_stage<Program>> : stage_facts<Program, false, true, false, false> {};
template <class Program>
struct stage_of<value_stage<Program>> : stage_facts<Program, false, false, true, false> {};
template <class Program>
struct stage_of<store_stage<Program>> : stage_facts<Program, false, false, false, true> {};
template <class Program, fold F>
struct stage_of<store_fold_stage<Program, F>> : stage_facts<Program, true, false, false, true> {
  using accumulation_type = accumulation_of<F, element_t<Program::result>>;
};

/// Whether a program loads input `slot`.
template <class... I>
constexpr bool loads_input(program<I...>, int slot) {
  for (int s : {slots_used<I>::inputs - 1 ...})
    if (s == slot) return true;
  return false;
}

template <class RowProgram>
struct row_facts;
template <int Inputs, int Scalars, class... Stages>
struct row_facts<row_program<Inputs, Scalars, Stages...>> {
  static constexpr int inputs = Inputs, scalars = Scalars;
  static constexpr int stages = sizeof...(Stages);

  static constexpr int kept_before(int stage) {
    constexpr bool keeps[] = {stage_of<Stages>::keeps...};
    int n = 0;
    for (int s = 0; s < stage; ++s) n += keeps[s] ? 1 : 0;
    return n;
  }
  static constexpr int given_before(int stage) {
    constexpr bool gives[] = {stage_of<Stages>::gives...};
    int n = 0;
    for (int s = 0; s < stage; ++s) n += gives[s] ? 1 : 0;
    return n;
  }
  static constexpr int keeps = kept_before(stages);
  static constexpr int given = given_before(stages);

  /// The size of kept value `number`.
  static constexpr int kept_size(int number) {
    constexpr int sizes[] = {stage_of<Stages>::kept_size...};
    for (int size : sizes)
      if (size > 0 && number-- == 0) return size;
    return 0;
  }
  /// Whether an input is read once for each row.
  static constexpr bool is_column(int slot) {
    constexpr bool values[] = {stage_of<Stages>::gives && !stage_of<Stages>::folds...};
    const bool loads[] = {loads_input(typename stage_of<Stages>::code{}, slot)...};
    for (int s = 0; s < stages; ++s)
      if (values[s] && loads[s]) return true;
    return false;
  }
  static constexpr int size_of_input(int slot) {
    const int sizes[] = {(loads_input(typename stage_of<Stages>::code{}, slot)
                              ? size_of(program_operands<typename stage_of<Stages>::code>::type_of_input(slot))
                              : 0)...};
    for (int size : sizes)
      if (size > 0) return size;
    return 1;
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
  /// Elements at a time, where operands are contiguous and aligned: 16 bytes of the widest.
  static constexpr int find_lanes() {
    int widest = result_size();
    for (int k = 0; k < Inputs; ++k)
      if (!is_column(k) && size_of_input(k) > widest) widest = size_of_input(k);
    for (int k = 0; k < keeps; ++k)
      if (kept_size(k) > widest) widest = kept_size(k);
    return widest > 4 ? 2 : widest == 2 ? 8 : 4;
  }
  static constexpr int lanes = find_lanes();
  static constexpr bool few_inputs = Inputs <= max_kernel_inputs;
  static_assert(
      few_inputs,
      "[onto.cuda] a kernel takes at most 192 tensors; give a part of the expression a name with named<\"h\">(e)");
};

// As variables, since device code may not call the functions, even for a constant.
template <class Program, int Slot>
inline constexpr bool loads_slot = loads_input(Program{}, Slot);
template <class RowProgram, int Stage>
inline constexpr int kept_before = row_facts<RowProgram>::kept_before(Stage);
template <class RowProgram, int Stage>
inline constexpr int given_before = row_facts<RowProgram>::given_before(Stage);

}  // namespace onto::detail
