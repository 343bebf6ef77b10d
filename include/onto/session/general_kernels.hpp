// SPDX-License-Identifier: BSL-1.0
// Kernels of single operations with every operand in memory: what gradients need beside the kernels that the compiler
// foresaw, where values tell apart what types do not. Only programs compile them in which that can be.
#pragma once

#include <onto/graph/derived_nodes.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/unary.hpp>
#include <onto/session/kernel_entry.hpp>

#include <utility>

namespace onto::detail {
inline namespace ONTO_ABI {

/// An operation over operands of these types, each a node of its own.
struct general_operation {
  const op_info* op = nullptr;
  element type = element::float32;
  element operand[4]{};
  int count = 0;

  constexpr bool operator==(const general_operation& o) const {
    bool same = op->hash == o.op->hash && type == o.type && count == o.count;
    for (int k = 0; k < count && same; ++k) same = operand[k] == o.operand[k];
    return same;
  }
};

inline constexpr op_info in_memory{
    op_kind::placeholder, "Placeholder", 0, {all_elements, all_elements}, 0, nullptr, 0, {}};
inline constexpr op_info in_call{op_kind::scalar, "Scalar", 0, {all_elements, all_elements}, 0, nullptr, 2, {}};
inline constexpr op_info any_view{op_kind::view,
                                  "Reshape",
                                  0,
                                  {all_elements, all_elements},
                                  0,
                                  nullptr,
                                  2,
                                  {static_cast<std::int64_t>(view_kind::reshape)}};

/// Over all axes (`axes` 0), or over those that the run finds.
constexpr op_info sum_over(int axes) {
  op_info o = made_operation(op_kind::reduce, "Sum", {floating_elements, floating_elements});
  o.attributes = 3;
  o.attribute[0] = static_cast<std::int64_t>(fold::sum);
  o.attribute[2] = axes;
  o.hash = hash_of_made(o);
  return o;
}
inline constexpr op_info general_sum = sum_over(0), general_sum_to_extents = sum_over(folds_to_extents);

/// Whether operands of node `n` have extents along one axis that only the run knows: nodes that values tell apart may
/// broadcast there, and the gradient of each is then a sum.
constexpr bool may_broadcast(const graph_view& g, int n) {
  const graph_node& x = g[n];
  if (x.made >= 0 || (x.kind() != op_kind::map && x.kind() != op_kind::matmul)) return false;
  unsigned open = 0, both = 0;  // axes from the last one
  for (int k = 0; k < x.count; ++k) {
    const extents& of = g[g.operand(n, k)].shape;
    unsigned own = 0;
    for (int a = x.kind() == op_kind::matmul ? 2 : 0; a < of.rank; ++a)
      if (of[of.rank - 1 - a] == dyn) own |= 1u << a;
    both |= open & own;
    open |= own;
  }
  return both != 0;
}

/// The operations of a graph's derivations, and those that other values may ask for: which gradients are numbers, and
/// which are sums, hangs on how many nodes there are.
template <class Graph>
struct general_operations {
  static constexpr int extra = 16;  // for each type that has derivatives
  static constexpr int most = Graph::view.count + 4 * extra;

  struct list {
    general_operation of[most]{};
    int count = 0;

    constexpr void add(const general_operation& o) {
      for (int k = 0; k < count; ++k)
        if (of[k] == o) return;
      of[count++] = o;
    }
    constexpr void add_those_of(element t, bool broadcasts) {
      constexpr element b = element::boolean;
      add({&op_info_of<op::add>, t, {t, t}, 2});
      add({&op_info_of<op::sub>, t, {t, t}, 2});
      add({&op_info_of<op::mul>, t, {t, t}, 2});
      add({&op_info_of<op::div>, t, {t, t}, 2});
      add({&op_info_of<op::neg>, t, {t}, 1});
      add({&op_info_of<op::where>, t, {b, t, t}, 3});
      add({&op_info_of<op::logical_and>, b, {b, b}, 2});
      add({&op_info_of<op::logical_or>, b, {b, b}, 2});
      add({&op_info_of<op::logical_not>, b, {b}, 1});
      add({&op_info_of<op::fill_like>, t, {t, t}, 2});
      add({&op_info_of<op::zeros_like>, t, {t}, 1});
      add({fill_of(t), t, {t}, 1});
      add({&general_sum, t, {t}, 1});
      if (broadcasts) add({&general_sum_to_extents, t, {t}, 1});
    }
  };
  static constexpr list find() {
    list l;
    bool broadcasts = false;
    for (int n = 0; n < Graph::view.count; ++n) broadcasts = broadcasts || may_broadcast(Graph::view, n);
    for (int n = 0; n < Graph::view.count; ++n) {
      const graph_node& x = Graph::view[n];
      if (x.runs_with < 0 || x.kind() == op_kind::scalar) continue;
      if (is_floating(x.type)) l.add_those_of(x.type, broadcasts);
      if (x.kind() != op_kind::map || x.made >= 0 || x.count > 4) continue;
      general_operation o{x.op, x.type, {}, x.count};
      for (int k = 0; k < x.count; ++k) o.operand[k] = Graph::view[Graph::view.operand(n, k)].type;
      l.add(o);
    }
    return l;
  }
  static constexpr list value = find();
};

/// A graph of them, for their kernels: for each its operands, then the operation.
template <class Graph>
struct general_graph {
  static constexpr const auto& all = general_operations<Graph>::value;

  static constexpr int count_operands() {
    int count = 0;
    for (int k = 0; k < all.count; ++k) count += all.of[k].count;
    return count;
  }
  struct lowered {
    struct counts {
      int operands;
    };
    static constexpr counts sizes{count_operands()};
  };
  static constexpr int node_count = all.count + lowered::sizes.operands + 2;

  struct data {
    graph_node nodes[node_count]{};
    int operands[lowered::sizes.operands + 1]{};  // the last of them is a view's
    int root[all.count + 1]{};
  };
  static constexpr data make() {
    data d;
    int nodes = 0, operands = 0;
    const auto add = [&](const op_info& op, element type) {
      d.nodes[nodes].op = &op;
      d.nodes[nodes].type = type;
      d.nodes[nodes].shape.push_back(dyn);
      d.nodes[nodes].id = static_cast<std::uint64_t>(nodes);
      return nodes++;
    };
    for (int k = 0; k < all.count; ++k) {
      const general_operation& o = all.of[k];
      const int first = operands;
      for (int j = 0; j < o.count; ++j)
        d.operands[operands++] = add(o.op->kind == op_kind::generator ? in_call : in_memory, o.operand[j]);
      const int n = add(*o.op, o.type);
      d.nodes[n].first = first;
      d.nodes[n].count = o.count;
      d.root[k] = n;
    }
    // A view, so that the kernels are those that can read through one.
    d.operands[operands] = add(in_memory, element::boolean);
    const int looking = add(any_view, element::boolean);
    d.nodes[looking].first = operands;
    d.nodes[looking].count = 1;
    return d;
  }
  static constexpr data value = make();
  static constexpr graph_view view{value.nodes, node_count, value.operands, nullptr, 0, nullptr, 0, node_count};
};

}  // namespace ONTO_ABI

/// Nothing of it is fused.
template <class Graph>
struct fused<general_graph<Graph>> {
  static constexpr kernel_partition parts{}, value{};
};

inline namespace ONTO_ABI {

template <class Graph>
constexpr bool has_derivations() {
  for (int n = 0; n < Graph::view.count; ++n)
    if (Graph::view[n].runs_with >= 0) return true;
  return false;
}

/// Those kernels.
template <class Graph, class Table>
struct general_kernels {
  using graph = general_graph<Graph>;
  static constexpr int count = graph::all.count;

  struct kernel_list {
    keyed_kernel kernels[count + 1];
  };
  template <int... K>
  static constexpr kernel_list list(std::integer_sequence<int, K...>) {
    return {
        {kernel_of<graph, Table, graph::value.root[K], extent_of_kernel::single, evaluation::per_use>(backends{})...,
         {{op_kind::view, element::boolean}, {}}}};
  }
  static constexpr kernel_list all = list(std::make_integer_sequence<int, count>{});
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
