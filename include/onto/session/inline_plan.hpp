// SPDX-License-Identifier: BSL-1.0
// The plan of a program on the CPU alone as a constant, down to the kernels' calls: where all extents are in the types.
#pragma once

#include <onto/session/bind_calls.hpp>
#include <onto/session/inline_program.hpp>
#include <onto/session/kernels.hpp>
#include <onto/session/one_meaning.hpp>

namespace onto::detail {

/// Arrays of `T` that live as long as a constant is computed.
template <class T>
class constant_arrays {
 public:
  constexpr constant_arrays() = default;
  constant_arrays(const constant_arrays&) = delete;
  constant_arrays& operator=(const constant_arrays&) = delete;
  constexpr ~constant_arrays() {
    while (first_) {
      piece* const next = first_->next;
      delete[] first_->items;
      delete first_;
      first_ = next;
    }
  }

  constexpr T* make(int count) {
    T* const items = new T[static_cast<std::size_t>(count > 0 ? count : 1)]{};
    for (int k = 0; k < count; ++k) items[k] = T{};  // nvcc 13.0, as in graph/builder.hpp
    first_ = new piece{items, first_};
    return items;
  }

 private:
  struct piece {
    T* items;
    piece* next;
  };
  piece* first_ = nullptr;
};

/// What `call_binder` has for an arena while compiling.
class constant_arena : constant_arrays<int>,
                       constant_arrays<extents>,
                       constant_arrays<operand_view>,
                       constant_arrays<operand_source>,
                       constant_arrays<bound_call>,
                       constant_arrays<op_info>,
                       constant_arrays<std::uint64_t>,
                       constant_arrays<kernel_instruction>,
                       constant_arrays<index_map> {
 public:
  template <class T>
  constexpr T* make(int count) {
    return static_cast<constant_arrays<T>&>(*this).make(count);
  }
};

/// Whether every shape is in the types, and fits.
constexpr bool has_static_shapes(const graph_view& g) {
  for (int n = 0; n < g.count; ++n)
    if (!g[n].shape.is_static() || !g[n].shape.fits(size_of(g[n].type))) return false;
  extents operands[max_operands];
  for (int n = 0; n < g.count; ++n) {
    if (g[n].is_leaf()) continue;
    if (g[n].kind() == op_kind::assign) return false;
    for (int k = 0; k < g[n].count && k < max_operands; ++k) operands[k] = g[g.operand(n, k)].shape;
    if (infer_shape(*g[n].op, {g, nullptr, false}, operands, g[n].count).fault != shape_fault::none) return false;
  }
  return g.count > 0;
}

inline namespace ONTO_ABI {

/// The calls of a program and what they point at.
template <class Graph, class Table>
struct inline_plan {
  static constexpr int nodes = Graph::view.count;
  using cpu_world = world<cpu<0>>;
  using all_kernels = compiled<Graph, Table>;

  struct kernel_table {
    kernel_entry of[nodes]{};
  };
  template <int... W>
  static constexpr kernel_table list_kernels(std::integer_sequence<int, W...>) {
    kernel_table t;
    ((t.of[all_kernels::kernels.whole[W]] =
          all_kernels::template whole_kernel<all_kernels::kernels.whole[W], backend_list<cpu_backend>>().entry),
     ...);
    return t;
  }
  static constexpr kernel_table kernels =
      list_kernels(std::make_integer_sequence<int, all_kernels::kernels.whole_count>{});
  static constexpr compiled_program program{Graph::view,
                                            fused<Graph>::value,
                                            fused<Graph>::parts,
                                            kernels.of,
                                            nullptr,
                                            nullptr,
                                            evaluations<Graph>::value.whole,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr};

  /// Binds each step, and gives what comes of it to `take`.
  template <class Take>
  static constexpr void bind_steps(const Take& take) {
    constexpr const auto& plan = planned<Graph, cpu_world>::value;
    constant_arena memory;
    extents shapes[nodes]{};
    int value_of[nodes]{};
    for (int n = 0; n < nodes; ++n) {
      shapes[n] = Graph::view[n].shape;
      value_of[n] = -1;
    }
    for (int v = 0; v < plan.value_count; ++v) value_of[plan.values[v].node] = v;
    const matmul_form products{};
    const call_input in{program, shapes, plan.values, value_of, plan.units.view(), products};
    call_binder<constant_arena> binder(in, memory);
    for (int k = 0; k < plan.step_count; ++k) {
      bound_step s;
      binder.bind(s, plan.steps[k]);
      for (int c = 0; c < s.call_count; ++c) take(k, c, s.calls[c]);
    }
  }

  struct sizes {
    int calls = 0, operands = 0, rolls = 0, scalars = 0, shapes = 0, ops = 0;
  };
  static constexpr sizes measure() {
    sizes s;
    bind_steps([&](int, int, const bound_call& c) {
      ++s.calls;
      s.operands += c.call.inputs;
      s.rolls += c.call.rolls ? c.call.inputs * max_rank : 0;
      s.scalars += c.scalar_count;
      s.shapes += c.call.shapes ? c.call.inputs + 1 : 0;
      s.ops += c.own_op ? 1 : 0;
    });
    return s;
  }
  static constexpr sizes size = measure();

  struct tables {
    inline_call calls[size.calls + 1]{};
    operand_view views[size.operands + 1]{};
    operand_source sources[size.operands + 1]{};
    int rolls[size.rolls + 1]{};
    int scalars[size.scalars + 1]{};
    extents shapes[size.shapes + 1]{};
    op_info ops[size.ops + 1]{};
  };
  static constexpr tables fill() {
    tables t;
    sizes at;
    bind_steps([&](int step, int number, const bound_call& c) {
      inline_call& to = t.calls[at.calls++];
      to.bound = c;
      to.step = step;
      to.number = number;
      to.views = at.operands;
      to.rolls = at.rolls;
      for (int k = 0; k < c.call.inputs; ++k) {
        for (int d = 0; c.call.rolls && d < max_rank; ++d)
          t.rolls[at.rolls++] = c.views[k].rolled ? c.views[k].rolled[d] : 0;
        t.views[at.operands] = c.views[k];
        t.views[at.operands].rolled = nullptr;
        t.sources[at.operands++] = c.sources[k];
      }
      to.scalars = at.scalars;
      for (int k = 0; k < c.scalar_count; ++k) t.scalars[at.scalars++] = c.scalars[k];
      if (c.call.shapes) {
        to.shapes = at.shapes;
        for (int k = 0; k <= c.call.inputs; ++k) t.shapes[at.shapes++] = c.call.shapes[k];
      }
      if (c.own_op) {
        to.op = at.ops;
        t.ops[at.ops++] = *c.call.op;
        to.bound.call.op = nullptr;
      }
      to.bound.views = to.bound.more = nullptr;
      to.bound.sources = nullptr;
      to.bound.scalars = nullptr;
      to.bound.bits = nullptr;
      to.bound.call.in = to.bound.call.more_out = nullptr;
      to.bound.call.scalars = nullptr;
      to.bound.call.shapes = nullptr;
    });
    return t;
  }
  static constexpr tables table = fill();

  static constexpr inline_program make() {
    constexpr const auto& plan = planned<Graph, cpu_world>::value;
    return {Graph::view,
            plan.units.view(),
            kernels.of,
            all_kernels::half_precision(),
            all_kernels::values_decide,
            meets_names(Graph::view) ? &expect_one_meaning : nullptr,
            plan.steps,
            plan.step_count,
            plan.values,
            plan.value_count,
            table.calls,
            size.calls,
            table.views,
            table.sources,
            table.rolls,
            table.scalars,
            table.shapes,
            table.ops,
            plan.peaks[0]};
  }
  static constexpr inline_program value = make();

  static constexpr bool find_all_kernels() {
    if (!planned<Graph, cpu_world>::value.placeable) return false;
    for (int n = 0; n < nodes; ++n)
      if (fused<Graph>::value.kernel_of[n] == n && !kernels.of[n].launch[kernel_entry::host].known) return false;
    return true;
  }
  /// Whether there is a kernel for everything: else a session says for what there is none.
  static constexpr bool has_all_kernels = find_all_kernels();
};

/// Whether a program's plan is a constant on the CPU alone. Not for nvcc 13.0, which says of its tables that they are
/// not initialized: there a session's machinery runs it.
template <class Graph, class Table, bool WellFormed = Graph::well_formed>
constexpr bool has_inline_plan() {
#if defined(__CUDACC__)
  return false;
#else
  if constexpr (!WellFormed)
    return false;
  else if constexpr (!has_static_shapes(Graph::view))
    return false;
  else
    return inline_plan<Graph, Table>::has_all_kernels;
#endif
}

}  // namespace ONTO_ABI
}  // namespace onto::detail
