// SPDX-License-Identifier: BSL-1.0
// From a group of nodes that goes over rows to its program type, stage by stage.
#pragma once

#include <onto/core/half.hpp>
#include <onto/graph/builder.hpp>
#include <onto/graph/row_stages.hpp>
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
struct op_or_load<Table, code_line::row_exp> {
  using type = row_exp;
};
template <class Table>
struct op_or_load<Table, code_line::row_inverse> {
  using type = row_inverse;
};
template <class Table>
struct op_or_load<Table, code_line::row_multiply> {
  using type = op::mul;
};
template <class Table>
struct op_or_load<Table, code_line::row_subtract> {
  using type = op::sub;
};
template <class Table>
struct op_or_load<Table, code_line::row_log> {
  using type = op::log;
};

/// The program of the row kernel with this root, as kernel_program of others.
template <class Graph, class Table, int Root>
struct row_kernel_program {
  static constexpr int nodes = Graph::view.count;
  static constexpr bool reduces = Graph::view[Root].kind() == op_kind::reduce;

  static constexpr int find_room() {
    int lines = 2;
    for (int n = 0; n <= Root; ++n)
      if (fused<Graph>::value.root[n] == Root) lines += code_room_for(Graph::view, n);
    return lines;
  }
  static constexpr int room = find_room();

  struct code {
    int count = 0;
    int inputs = 0;
    int scalars = 0;
    bool narrow = false;
    code_line lines[room]{};
  };
  static constexpr code collect() {
    code c;
    int unit[nodes]{};
    int registers[nodes]{};
    int inputs[nodes]{};
    int scalars[nodes]{};
    int via[nodes]{};
    bool result[nodes]{};
    for (int n = 0; n < nodes; ++n) {
      registers[n] = -1;
      unit[n] = fused<Graph>::value.root[n];
      via[n] = -1;
    }
    int frames[nodes]{};
    kernel_operands o{inputs, frames, 0, scalars, 0};
    c.count = code_collector(Graph::view, unit, via, Root, Table::hashes, Table::count, {c.lines, registers}, o, result,
                             evaluation::once)
                  .run();
    c.inputs = o.input_count;
    c.scalars = o.scalar_count;
    for (int k = 0; k < c.count; ++k) c.narrow = c.narrow || is_narrow(c.lines[k].type);
    return c;
  }
  static constexpr code all = collect();

  static constexpr kernel_key key() {
    return {all.lines, all.count, reduces ? static_cast<int>(fold_of(*Graph::view[Root].op)) : -1, true};
  }

  static constexpr row_stages<room> stages{all.lines, all.count, all.inputs, all.scalars,
                                           reduces ? static_cast<int>(fold_of(*Graph::view[Root].op)) : -1};

  /// One stage.
  template <int S>
  struct stage {
    struct lines {
      int count = 0;
      code_line at[room]{};
    };
    static constexpr lines find() {
      lines l;
      l.count = stages.code_of(S, l.at);
      return l;
    }
    static constexpr lines value = find();
    static constexpr row_stage facts = stages.stages[S];

    /// Whether instruction `k` makes the result of a map from floats.
    static constexpr bool is_stored(int k) {
      return k + 1 == value.count && facts.kind == stage_kind::store &&
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
      if constexpr (Floats && all.narrow)
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
      -> row_program<all.inputs, all.scalars, decltype(stage<S>::template make<Floats>())...>;

  // A function and not a member type, as in kernel_program.
  template <bool Floats>
  static auto make() -> decltype(spell<Floats>(std::make_integer_sequence<int, stages.stage_count>{}));
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
