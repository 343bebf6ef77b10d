// SPDX-License-Identifier: BSL-1.0
// Row kernels on the CPU: a row at a time goes through all stages while it is in the nearest cache.
#pragma once

#include <onto/backend/cpu/row_span.hpp>
#include <onto/backend/cpu/row_worker.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/row_phases.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

template <class Phase, bool Packs>
struct row_step_of {
  using code = typename Phase::code;
  static constexpr row_step find() {
    row_step s{};
    s.kind = static_cast<decltype(s.kind)>(Phase::kind);
    s.type = Phase::type;
    if constexpr (Phase::folds) {
      s.take = &fold_span<code, Phase::reduction, Phase::keeps, Packs>;
      s.table = &fold_table_of<fold_or_max(Phase::reduction), element_t<Phase::type>>;
    } else if constexpr (Phase::kind == stage_kind::value) {
      s.span = &value_span<code>;
    } else {
      s.span = &row_span<code, Packs>;
    }
    return s;
  }
  static constexpr row_step value = find();
};

/// Runs one stage over a row. `kept` and `given`: how many values the stages before have kept and given.
template <class Stage, bool Packs>
ONTO_INLINE void run_row_stage(const row_call& row, int kept, int given) {
  constexpr row_step step = row_step_of<Stage, Packs>::value;
  constexpr element type = row_step_of<Stage, Packs>::value.type;
  span_call c{row.at, nullptr, row.number * row.count, row.count, row.scalars};
  if constexpr (row_plan::is_kept(step)) c.out = row.at[kept];
  // By its kind: that an address is not null is no constant under -fsanitize=undefined (g++ 12).
  if constexpr (step.kind == row_step::fold || step.kind == row_step::kept_fold || step.kind == row_step::store_fold) {
    union {
      compensated_sum largest;
      double sum;
    } accumulator;
    step.table->start(&accumulator, 1);
    step.take(c, &accumulator);
    if constexpr (step.kind == row_step::store_fold) {
      step.table->finish(&accumulator, 1, row.count, row.out);
    } else {
      element_t<type> result;
      if constexpr (type == element::float32 &&
                    Stage::reduction == fold::mean)  // a division takes longer, and says the same
        result = static_cast<float>(accumulator.sum * row.share);
      else
        step.table->finish(&accumulator, 1, row.count, &result);
      row.scalars[given] = bits_of_value(result);
    }
  } else {
    if constexpr (step.kind == row_step::store) c.out = row.out;
    if constexpr (step.kind == row_step::value) c.out = row.scalars + given;
    step.span(c);
  }
}

template <class RowProgram, bool Packs>
struct row_kernel_of;
template <int Inputs, int Scalars, class... Stages, bool Packs>
struct row_kernel_of<row_program<Inputs, Scalars, Stages...>, Packs> {
  static constexpr row_step steps[] = {row_step_of<Stages, Packs>::value...};
  struct columns {
    bool at[Inputs + 1]{};
  };
  static constexpr columns find_columns() {
    columns c;
    ((row_step_of<Stages, Packs>::value.kind == row_step::value
          ? note_inputs(typename row_step_of<Stages, Packs>::code{}, c.at, Inputs)
          : void()),
     ...);
    return c;
  }
  static constexpr columns found = find_columns();
  static constexpr int count_kinds(bool keeps) {
    int n = 0;
    for (const row_step& s : steps) n += keeps ? row_plan::is_kept(s) : gives(s);
    return n;
  }
  static void run(const row_call* rows, int count) {
    int kept = Inputs, given = Scalars;
    (run_stage<Stages>(rows, count, kept, given), ...);
  }
  template <class Stage>
  static ONTO_INLINE void run_stage(const row_call* rows, int count, int& kept, int& given) {
    for (int r = 0; r < count; ++r) run_row_stage<Stage, Packs>(rows[r], kept, given);
    kept += row_plan::is_kept(row_step_of<Stage, Packs>::value) ? 1 : 0;
    given += gives(row_step_of<Stage, Packs>::value) ? 1 : 0;
  }
  static constexpr bool gives(const row_step& s) {
    return s.kind == row_step::fold || s.kind == row_step::kept_fold || s.kind == row_step::value;
  }
  static constexpr row_kernel value{&run,
                                    steps,
                                    sizeof...(Stages),
                                    Inputs,
                                    Scalars,
                                    count_kinds(true),
                                    count_kinds(false),
                                    (program_cost(typename row_step_of<Stages, Packs>::code{}) + ...),
                                    found.at};
};

/// The kernel of a row program.
template <class RowProgram, bool Packs = has_packs>
void cpu_row(thread_pool& pool, const kernel_call& call) {
  run_row_kernel(pool, row_kernel_of<RowProgram, Packs>::value, call);
}

}  // namespace onto::detail
