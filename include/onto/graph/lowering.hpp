// SPDX-License-Identifier: BSL-1.0
// Lowering: the graph of the expressions that are fetched together, as a constant.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/builder.hpp>
#include <onto/graph/made_operation.hpp>
#include <onto/graph/matmul_chain.hpp>

#include <utility>

namespace onto {

namespace detail {

ONTO_BEGIN_RUNS_ONCE
/// Puts nodes that nothing fetched needs last; what assigns to a variable is needed. Writes the place of each, and
/// *returns* how many are needed.
/// *Complexity* linear in nodes and operands, and in nodes for each extent that is looked up.
constexpr int needed_first(const graph_node* nodes, int count, const int* operands, const int* fetches, int fetch_count,
                           int* place_of) {
  for (int n = 0; n < count; ++n) place_of[n] = nodes[n].kind() == op_kind::assign ? 0 : -1;
  for (int k = 0; k < fetch_count; ++k) place_of[fetches[k]] = 0;
  for (int n = count - 1; n >= 0; --n)
    for (int k = 0; k < nodes[n].count && place_of[n] == 0; ++k) place_of[operands[nodes[n].first + k]] = 0;
  // Of a node whose extents alone are needed, the leaves: from their shapes its own is inferred.
  constexpr int shape_needed = -2;
  for (int n = count - 1; n >= 0; --n) {
    if (place_of[n] == shape_needed) {
      if (nodes[n].is_leaf()) place_of[n] = 0;
      for (int k = 0; k < nodes[n].count; ++k)
        if (int& o = place_of[operands[nodes[n].first + k]]; o < 0) o = shape_needed;
    }
    if (place_of[n] == -1 || nodes[n].made < 0) continue;
    for_each_source(*nodes[n].op, [&](std::uint64_t id) {
      for (int m = 0; m < n; ++m)
        if (nodes[m].id == id && place_of[m] < 0) place_of[m] = shape_needed;
    });
  }
  int needed = 0;
  for (int n = 0; n < count; ++n)
    if (place_of[n] == 0) place_of[n] = needed++;
  int last = needed;
  for (int n = 0; n < count; ++n)
    if (place_of[n] < 0) place_of[n] = last++;
  return needed;
}
ONTO_END_RUNS_ONCE

/// The exact sizes of a lowered graph.
struct graph_sizes {
  int nodes, needed, operands, visits, made;
  bool values_decide, overflow, broken, unreached;
  name_clash clash;
  std::string_view underived;
};

/// The operations that derivations made.
template <int Count>
struct made_operations {
  op_info of[Count];
};

/// A lowered graph, sized exactly.
template <int Nodes, int Needed, int Operands, int Visits, int Fetches>
struct graph_data {
  graph_node nodes[Nodes > 0 ? Nodes : 1]{};
  int operands[Operands > 0 ? Operands : 1]{};
  graph_visit visits[Visits > 0 ? Visits : 1]{};
  int fetches[Fetches]{};

  constexpr graph_view view() const { return {nodes, Needed, operands, fetches, Fetches, visits, Visits, Nodes}; }
};

template <bool Apart, class... E>
struct lowering_of {
  static constexpr int most_nodes = Apart ? 64 : node_limit;
  static constexpr int fetch_count = static_cast<int>(sizeof...(E));

  template <int... K>
  static constexpr void run(graph_builder& b, int* fetches, std::integer_sequence<int, K...>) {
    ((fetches[K] = E::node::put(b, place{}, false, -1, K)), ...);
  }

  static constexpr graph_sizes measure() {
    graph_builder b(Apart, most_nodes);
    int fetches[sizeof...(E)]{};
    run(b, fetches, std::make_integer_sequence<int, fetch_count>{});
    if (b.overflow) return {0, 0, 0, 0, 0, false, true, b.broken, false, {}, {}};
    int needed = b.nodes.size();
    if (b.derives) {
      scratch_array<int> place_of(needed);
      needed = needed_first(b.nodes.begin(), needed, b.operands.begin(), fetches, fetch_count, place_of.get());
    }
    return {b.nodes.size(), needed,   b.operands.size(), b.visits.size(), b.made.size(), b.values_decide,
            false,          b.broken, b.unreached,       b.clash,         b.underived};
  }
  static constexpr graph_sizes sizes = measure();

  static constexpr auto collect_made() {
    made_operations<(sizes.made > 0 ? sizes.made : 1)> m{};
    if constexpr (sizes.made > 0) {
      graph_builder b(Apart, most_nodes);
      int fetches[sizeof...(E)]{};
      run(b, fetches, std::make_integer_sequence<int, fetch_count>{});
      for (int k = 0; k < sizes.made; ++k) m.of[k] = *b.made[k];
    }
    return m;
  }
  static constexpr auto made = collect_made();

  static constexpr void put_needed_first(graph_builder& b, int* fetches) {
    int place_of[sizes.nodes]{};
    graph_node nodes[sizes.nodes]{};
    needed_first(b.nodes.begin(), sizes.nodes, b.operands.begin(), fetches, fetch_count, place_of);
    for (int n = 0; n < sizes.nodes; ++n) nodes[place_of[n]] = b.nodes[n];
    for (int n = 0; n < sizes.nodes; ++n) {
      b.nodes[n] = nodes[n];
      if (nodes[n].runs_with >= 0) b.nodes[n].runs_with = place_of[nodes[n].runs_with];
    }
    for (int k = 0; k < sizes.operands; ++k) b.operands[k] = place_of[b.operands[k]];
    for (int k = 0; k < fetch_count; ++k) fetches[k] = place_of[fetches[k]];
    for (int v = 0; v < sizes.visits; ++v)
      if (b.visits[v].node >= 0) b.visits[v].node = place_of[b.visits[v].node];
  }

  static constexpr auto lower() {
    graph_data<sizes.nodes, sizes.needed, sizes.operands, sizes.visits, fetch_count> g;
    if constexpr (sizes.nodes > 0) {
      graph_builder b(Apart, most_nodes);
      run(b, g.fetches, std::make_integer_sequence<int, fetch_count>{});
      if constexpr (sizes.needed < sizes.nodes) put_needed_first(b, g.fetches);
      int uses[sizes.nodes]{}, next[sizes.nodes]{}, at[sizes.nodes]{};
      bool inside[sizes.nodes]{}, moves[sizes.nodes]{};
      for (int n = sizes.needed; n < sizes.nodes; ++n) {
        g.nodes[n] = b.nodes[n];
        at[n] = n;
      }
      order_chains(b.nodes.begin(), sizes.needed, b.operands.begin(), sizes.operands, g.fetches, fetch_count,
                   {uses, next, inside, moves}, at, g.nodes);
      if constexpr (sizes.made > 0)
        for (graph_node& n : g.nodes)
          if (n.made >= 0) n.op = &made.of[n.made];
      if constexpr (sizes.made > 0)
        for (graph_node& n : g.nodes)
          if (n.runs_with >= 0) n.runs_with = at[n.runs_with];
      for (int k = 0; k < sizes.operands; ++k) g.operands[k] = b.operands[k];
      for (int k = 0; k < sizes.visits; ++k) {
        g.visits[k] = b.visits[k];
        if (g.visits[k].node >= 0) g.visits[k].node = at[g.visits[k].node];
      }
    }
    return g;
  }
  static constexpr auto data = lower();
};
template <class... E>
using lowering = lowering_of<false, E...>;

/// The graph of an expression where each use of what holds values is a node of its own, if they are few.
template <class E>
struct graph_apart {
  using lowered = lowering_of<true, E>;
  static constexpr graph_view view = lowered::data.view();
};

// One struct a mistake: its name and arguments are what the compiler prints. A mistake is reported by naming
// `reported`, outside of constant expressions: clang takes no constant that needs a struct that failed.
template <class Name>
struct two_meanings_of_one_name {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(
      ok == true,
      "[onto.name] one name stands for two different things (or is placed on two devices); rename one of them");
};

template <class Name>
struct variable_is_assigned_twice {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.variable] one run assigns to a variable twice, and the order is not said; assign in two runs");
};

template <class Name>
struct variable_is_assigned_in_two_places {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.variable] one run assigns to a variable in two places, as where one assignment is used inside "
                "on<D>(...) and outside of it; place the assignment itself, on<D>(assign_add(w, x)), or assign in two "
                "runs");
};

template <class Name>
struct operation_has_no_derivative {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.gradient] an operation between the loss and what it is derived by has no derivative; write "
                "stop_gradient(x) around it, or give an operation of your own a derivative");
};

template <int Limit>
struct loss_does_not_depend {
  using reported = void;
  static constexpr bool ok = Limit < 0;
  static_assert(ok == true,
                "[onto.gradient] the loss does not depend on what it is derived by, or only through operations that "
                "pass no gradient (comparisons, rounding, integers, stop_gradient); of a loss under on<...> derive by "
                "on<...>(x), unless x is a placeholder or a variable");
};

template <int Limit>
struct too_many_nodes {
  using reported = void;
  static constexpr bool ok = Limit < 0;
  static_assert(ok == true,
                "[onto.graph] more than 2048 nodes in one run; run it in parts, and keep what they share in variables");
};

template <const std::string_view& Text, std::size_t... K>
auto spell_name(std::index_sequence<K...>) -> letters<Text[K]...>;

/// The lowered graph of the expressions that are fetched together.
/// *Mandates* at most 2048 nodes, and one meaning for each name.
template <class... E>
struct graph_of {
  using lowered = lowering<E...>;
  static constexpr int most_nodes = node_limit;
  static constexpr bool small_enough = !lowered::sizes.overflow;
  static constexpr bool clash = lowered::sizes.clash.found;

  static constexpr graph_view view = lowered::data.view();

  /// A variable with two assignments, or -1, and whether they are asked for in two places.
  struct two_assignments {
    int variable = -1;
    bool apart = false;
  };
  static constexpr two_assignments find_assigned_twice() {
    for (int n = 0; n < view.count; ++n)
      for (int m = 0; view[n].kind() == op_kind::assign && m < n; ++m)
        if (view[m].kind() == op_kind::assign && view.operand(m, 0) == view.operand(n, 0))
          return {view.operand(n, 0), !(view[m].request == view[n].request)};
    return {};
  }
  static constexpr two_assignments twice = find_assigned_twice();
  static constexpr int assigned_twice = twice.variable;
  static constexpr bool underived = !lowered::sizes.underived.empty();
  static constexpr bool unreached = lowered::sizes.unreached;
  static constexpr std::string_view wrong_name = clash                 ? lowered::sizes.clash.name
                                                 : assigned_twice >= 0 ? view[assigned_twice].name
                                                                       : lowered::sizes.underived;

  static constexpr bool well_formed =
      !lowered::sizes.broken && small_enough && !clash && assigned_twice < 0 && !underived && !unreached;
};

/// Reports what is wrong with a graph that is not well-formed, unless that was reported where it was written.
template <class Graph>
constexpr void report_mistake() {
  if constexpr (!Graph::small_enough) {
    (void)static_cast<typename too_many_nodes<Graph::most_nodes>::reported*>(nullptr);
  } else if constexpr (Graph::unreached && !Graph::underived) {
    (void)static_cast<typename loss_does_not_depend<Graph::most_nodes>::reported*>(nullptr);
  } else if constexpr (Graph::clash || Graph::assigned_twice >= 0 || Graph::underived) {
    using name = decltype(spell_name<Graph::wrong_name>(std::make_index_sequence<Graph::wrong_name.size()>{}));
    using found = std::conditional_t<
        Graph::clash, two_meanings_of_one_name<name>,
        std::conditional_t<Graph::underived, operation_has_no_derivative<name>,
                           std::conditional_t<Graph::twice.apart, variable_is_assigned_in_two_places<name>,
                                              variable_is_assigned_twice<name>>>>;
    (void)static_cast<typename found::reported*>(nullptr);
  }
}

}  // namespace detail

}  // namespace onto
