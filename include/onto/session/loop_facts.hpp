// SPDX-License-Identifier: BSL-1.0
// Which programs are one loop over operands that lie next to each other, all of one shape, or rows for each of it, or
// one value for all.
#pragma once

#include <onto/session/graph_of_uses.hpp>
#include <onto/session/kernels.hpp>

#include <type_traits>

namespace onto::detail {

/// Whether two shapes may be the same.
constexpr bool may_equal(const extents& a, const extents& b) {
  if (a.rank != b.rank) return false;
  for (int k = 0; k < a.rank; ++k)
    if (a.dims[k] != b.dims[k] && a.dims[k] != dyn && b.dims[k] != dyn) return false;
  return true;
}

/// The node over whose shape a kernel runs: the root, or what it folds.
constexpr int looped_node(const graph_view& g, int root) {
  return g[root].kind() == op_kind::reduce ? g.operand(root, 0) : root;
}

/// Whether a shape may be the last extents of `space`, and not all of them: a row, for each of the space.
constexpr bool may_be_row(const extents& a, const extents& space) {
  if (a.rank == 0 || a.rank >= space.rank) return false;
  for (int k = 1; k <= a.rank; ++k)
    if (a.dims[a.rank - k] != space.dims[space.rank - k] && a.dims[a.rank - k] != dyn &&
        space.dims[space.rank - k] != dyn)
      return false;
  return true;
}

/// Whether a program is one loop over its leaves: a map, or a map of which all values are folded. As far as types tell
/// nothing is converted when it is loaded, or seen through a view, and nothing is broadcast but values of rank 0 and
/// rows of one rank beside what is mapped.
constexpr bool is_one_loop(const graph_view& g, const kernel_partition& p) {
  if (g.count == 0 || g.fetch_count != 1 || g.count != g.written) return false;  // the last: of a loss alone
  const int root = g.fetches[0];
  if (p.kernel_of[root] != root || is_row_kernel(g, p, root)) return false;
  const bool folds = g[root].kind() == op_kind::reduce;
  if (folds ? !folds_all(*g[root].op) : !g[root].is_map()) return false;
  const extents& space = g[looped_node(g, root)].shape;
  int rank_of_rows = 0;
  for (int n = 0; n < g.count; ++n) {
    const graph_node& x = g[n];
    if (is_half_precision(x.type) || is_text(x.type) || x.made >= 0) return false;
    if (x.kind() == op_kind::scalar || (folds && n == root)) continue;
    if (!may_equal(x.shape, space)) {
      if (folds || x.kind() == op_kind::generator) return false;
      if (x.shape.rank > 0) {
        if (!may_be_row(x.shape, space) || (rank_of_rows > 0 && x.shape.rank != rank_of_rows)) return false;
        rank_of_rows = x.shape.rank;
      }
    }
    if (x.kind() == op_kind::generator && !x.shape.is_static()) return false;
    if (!x.is_leaf() && (!x.is_map() || p.kernel_of[n] != root || p.path_of[n] >= 0 || p.result[n])) return false;
  }
  return true;
}

inline namespace ONTO_ABI {

/// The loop of a program, if it is one.
template <class E, bool WellFormed = graph_of<E>::well_formed>
struct one_loop_facts {
  static constexpr bool possible = false;
};
template <class E>
struct one_loop_facts<E, true> {
  using typed = graph_of<E>;
  static constexpr bool values_decide = typed::lowered::sizes.values_decide;
  static constexpr bool typed_is = is_one_loop(typed::view, fused<typed>::value);
  static constexpr int root = typed::view.fetches[0];
  static constexpr int sizes = element_sizes(typed::view);

  /// How the kernel evaluates what may be several nodes: per use, it is right whatever their values are, and where it
  /// computes nothing again the results are the same.
  static constexpr evaluation find_how() {
    if constexpr (typed_is && values_decide)
      return is_as_short_apart<E>() ? evaluation::per_use : evaluations<typed>::value.whole[root];
    else
      return evaluation::once;
  }
  static constexpr evaluation how = find_how();
  static constexpr bool apart = how == evaluation::per_use;

  /// The graph whose nodes are the kernel's operands.
  using graph = typename std::conditional_t<apart, std::type_identity<graph_apart<E>>, std::type_identity<typed>>::type;
  static constexpr bool find_possible() {
    if constexpr (apart)
      return is_one_loop(graph::view, fused<graph>::value);
    else
      return typed_is;
  }
  static constexpr bool possible = find_possible();
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
