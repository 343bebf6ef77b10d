// SPDX-License-Identifier: BSL-1.0
// All kernels of a graph: which groups and operations are compiled, and in what way.
#pragma once

#include <onto/session/general_kernels.hpp>
#include <onto/session/kernel_entry.hpp>
#include <onto/session/session_runtime.hpp>

#include <utility>

namespace onto::detail {
inline namespace ONTO_ABI {

/// How the kernels of a graph evaluate what may be several nodes.
template <class Graph>
struct evaluations {
  static constexpr int nodes = Graph::view.count;
  struct data {
    evaluation whole[nodes]{};
    evaluation part[nodes]{};
    bool both[nodes]{};  // the kernel is compiled in both ways
  };
  static constexpr data find() {
    data d;
    if constexpr (Graph::lowered::sizes.values_decide) {
      const auto& fusion = fused<Graph>::value;
      for (int n = 0; n < nodes; ++n) {
        if (fusion.kernel_of[n] == n) {
          int times[nodes]{};
          const repeated_evaluations r = count_repeated(Graph::view, fusion, n, times);
          d.whole[n] = r.preferred();
          d.both[n] = r.both();
        }
        if (fused<Graph>::parts.kernel_of[n] == n) {
          int times[nodes]{};
          d.part[n] = count_repeated(Graph::view, fused<Graph>::parts, n, times).preferred();
        }
      }
    }
    return d;
  }
  static constexpr data value = find();
};

/// All kernels of a graph.
template <class Graph, class Table>
struct compiled {
  static constexpr int nodes = Graph::view.count;
  static constexpr bool values_decide = Graph::lowered::sizes.values_decide;
  static constexpr const auto& whole = fused<Graph>::value;
  static constexpr const auto& parts = fused<Graph>::parts;
  static constexpr const auto& how = evaluations<Graph>::value;

  struct plan_of_kernels {
    int whole[nodes]{};
    int whole_count = 0;
    int both[nodes]{};  // those that are compiled in both ways
    int both_count = 0;
    int part[nodes]{};  // roots before merging of what became part of another kernel
    int part_count = 0;
    int single[nodes]{};  // one node for each distinct operation and operand types
    int single_count = 0;
    int single_of[nodes]{};
  };

  /// Whether two operations alone are one kernel. Operands that may be several nodes are always loaded apart.
  static constexpr bool alike(int a, int b) {
    const graph_node& x = Graph::view[a];
    const graph_node& y = Graph::view[b];
    if (x.op->hash != y.op->hash || x.type != y.type || x.count != y.count) return false;
    for (int k = 0; k < x.count; ++k) {
      const graph_node& p = Graph::view[Graph::view.operand(a, k)];
      const graph_node& q = Graph::view[Graph::view.operand(b, k)];
      if (p.type != q.type || (p.kind() == op_kind::scalar) != (q.kind() == op_kind::scalar)) return false;
      if ((p.is_literal() || q.is_literal()) && p.op->hash != q.op->hash) return false;
      for (int j = 0; j < k; ++j)
        if (is_repeated(a, j, k) != is_repeated(b, j, k)) return false;
    }
    return true;
  }
  static constexpr bool is_repeated(int n, int j, int k) {
    const int o = Graph::view.operand(n, k);
    return Graph::view.operand(n, j) == o && !Graph::view[o].holds_values;
  }

  /// Whether an operation reads a node twice that may be two.
  static constexpr bool may_come_apart(int n) {
    for (int k = 0; k < Graph::view[n].count; ++k) {
      const int o = Graph::view.operand(n, k);
      for (int j = 0; j < k && Graph::view[o].holds_values; ++j)
        if (Graph::view.operand(n, j) == o) return true;
    }
    return false;
  }

  static constexpr plan_of_kernels plan_kernels() {
    plan_of_kernels p;
    for (int n = 0; n < nodes; ++n) {
      p.single_of[n] = -1;
      if (!whole.runs(n)) continue;
      const int root = whole.kernel_of[n];
      // The kernels of a batch are one.
      if (root == n && (whole.batch_of[n] < 0 || whole.batch_of[n] == n)) p.whole[p.whole_count++] = n;
      if (how.both[n]) p.both[p.both_count++] = n;
      if (whole.is_single(root) && !may_come_apart(n)) continue;
      if (parts.kernel_of[n] == n && !parts.is_single(n) && count_members(parts, n) < count_members(whole, root))
        p.part[p.part_count++] = n;
      int k = 0;
      while (k < p.single_count && !alike(p.single[k], n)) ++k;
      if (k == p.single_count) p.single[p.single_count++] = n;
      p.single_of[n] = k;
    }
    return p;
  }
  static constexpr plan_of_kernels kernels = plan_kernels();

  struct tables {
    kernel_entry whole[nodes]{};
    kernel_entry parts[nodes]{};
    kernel_entry single[nodes]{};
  };

  template <int Root, class Backends = backends>
  static constexpr keyed_kernel whole_kernel() {
    constexpr int product = product_of(Graph::view, whole, Root);
    constexpr int node = product < 0 ? Root : product;
    constexpr auto extent = product < 0 ? extent_of_kernel::whole : extent_of_kernel::single;
    return kernel_of<Graph, Table, node, extent, how.whole[Root]>(Backends{});
  }
  static constexpr int kernel_count =
      kernels.whole_count + kernels.both_count + kernels.part_count + kernels.single_count;

  /// Every kernel once, in order of preference.
  struct kernel_list {
    keyed_kernel kernels[kernel_count + 1];
  };
  /// What only types leave as a view may be copied.
  static constexpr kernel_entry copy_if_refined() {
    if constexpr (values_decide)
      return copy_kernel<element_sizes(Graph::view)>(backends{});
    else
      return {};
  }
  template <int... W, int... B, int... P, int... S>
  static constexpr kernel_list list_kernels(std::integer_sequence<int, W...>, std::integer_sequence<int, B...>,
                                            std::integer_sequence<int, P...>, std::integer_sequence<int, S...>) {
    return {{whole_kernel<kernels.whole[W]>()...,
             kernel_of<Graph, Table, kernels.both[B], extent_of_kernel::whole, evaluation::per_use>(backends{})...,
             kernel_of<Graph, Table, kernels.part[P], extent_of_kernel::part, how.part[kernels.part[P]]>(backends{})...,
             kernel_of<Graph, Table, kernels.single[S], extent_of_kernel::single, evaluation::per_use>(backends{})...,
             {{op_kind::view, element::boolean}, copy_if_refined()}}};
  }
  static constexpr kernel_list all = list_kernels(
      std::make_integer_sequence<int, kernels.whole_count>{}, std::make_integer_sequence<int, kernels.both_count>{},
      std::make_integer_sequence<int, kernels.part_count>{}, std::make_integer_sequence<int, kernels.single_count>{});

  static constexpr tables build() {
    tables t;
    const keyed_kernel* k = all.kernels;
    for (int w = 0; w < kernels.whole_count; ++w) t.whole[kernels.whole[w]] = k++->entry;
    for (int n = 0; n < nodes; ++n)
      if (whole.kernel_of[n] == n && whole.batch_of[n] >= 0) t.whole[n] = t.whole[whole.batch_of[n]];
    k += kernels.both_count;
    for (int p = 0; p < kernels.part_count; ++p) t.parts[kernels.part[p]] = k++->entry;
    for (int n = 0; n < nodes; ++n)
      if (kernels.single_of[n] >= 0) t.single[n] = k[kernels.single_of[n]].entry;
    return t;
  }
  static constexpr tables entries = build();
  static constexpr const half_kernels* half_precision() {
    constexpr bool any = has_half_precision_node();
    if constexpr (any)
      return &cpu_half_kernels;
    else
      return nullptr;
  }
  static constexpr bool has_half_precision_node() {
    for (int n = 0; n < nodes; ++n)
      if (is_half_precision(Graph::view[n].type)) return true;
    return false;
  }
  static constexpr value_dependence find_dependence() {
    if constexpr (has_derivations<Graph>())
      return {all.kernels, kernel_count + 1, general_kernels<Graph, Table>::all.kernels,
              general_kernels<Graph, Table>::count, &rewrite_program};
    else
      return {all.kernels, kernel_count + 1, nullptr, 0, &rewrite_program};
  }
  template <class Compiled>
  struct dependence {
    static constexpr value_dependence value = Compiled::find_dependence();
  };
  static constexpr const value_dependence* dependence_if_any() {
    if constexpr (values_decide)
      return &dependence<compiled>::value;
    else
      return nullptr;
  }
  static constexpr compiled_program program{Graph::view,        whole,     parts,    entries.whole, entries.parts,
                                            entries.single,     how.whole, how.part, nullptr,       half_precision(),
                                            dependence_if_any()};
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
