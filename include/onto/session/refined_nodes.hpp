// SPDX-License-Identifier: BSL-1.0
// The nodes that values tell apart, written as a graph. An operation for which there is no kernel gets every operand
// from memory: a scalar is filled into a value, and an operand that it has twice is shown once more.
#pragma once

#include <onto/graph/derived_nodes.hpp>
#include <onto/session/refinement.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A node that is put between an operation and its operand, so that this is in memory, and a value of its own.
struct node_between {
  int reader = 0;  // of the refinement's nodes
  int at = -1;     // in the graph
};

/// The nodes of a refinement as a graph's, with those between.
class refined_nodes {
 public:
  arena_list<graph_node> nodes;
  arena_list<int> operands;
  int* place_of;  // per node of the refinement

  /// Of each node of `r`: `typed`, which of the compiled graph it is, or -1; `general`: whether it reads every operand
  /// from memory, 0 where it does not.
  refined_nodes(const graph_view& compiled, const refinement& r, const int* typed, const int* operand,
                const int* general, arena& memory, arena_list<node_between>& put_between)
      : place_of(memory.make<int>(r.nodes.size)), m_(memory), between_(put_between) {
    extents shapes[max_operands];
    between_.size = 0;
    for (int k = 0; k < r.nodes.size; ++k) {
      graph_node n = typed[k] >= 0 ? compiled[typed[k]] : r.nodes[k].derived;
      n.id = r.id_of(k);
      n.visit = -1;
      if (typed[k] < 0) {
        n.op = m_.copy(n.op, 1);
        n.request = r.nodes[k].request.where;
      }
      int of[max_operands];
      for (int j = 0; j < n.count; ++j) {
        int o = place_of[operand[r.nodes[k].first + j]];
        if (general[k] > 0 && nodes[o].kind() == op_kind::scalar) {
          if (nodes[o].is_literal()) o = put(k, n, number_of(nodes[o]), nullptr);
          o = put(k, n, one_value(nodes[o].type), &o);
        }
        bool again = false;
        for (int i = 0; i < j; ++i) again = again || of[i] == o;
        if (general[k] > 0 && again) o = put(k, n, same(nodes[o]), &o);
        of[j] = o;
      }
      n.first = operands.size;
      for (int j = 0; j < n.count; ++j) operands.push_back(m_, of[j]);
      if (!n.is_leaf() && n.op->infer) {
        // As it was written: chains of products are ordered later.
        for (int j = 0; j < n.count && j < max_operands; ++j) shapes[j] = nodes[of[j]].shape;
        n.shape = n.op->infer(shapes, n.count).shape;
      }
      place_of[k] = nodes.push_back(m_, n);
    }
  }

 private:
  int put(int reader, const graph_node& like, graph_node n, const int* operand) {
    n.id = hash_mix(hash_mix(0x6265747765656e, like.id), static_cast<std::uint64_t>(nodes.size));
    n.request = like.request;
    n.runs_with = like.runs_with;
    n.variable = like.variable;
    n.visit = -1;
    n.first = operands.size;
    n.count = operand ? 1 : 0;
    if (operand) operands.push_back(m_, *operand);
    const int at = nodes.push_back(m_, n);
    between_.push_back(m_, {reader, at});
    return at;
  }
  /// The number that a literal is, as one that a call is given.
  graph_node number_of(const graph_node& literal) const {
    op_info o = made_operation(op_kind::scalar, "Scalar", {all_elements, all_elements});
    const auto bits = static_cast<std::uint64_t>(literal.op->attribute[0]);
    const double value = literal.type == element::float64
                             ? std::bit_cast<double>(bits)
                             : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    o.attributes = 2;
    o.attribute[0] = std::bit_cast<std::int64_t>(value);
    o.hash = hash_of_made(o);
    return made_node(o, literal.type, {});
  }
  graph_node one_value(element type) const {
    graph_node n;
    n.op = fill_of(type);
    n.type = type;
    return n;
  }
  /// The same elements once more.
  graph_node same(const graph_node& x) const {
    op_info o = made_operation(op_kind::view, "Reshape", {all_elements, all_elements});
    o.attributes = 2 + x.shape.rank;
    o.attribute[0] = static_cast<std::int64_t>(view_kind::reshape);
    o.attribute[1] = x.shape.rank;
    for (int k = 0; k < x.shape.rank; ++k) o.attribute[2 + k] = same_as_axis(k);
    o.hash = hash_of_made(o);
    return made_node(o, x.type, x.shape);
  }
  graph_node made_node(const op_info& o, element type, const extents& shape) const {
    graph_node n;
    n.op = m_.copy(&o, 1);
    n.type = type;
    n.shape = shape;
    n.made = 0;
    return n;
  }

  arena& m_;
  arena_list<node_between>& between_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
