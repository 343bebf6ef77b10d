// SPDX-License-Identifier: BSL-1.0
// An expression as it is written, for the reference: each occurrence of a node is a node, nothing is merged, so that no
// decision of the library's about identity reaches what its results are compared with.
#pragma once

#include <onto/onto.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace onto_test {

class written_graph {
 public:
  template <class... E>
  static written_graph of(const E&...) {
    written_graph g;
    int fetch = 0;
    g.fetches_ = {E::node::put(g, onto::place{}, false, -1, fetch++)...};
    return g;
  }

  onto::graph_view view() const {
    return {nodes_.data(),
            static_cast<int>(nodes_.size()),
            operands_.data(),
            fetches_.data(),
            static_cast<int>(fetches_.size()),
            visits_.data(),
            static_cast<int>(visits_.size())};
  }

  // What expressions put themselves into.
  int visit(int parent, int child, onto::place = {}) {
    onto::graph_visit v;
    v.parent = parent;
    v.child = child;
    visits_.push_back(v);
    return static_cast<int>(visits_.size()) - 1;
  }
  bool meets(int, const onto::detail::node_facts&, const onto::place&) { return false; }
  int node_at(int visit) const { return visits_[static_cast<std::size_t>(visit)].node; }
  int leave(int visit, int node) { return visits_[static_cast<std::size_t>(visit)].node = node; }
  int name(int visit, const onto::detail::node_facts&, const onto::place&, int node, std::string_view) {
    return leave(visit, node);
  }
  int add(int visit, const onto::detail::node_facts& facts, const onto::op_info& op, const onto::place&,
          const int* list, int count) {
    onto::graph_node n;
    n.op = &op;
    n.id = facts.id;
    n.type = facts.type;
    n.shape = facts.shape;
    n.first = static_cast<int>(operands_.size());
    n.count = count;
    n.visit = visit;
    operands_.insert(operands_.end(), list, list + count);
    nodes_.push_back(n);
    return leave(visit, static_cast<int>(nodes_.size()) - 1);
  }
  int symbol(int parent, int child, const onto::detail::node_facts& facts, const onto::op_info& op, const onto::place&,
             std::string_view) {
    return add(visit(parent, child), facts, op, {}, nullptr, 0);
  }
  int leaf(int parent, int child, const onto::detail::node_facts& facts, const onto::op_info& op, const onto::place&,
           std::string_view, const onto::place& = {}) {
    return add(visit(parent, child), facts, op, {}, nullptr, 0);
  }

 private:
  std::vector<onto::graph_node> nodes_;
  std::vector<int> operands_;
  std::vector<onto::graph_visit> visits_;
  std::vector<int> fetches_;
};

}  // namespace onto_test
