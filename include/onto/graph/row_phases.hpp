// SPDX-License-Identifier: BSL-1.0
// Phases of a row kernel: its instructions come apart at the folds, since a row's fold has to be done before what uses
// it begins. What is dear and used by several phases is kept between them; the rest is computed again.
#pragma once

#include <onto/graph/kernel_codegen.hpp>
#include <onto/graph/phase_kind.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

struct row_phase_code {
  phase_kind kind = phase_kind::store;
  int target = -1;  // the instruction whose register it is about
  int fold = 0;
};

/// Takes the instructions of a row kernel apart. What phases know of each other are numbers: kept values follow the
/// inputs, results of folds and values of a row follow the scalars, in the order of the phases that make them.
template <int Room>
struct row_phases {
  const kernel_instruction* lines = nullptr;
  int count = 0;
  int inputs = 0;
  int scalars = 0;
  int keeps = 0;   // kept values
  int folded = 0;  // results of folds, and values of a row
  row_phase_code phases[2 * Room]{};
  int phase_count = 0;
  int kept[Room]{};  // per instruction: the number of the kept value that it is; or -1
  int slot[Room]{};  // per instruction: the number of the value of a row that it is; or -1

  /// `last_fold`: by what the last instruction's values are folded, where the root is a reduction; else -1.
  constexpr row_phases(const kernel_instruction* code, int code_count, int input_count, int scalar_count, int last_fold)
      : lines(code), count(code_count), inputs(input_count), scalars(scalar_count) {
    std::uint64_t wanted[Room]{};  // by which phases an instruction's values are used, a bit each
    bool exported[Room]{};
    find_uses(wanted, exported);
    int fold_number = 0;
    for (int i = 0; i < count; ++i) {
      slot[i] = -1;
      if (lines[i].op == kernel_instruction::folded) {
        const int of = lines[i].argument[0];
        const std::uint64_t me = std::uint64_t{1} << fold_number++;
        for (int k = 0; k < i; ++k)
          if (kept[k] == waiting && (wanted[k] & (~wanted[k] + 1)) == me) {
            kept[k] = keeps++;
            if (k != of) phases[phase_count++] = {phase_kind::keep, k, 0};
          }
        const bool keeps_it = kept[of] >= 0 && (wanted[of] & (~wanted[of] + 1)) == me;
        phases[phase_count++] = {keeps_it ? phase_kind::kept_fold : phase_kind::fold, of, lines[i].argument[1]};
        slot[i] = folded++;
      } else if (exported[i]) {
        phases[phase_count++] = {phase_kind::value, i, 0};
        slot[i] = folded++;
      }
    }
    phases[phase_count++] = last_fold >= 0 ? row_phase_code{phase_kind::store_fold, count - 1, last_fold}
                                           : row_phase_code{phase_kind::store, count - 1, 0};
  }

  /// The instructions of one phase. *Returns* how many, at most `Room`.
  constexpr int code_of(int phase, kernel_instruction* out) const {
    const int target = phases[phase].target;
    bool needed[Room]{};
    needed[target] = true;
    for (int i = target; i >= 0; --i)
      if (needed[i] && !is_given(i, target))
        for (int k = 0; k < operands_of(i); ++k) needed[lines[i].argument[k]] = true;
    int position[Room]{};
    int n = 0;
    for (int i = 0; i <= target; ++i) {
      if (!needed[i]) continue;
      kernel_instruction line = lines[i];
      if (i != target && kept[i] >= 0) {
        line.op = kernel_instruction::input;
        line.argument[0] = inputs + kept[i];
        line.count = 1;
      } else if (i != target && slot[i] >= 0) {
        line.op = kernel_instruction::scalar;
        line.argument[0] = scalars + slot[i];
        line.count = 1;
      } else {
        for (int k = 0; k < operands_of(i); ++k) line.argument[k] = position[line.argument[k]];
      }
      position[i] = n;
      out[n++] = line;
    }
    return n;
  }

 private:
  static constexpr int waiting = -2;  // kept, and not yet numbered

  /// Whether a phase is given the value of an instruction, rather than computing it.
  constexpr bool is_given(int i, int target) const { return i != target && (kept[i] >= 0 || slot[i] >= 0); }

  constexpr int operands_of(int i) const {
    const kernel_instruction& x = lines[i];
    if (x.op == kernel_instruction::input || x.op == kernel_instruction::scalar) return 0;
    return x.op == kernel_instruction::folded ? 1 : x.count;
  }

  constexpr void find_uses(std::uint64_t* wanted, bool* exported) {
    int folds = 0;
    int cost[Room]{};  // to compute again
    for (int i = 0; i < count; ++i) {
      const kernel_instruction& x = lines[i];
      kept[i] = -1;
      folds += x.op == kernel_instruction::folded ? 1 : 0;
      if (x.column || x.op == kernel_instruction::input) continue;
      cost[i] = x.cost;
      for (int k = 0; k < operands_of(i); ++k) cost[i] += cost[x.argument[k]];
      if (cost[i] > recompute_limit) cost[i] = recompute_limit;
    }
    wanted[count - 1] = std::uint64_t{1} << folds;
    for (int i = count - 1; i >= 0; --i) {
      const kernel_instruction& x = lines[i];
      std::uint64_t by = wanted[i];
      if (x.op == kernel_instruction::folded) {
        by = std::uint64_t{1} << --folds;
      } else if (x.column) {
        continue;  // once a row, from other such values
      } else if ((by & (by - 1)) != 0 && cost[i] >= recompute_limit) {
        kept[i] = waiting;
        by &= ~by + 1;  // the first of them computes it
      }
      for (int k = 0; k < operands_of(i); ++k) {
        const int o = x.argument[k];
        wanted[o] |= by;
        const kernel_instruction& y = lines[o];
        if (y.column && y.op != kernel_instruction::scalar && y.op != kernel_instruction::folded && y.count > 0)
          exported[o] = true;
      }
    }
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
