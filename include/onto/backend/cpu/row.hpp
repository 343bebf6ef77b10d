// SPDX-License-Identifier: BSL-1.0
// Row kernels on the CPU: a row at a time goes through all phases while it is in L1.
#pragma once

#include <onto/backend/cpu/row_span.hpp>
#include <onto/backend/cpu/row_worker.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/row_phases.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

inline namespace ONTO_VECTOR_ABI {

template <class Phase, bool Packs, int Bytes>
constexpr row_step make_row_step() {
  using code = typename Phase::code;
  row_step s{Phase::kind, Phase::type, nullptr, nullptr, nullptr};
  if constexpr (Phase::folds) {
    s.take = row_fold_body<code, Phase::reduction, Phase::keeps, Packs>::variants::template get<Bytes>();
    s.table = &fold_table_of<fold_or_max(Phase::reduction), element_t<Phase::type>, fold_loops::none>;
  } else if constexpr (Phase::kind == phase_kind::value) {
    s.span = &value_span<code>;
  } else {
    s.span = row_span_body<code, Packs>::variants::template get<Bytes>();
  }
  return s;
}
template <class Phase, bool Packs, int Bytes>
inline constexpr row_step row_step_of = make_row_step<Phase, Packs, Bytes>();

/// Runs one phase over a row. `kept` and `given`: how many values the phases before have kept and given.
template <class Phase, bool Packs, int Bytes>
ONTO_INLINE void run_row_phase(const row_call& row, int kept, int given) {
  constexpr row_step step = row_step_of<Phase, Packs, Bytes>;
  span_call c{row.at, nullptr, row.number * row.count, row.count, row.scalars};
  if constexpr (Phase::keeps) c.out = row.at[kept];
  if constexpr (Phase::folds) {
    // Of the type that the table's functions have: the compiler sees through them.
    typename accumulator<fold_or_max(Phase::reduction), element_t<Phase::type>>::state state;
    step.table->start(&state, 1);
    step.take(c, &state);
    if constexpr (Phase::stores) {
      step.table->finish(&state, 1, row.count, row.out);
    } else {
      element_t<Phase::type> result;
      // A division takes longer, and says the same.
      if constexpr (Phase::type == element::float32 && Phase::reduction == fold::mean)
        result = static_cast<float>(state.number * row.share);
      else
        step.table->finish(&state, 1, row.count, &result);
      row.scalars[given] = bits_of_value(result);
    }
  } else {
    if constexpr (Phase::stores) c.out = row.out;
    if constexpr (Phase::gives) c.out = row.scalars + given;
    step.span(c);
  }
}

template <class RowProgram, bool Packs, int Bytes>
struct row_kernel_of;
template <int Inputs, int Scalars, class... Phases, bool Packs, int Bytes>
struct row_kernel_of<row_program<Inputs, Scalars, Phases...>, Packs, Bytes> {
  using program_type = row_program<Inputs, Scalars, Phases...>;
  static constexpr row_step steps[] = {row_step_of<Phases, Packs, Bytes>...};
  struct columns {
    bool at[Inputs + 1]{};
  };
  template <class Phase>
  static constexpr void note_columns(columns& c) {
    using operands = program_operands<typename Phase::code>;
    for (int k = 0; k < Inputs && k < operands::inputs && Phase::kind == phase_kind::value; ++k)
      c.at[k] = c.at[k] || operands::found.loads[k];
  }
  static constexpr columns find_columns() {
    columns c;
    (note_columns<Phases>(c), ...);
    return c;
  }
  static constexpr columns found = find_columns();

  static void run(const row_call* rows, int count) {
    int kept = Inputs, given = Scalars;
    (run_phase<Phases>(rows, count, kept, given), ...);
  }
  template <class Phase>
  static ONTO_INLINE void run_phase(const row_call* rows, int count, int& kept, int& given) {
    for (int r = 0; r < count; ++r) run_row_phase<Phase, Packs, Bytes>(rows[r], kept, given);
    kept += Phase::keeps ? 1 : 0;
    given += Phase::gives ? 1 : 0;
  }
  static constexpr row_kernel value{&run,
                                    steps,
                                    sizeof...(Phases),
                                    Inputs,
                                    Scalars,
                                    program_type::kept_before(sizeof...(Phases)),
                                    program_type::given_before(sizeof...(Phases)),
                                    (program_cost(typename Phases::code{}) + ...),
                                    found.at};
};

template <class RowProgram, bool Packs>
struct row_kernels {
  template <int Bytes>
  static constexpr const row_kernel& of() {
    return row_kernel_of<RowProgram, Packs, Bytes>::value;
  }
};

/// The kernel of a row program.
template <class RowProgram, bool Packs = has_packs>
void cpu_row(thread_pool& pool, const kernel_call& call) {
  run_row_kernel(pool, chosen_table<row_kernels<RowProgram, Packs>>(), call);
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
