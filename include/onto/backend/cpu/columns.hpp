// SPDX-License-Identifier: BSL-1.0
// Row kernels over another axis than the last on the CPU: the phases of a row program as loops over lines of a block of
// columns.
#pragma once

#include <onto/backend/cpu/column_worker.hpp>
#include <onto/backend/cpu/span.hpp>
#include <onto/kernel/row_phases.hpp>

#include <type_traits>
#include <utility>

namespace onto::detail {

/// An instruction over columns: what phases give for a row, scalars from number `Scalars` on, are inputs, from number
/// `First` on, with an element for each column.
template <int Scalars, int First, class Instruction>
struct over_columns {
  using type = Instruction;
};
template <int Scalars, int First, element Type, int Slot>
  requires(Slot >= Scalars)
struct over_columns<Scalars, First, instruction<load_scalar, Type, Slot>> {
  using type = instruction<load_input, Type, First + Slot - Scalars>;
};
template <int Scalars, int First, class Program>
struct columns_program;
template <int Scalars, int First, class... Line>
struct columns_program<Scalars, First, program<Line...>> {
  using type = program<typename over_columns<Scalars, First, Line>::type...>;
};

/// Evaluates a program over lines.
template <class Program, bool Packs>
struct line_body {
  using operands = program_operands<Program>;
  using variants = vector_variants<line_body, void(const line_call&)>;
  template <int Bytes>
  static ONTO_INLINE void run(const line_call& c) {
    run<Bytes>(c, std::make_integer_sequence<int, operands::inputs>{});
  }

 private:
  // Loops that look at every slot up to the last are given one that is loaded, as in row_input.
  static constexpr int slot(int i) { return operands::found.loads[i] ? i : operands::inputs - 1; }

  // By constants: pointers that lie in memory are read as one vector just after they were written as words, and wait
  // for every store before them.
  template <int Bytes, int... K>
  static ONTO_INLINE void run(const line_call& c, std::integer_sequence<int, K...>) {
    for (std::int64_t k = 0; k < c.lines; ++k) {
      const void* const at[] = {static_cast<const char*>(c.in[slot(K)]) + k * c.down[slot(K)]..., nullptr};
      span_body<Program, Packs && Program::packs.possible()>::template run<Bytes>(
          {at, static_cast<char*>(c.out) + k * c.out_down, c.first + k * c.first_down, c.count, c.scalars, nullptr,
           c.streamed});
    }
  }
};

inline namespace ONTO_VECTOR_ABI {

template <class Program, class Phase, bool Packs, int Bytes>
constexpr column_step make_column_step() {
  using operands = program_operands<Program>;
  column_step s{Phase::kind, Phase::type, nullptr, nullptr, operands::found.loads, operands::inputs};
  if constexpr (Phase::folds)
    s.table = &fold_table_of<fold_or_max(Phase::reduction), element_t<Phase::type>, fold_loops::columns, Bytes>;
  if constexpr (!(Phase::folds && !Phase::keeps && is_bare_load(Program{})))
    s.span = line_body<Program, Packs>::variants::template get<Bytes>();
  return s;
}

template <class RowProgram, bool Packs, int Bytes>
struct column_kernel_of;
template <int Inputs, int Scalars, class... Phases, bool Packs, int Bytes>
struct column_kernel_of<row_program<Inputs, Scalars, Phases...>, Packs, Bytes> {
  using program_type = row_program<Inputs, Scalars, Phases...>;
  static constexpr int phases = sizeof...(Phases), keeps = program_type::kept_before(phases);
  template <class Phase>
  using lines_of = typename columns_program<Scalars, Inputs + keeps, typename Phase::code>::type;

  static constexpr column_step steps[] = {make_column_step<lines_of<Phases>, Phases, Packs, Bytes>()...};
  static constexpr column_kernel value{
      steps, phases, Inputs, keeps, program_type::given_before(phases), (program_cost(typename Phases::code{}) + ...)};
};

template <class RowProgram, bool Packs>
struct column_kernels {
  template <int Bytes>
  static constexpr const column_kernel& of() {
    return column_kernel_of<RowProgram, Packs, Bytes>::value;
  }
};

/// The kernel of a row program over columns.
template <class RowProgram, bool Packs = has_packs>
void cpu_columns(thread_pool& pool, const kernel_call& call) {
  run_column_kernel(pool, chosen_table<column_kernels<RowProgram, Packs>>(), call);
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
