// SPDX-License-Identifier: BSL-1.0
// Stages of a row kernel: its instructions come apart at the folds, since a row's fold has to be done before what uses
// it begins. What is dear and used by several stages is kept between them; the rest is computed again.
#pragma once

#include <onto/graph/code.hpp>
#include <onto/graph/stage_kind.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

struct row_stage {
  stage_kind kind = stage_kind::store;
  int target = -1;  // the instruction whose register it is about
  int fold = 0;
};

/// Takes the instructions of a row kernel apart. What stages know of each other are numbers: kept values follow the
/// inputs, results of folds and values of a row follow the scalars, in the order of the stages that make them.
template <int Room>
struct row_stages {
  const code_line* lines = nullptr;
  int count = 0;
  int inputs = 0;
  int scalars = 0;
  int keeps = 0;   // kept values
  int folded = 0;  // results of folds, and values of a row
  row_stage stages[2 * Room]{};
  int stage_count = 0;
  int kept[Room]{};  // per instruction: the number of the kept value that it is; or -1
  int slot[Room]{};  // per instruction: the number of the value of a row that it is; or -1

  /// `last_fold`: by what the last instruction's values are folded, where the root is a reduction; else -1.
  constexpr row_stages(const code_line* code, int code_count, int input_count, int scalar_count, int last_fold)
      : lines(code), count(code_count), inputs(input_count), scalars(scalar_count) {
    std::uint64_t wanted[Room]{};  // by which stages an instruction's values are used, a bit each
    bool exported[Room]{};
    find_uses(wanted, exported);
    int fold_number = 0;
    for (int i = 0; i < count; ++i) {
      slot[i] = -1;
      if (lines[i].op == code_line::folded) {
        const int of = lines[i].argument[0];
        const std::uint64_t me = std::uint64_t{1} << fold_number++;
        for (int k = 0; k < i; ++k)
          if (kept[k] == waiting && (wanted[k] & (~wanted[k] + 1)) == me) {
            kept[k] = keeps++;
            if (k != of) stages[stage_count++] = {stage_kind::keep, k, 0};
          }
        const bool keeps_it = kept[of] >= 0 && (wanted[of] & (~wanted[of] + 1)) == me;
        stages[stage_count++] = {keeps_it ? stage_kind::kept_fold : stage_kind::fold, of, lines[i].argument[1]};
        slot[i] = folded++;
      } else if (exported[i]) {
        stages[stage_count++] = {stage_kind::value, i, 0};
        slot[i] = folded++;
      }
    }
    stages[stage_count++] = last_fold >= 0 ? row_stage{stage_kind::store_fold, count - 1, last_fold}
                                           : row_stage{stage_kind::store, count - 1, 0};
  }

  /// The instructions of one stage. *Returns* how many, at most `Room`.
  constexpr int code_of(int stage, code_line* out) const {
    const int target = stages[stage].target;
    bool needed[Room]{};
    needed[target] = true;
    for (int i = target; i >= 0; --i)
      if (needed[i] && !is_given(i, target))
        for (int k = 0; k < operands_of(i); ++k) needed[lines[i].argument[k]] = true;
    int position[Room]{};
    int n = 0;
    for (int i = 0; i <= target; ++i) {
      if (!needed[i]) continue;
      code_line line = lines[i];
      if (i != target && kept[i] >= 0) {
        line.op = code_line::input;
        line.argument[0] = inputs + kept[i];
        line.count = 1;
      } else if (i != target && slot[i] >= 0) {
        line.op = code_line::scalar;
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

  /// Whether a stage is given the value of an instruction, rather than computing it.
  constexpr bool is_given(int i, int target) const { return i != target && (kept[i] >= 0 || slot[i] >= 0); }

  constexpr int operands_of(int i) const {
    const code_line& x = lines[i];
    if (x.op == code_line::input || x.op == code_line::scalar) return 0;
    return x.op == code_line::folded ? 1 : x.count;
  }

  constexpr void find_uses(std::uint64_t* wanted, bool* exported) {
    int folds = 0;
    int cost[Room]{};  // to compute again
    for (int i = 0; i < count; ++i) {
      const code_line& x = lines[i];
      kept[i] = -1;
      folds += x.op == code_line::folded ? 1 : 0;
      if (x.column || x.op == code_line::input) continue;
      cost[i] = x.cost;
      for (int k = 0; k < operands_of(i); ++k) cost[i] += cost[x.argument[k]];
      if (cost[i] > recompute_limit) cost[i] = recompute_limit;
    }
    wanted[count - 1] = std::uint64_t{1} << folds;
    for (int i = count - 1; i >= 0; --i) {
      const code_line& x = lines[i];
      std::uint64_t by = wanted[i];
      if (x.op == code_line::folded) {
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
        const code_line& y = lines[o];
        if (y.column && y.op != code_line::scalar && y.op != code_line::folded && y.count > 0) exported[o] = true;
      }
    }
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
