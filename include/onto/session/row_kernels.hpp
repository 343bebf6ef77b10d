// SPDX-License-Identifier: BSL-1.0
// From a group of nodes that goes over rows to its program type, phase by phase.
#pragma once

#include <onto/core/half.hpp>
#include <onto/graph/lowering.hpp>
#include <onto/graph/row_phases.hpp>
#include <onto/kernel/row_phases.hpp>
#include <onto/plan/plan.hpp>

#include <cstdint>
#include <utility>

namespace onto::detail {
inline namespace ONTO_ABI {

// Those of other kernels are in kernels.hpp.
template <class Table, int K>
struct op_or_load;
template <class Op, bool Stored>
struct op_in_floats;

template <class Table>
struct op_or_load<Table, kernel_instruction::row_exp> {
  using type = row_exp;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::row_inverse> {
  using type = row_inverse;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::row_multiply> {
  using type = op::mul;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::row_subtract> {
  using type = op::sub;
};
template <class Table>
struct op_or_load<Table, kernel_instruction::row_log> {
  using type = op::log;
};

/// The program of the row kernel with this root, as kernel_program of others.
template <class Graph, class Table, int Root>
struct row_kernel_program {
  static constexpr int nodes = Graph::view.count;
  static constexpr bool reduces = Graph::view[Root].kind() == op_kind::reduce;
  static constexpr row_order order = row_order_of_kernel(Graph::view, fused<Graph>::value, Root);

  static constexpr int find_capacity() {
    int lines = 2;
    const kernel_partition& kernels = fused<Graph>::value;
    for (int n = kernels.first_member[Root]; n >= 0; n = kernels.next_member[n])
      lines += most_instructions_of(Graph::view, n);
    return lines;
  }
  static constexpr int capacity = find_capacity();

  struct code {
    int count = 0;
    int inputs = 0;
    int scalars = 0;
    bool half_precision = false;
    kernel_instruction lines[capacity]{};
  };
  static constexpr code collect() {
    code c;
    int registers[nodes]{};
    int inputs[nodes]{};
    int scalars[nodes]{};
    for (int n = 0; n < nodes; ++n) registers[n] = -1;
    int paths[nodes]{};
    kernel_operands o{inputs, paths, 0, scalars, 0};
    c.count = kernel_codegen(Graph::view, fused<Graph>::value, Root, Table::hashes, Table::count, {c.lines, registers},
                             o, evaluation::once)
                  .run();
    c.inputs = o.input_count;
    c.scalars = o.scalar_count;
    for (int k = 0; k < c.count; ++k) c.half_precision = c.half_precision || is_half_precision(c.lines[k].type);
    return c;
  }
  static constexpr code all = collect();

  static constexpr kernel_key key() { return {all.lines, all.count, reduction_of_kernel(Graph::view, Root), order}; }

  static constexpr row_phases<capacity> phases{all.lines, all.count, all.inputs, all.scalars,
                                               reduces ? static_cast<int>(fold_of(*Graph::view[Root].op)) : -1};

  /// One phase.
  template <int S>
  struct phase {
    struct lines {
      int count = 0;
      kernel_instruction at[capacity]{};
    };
    static constexpr lines find() {
      lines l;
      l.count = phases.code_of(S, l.at);
      return l;
    }
    static constexpr lines value = find();
    static constexpr row_phase_code facts = phases.phases[S];

    /// Whether instruction `k` makes the result of a map from floats.
    static constexpr bool is_stored(int k) {
      return k + 1 == value.count && facts.kind == phase_kind::store &&
             computed_as(value.at[value.at[k].argument[0]].type) == element::float32;
    }
    template <int K, int... A>
    static auto line(std::integer_sequence<int, A...>)
        -> instruction<typename op_or_load<Table, value.at[K].op>::type, value.at[K].type, value.at[K].argument[A]...>;
    template <int K, int... A>
    static auto float_line(std::integer_sequence<int, A...>)
        -> instruction<typename op_in_floats<typename op_or_load<Table, value.at[K].op>::type, is_stored(K)>::type,
                       computed_as(value.at[K].type), value.at[K].argument[A]...>;

    template <int... K>
    static auto spell(std::integer_sequence<int, K...>)
        -> program<decltype(line<K>(std::make_integer_sequence<int, value.at[K].count>{}))...>;
    template <int... K>
    static auto spell_floats(std::integer_sequence<int, K...>)
        -> program<decltype(float_line<K>(std::make_integer_sequence<int, value.at[K].count>{}))...>;

    template <bool Floats>
    static auto code() {
      if constexpr (Floats && all.half_precision)
        return spell_floats(std::make_integer_sequence<int, value.count>{});
      else
        return spell(std::make_integer_sequence<int, value.count>{});
    }
    template <bool Floats>
    static auto make() {
      using program_type = decltype(code<Floats>());
      return row_phase<facts.kind, program_type, static_cast<fold>(facts.fold)>{};
    }
  };

  template <bool Floats, int... S>
  static auto spell(std::integer_sequence<int, S...>)
      -> row_program<all.inputs, all.scalars, decltype(phase<S>::template make<Floats>())...>;

  // A function and not a member type, as in kernel_program.
  template <bool Floats>
  static auto make() -> decltype(spell<Floats>(std::make_integer_sequence<int, phases.phase_count>{}));
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
