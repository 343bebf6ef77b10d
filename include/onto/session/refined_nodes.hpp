// SPDX-License-Identifier: BSL-1.0
// The nodes that values tell apart, written as a graph. An operation for which there is no kernel gets every operand
// from memory: a scalar is filled into a value, and an operand that it has twice is shown once more. Where types make
// one kernel of nodes that become several, each of these may compute what is in the kernel, as that kernel does.
#pragma once

#include <onto/graph/derived_nodes.hpp>
#include <onto/graph/kernels.hpp>
#include <onto/session/refinement.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A node that is put between an operation and its operand, so that this is in memory, and a value of its own; or what
/// a node is in another kernel.
struct node_between {
  int reader = 0;  // of the refinement's nodes: what reads it, or is it
  int at = -1;     // in the graph
};

/// The nodes of a refinement as a graph's, with those between.
class refined_nodes {
 public:
  arena_list<graph_node> nodes;
  arena_list<int> operands;
  int* place_of;  // per node of the refinement

  /// Of each node of `r`: `typed`, which of the compiled graph it is, or -1; `general`: whether it reads every operand
  /// from memory, 0 where it does not. `repeated`: the kernels of the compiled graph that each of their nodes is to
  /// have whole; or null.
  refined_nodes(const graph_view& compiled, const refinement& r, const int* typed, const int* operand,
                const int* general, const kernel_partition* repeated, arena& memory,
                arena_list<node_between>& put_between)
      : place_of(memory.make<int>(r.nodes.size)),
        m_(memory),
        between_(put_between),
        r_(r),
        typed_(typed),
        operand_(operand),
        repeated_(repeated),
        compiled_(compiled),
        general_(general),
        joins_(memory.make<bool>(r.nodes.size)),
        root_(memory.make<int>(r.nodes.size)) {
    between_.size = 0;
    if (repeated) {
      // Maps join where all that reads them is in the one kernel that each of these readers is to have.
      const int count = r_.nodes.size;
      auto* const is_read = m_.make<bool>(count);
      auto* const kernel = m_.make<int>(count);
      for (int k = 0; k < count; ++k) {
        kernel[k] = typed_[k] >= 0 ? repeated_->kernel_of[typed_[k]] : -1;
        joins_[k] = kernel[k] >= 0 && kernel[k] != typed_[k] && compiled_[typed_[k]].is_map();
      }
      for (int k = count - 1; k >= 0; --k) {
        joins_[k] = joins_[k] && is_read[k];
        const bool in_kernel = joins_[k] || (kernel[k] >= 0 && kernel[k] == typed_[k]);
        const graph_node& n = typed_[k] >= 0 ? compiled_[typed_[k]] : *r_.nodes[k].derived;
        for (int j = 0; j < n.count; ++j) {
          const int o = operand_[r_.nodes[k].first + j];
          is_read[o] = true;
          joins_[o] = joins_[o] && in_kernel && kernel[o] == kernel[k];
        }
      }
    }
    for (int k = 0; k < r.nodes.size; ++k)
      if (!joins_[k]) place_of[k] = put(k, k);
  }

 private:
  /// Writes node `k`, and before it what joins the kernel of `root` with it. *Returns* where it is.
  int put(int k, int root) {
    extents shapes[max_operands];
    graph_node n = typed_[k] >= 0 ? compiled_[typed_[k]] : *r_.nodes[k].derived;
    n.id = root_[k] > 0 ? hash_mix(r_.id_of(k), static_cast<std::uint64_t>(root)) : r_.id_of(k);
    n.visit = -1;
    if (typed_[k] < 0) {
      n.op = m_.copy(n.op, 1);
      n.request = r_.nodes[k].request.where;
    }
    int of[max_operands];
    for (int j = 0; j < n.count; ++j) {
      const int operand = operand_[r_.nodes[k].first + j];
      if (joins_[operand] && root_[operand] != root + 1) {
        if (root_[operand] > 0) between_.push_back(m_, {operand, place_of[operand]});
        root_[operand] = root + 1;
        place_of[operand] = put(operand, root);
      }
      int o = place_of[operand];
      if (general_[k] > 0 && nodes[o].kind() == op_kind::scalar) {
        if (nodes[o].is_literal()) o = put(k, n, number_of(nodes[o]), nullptr);
        o = put(k, n, made_node(*fill_of(nodes[o].type), nodes[o].type, {}, 1), &o);
      }
      bool again = false;
      for (int i = 0; i < j; ++i) again = again || of[i] == o;
      if (general_[k] > 0 && again) o = put(k, n, same(nodes[o]), &o);
      of[j] = o;
    }
    n.first = operands.size;
    for (int j = 0; j < n.count; ++j) operands.push_back(m_, of[j]);
    if (!n.is_leaf() && n.op->infer) {
      // As it was written: chains of products are ordered later.
      for (int j = 0; j < n.count && j < max_operands; ++j) shapes[j] = nodes[of[j]].shape;
      n.shape = n.op->infer(shapes, n.count).shape;
    }
    return nodes.push_back(m_, n);
  }

  int put(int reader, const graph_node& like, graph_node n, const int* operand) {
    n.id = hash_mix(hash_mix(0x6265747765656e, like.id), static_cast<std::uint64_t>(nodes.size));
    n.request = like.request;
    n.runs_with = like.runs_with;
    n.variable = like.variable;
    n.visit = -1;
    n.first = operands.size;
    for (int j = 0; j < n.count; ++j) operands.push_back(m_, operand[j]);
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
    return made_node(o, literal.type, {}, 0);
  }
  /// The same elements once more.
  graph_node same(const graph_node& x) const {
    op_info o = made_operation(op_kind::view, "Reshape", {all_elements, all_elements});
    o.attributes = 2 + x.shape.rank;
    o.attribute[0] = static_cast<std::int64_t>(view_kind::reshape);
    o.attribute[1] = x.shape.rank;
    for (int k = 0; k < x.shape.rank; ++k) o.attribute[2 + k] = same_as_axis(k);
    o.hash = hash_of_made(o);
    return made_node(o, x.type, x.shape, 1);
  }
  graph_node made_node(const op_info& o, element type, const extents& shape, int operand_count) const {
    graph_node n;
    n.count = operand_count;
    n.op = m_.copy(&o, 1);
    n.type = type;
    n.shape = shape;
    n.made = 0;
    return n;
  }

  arena& m_;
  arena_list<node_between>& between_;
  const refinement& r_;
  const int* typed_;
  const int* operand_;
  const kernel_partition* repeated_;
  const graph_view& compiled_;
  const int* general_;
  bool* joins_;  // per node of the refinement: whether it is written with the kernels that it is in
  int* root_;    // of such: 1 + the node whose kernel it was last written for
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
