// SPDX-License-Identifier: BSL-1.0
// The lowered graph: an array of small structs, operands before their consumers. All passes are loops over it.
#pragma once

#include <onto/expr/derived_value.hpp>
#include <onto/expr/operation.hpp>

#include <cstdint>
#include <string_view>

namespace onto {

/// One node of the lowered graph.
struct graph_node {
  const op_info* op = nullptr;
  std::uint64_t id = 0;
  element type = element::float32;
  extents shape{};
  int first = 0;               // index of the first operand in graph_view::operands
  int count = 0;               // number of operands
  place request{};             // what `on` asks for
  std::string_view name{};     // given by the program, or empty
  int visit = 0;               // where its run-time state is found
  bool holds_values = false;   // may stand for several nodes, whose unnamed scalars or constants differ
  int made = -1;               // where a derivation made its operation: which one
  int runs_with = -1;          // of a derivation's nodes: the node that it runs where that runs
  std::uint64_t variable = 0;  // of an optimizer's: the id of the variable that it runs where that is

  ONTO_INLINE constexpr op_kind kind() const { return op->kind; }
  constexpr bool is_symbol() const { return op->kind == op_kind::placeholder || op->kind == op_kind::variable; }
  ONTO_INLINE constexpr bool is_leaf() const {
    return is_symbol() || op->kind == op_kind::constant || op->kind == op_kind::scalar;
  }
  /// A scalar that is part of the code.
  constexpr bool is_literal() const { return op->kind == op_kind::scalar && op->attributes == 1; }
  /// Whether it is a product, of matrices or a convolution: its kernel does what follows, too.
  ONTO_INLINE constexpr bool has_epilogue() const { return op->has_epilogue; }
  ONTO_INLINE constexpr bool is_map() const { return op->kind == op_kind::map || op->kind == op_kind::generator; }
};

/// One step of the walk from the fetches down: how a node's run-time state is reached.
struct graph_visit {
  int parent = -1;   // visit above, or -1 for a fetch
  int child = 0;     // which operand of the one above; for a fetch, which fetch
  int node = -1;     // the node found there
  int same_as = -1;  // the visit that defined the node, where this one met it again
  place scope{};     // of an `on` scope
  const detail::derivative_rules* derivatives =
      nullptr;  // of a gradient: then its children are what is derived, and by what
};

/// Two different things under one name.
struct name_clash {
  bool found = false;
  std::string_view name{};
};

/// A graph as the passes see it.
struct graph_view {
  const graph_node* nodes = nullptr;
  int count = 0;
  const int* operands = nullptr;
  const int* fetches = nullptr;
  int fetch_count = 0;
  const graph_visit* visits = nullptr;
  int visit_count = 0;
  int written =
      0;  // nodes with those that nothing fetched needs, which come last: a loss of which gradients are fetched

  ONTO_INLINE constexpr const graph_node& operator[](int n) const { return nodes[n]; }
  ONTO_INLINE constexpr int operand(int n, int k) const { return operands[nodes[n].first + k]; }

  ONTO_BEGIN_RUNS_ONCE
  /// The element type by which an operation's kernels are chosen.
  constexpr element kernel_element(int n) const {
    const graph_node& x = nodes[n];
    if (x.count == 0) return x.type;
    return nodes[operand(n, x.count > 1 ? 1 : 0)].type;
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace onto
