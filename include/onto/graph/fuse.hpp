// SPDX-License-Identifier: BSL-1.0
// Fusion: which nodes run together as one kernel. Decided from operations and requests alone, so it is the same on
// every machine.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/kernels.hpp>
#include <onto/graph/row_fusion.hpp>
#include <onto/graph/view_path.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether `small` certainly has fewer elements than `large`, to which it broadcasts.
constexpr bool stretches(const extents& small, const extents& large) {
  for (int k = 1; k <= large.rank; ++k) {
    const int x = k <= small.rank ? small.dims[small.rank - k] : 1;
    if (x == 1 && large.dims[large.rank - k] != 1) return true;
  }
  return false;
}

/// Whether what is below a view path certainly has fewer elements than the kernel's space, so that they are met again
/// and again.
constexpr bool repeats(const graph_view& g, const kernel_partition& p, int root, int path) {
  for (; path >= 0; path = p.path_of[path]) {
    if (stretches(g[path].shape, shape_of_path(g, root, p.path_of[path]))) return true;
    if (view_of(*g[path].op) == view_kind::broadcast && stretches(g[g.operand(path, 0)].shape, g[path].shape))
      return true;
  }
  return false;
}

/// Extents are equal for certain.
constexpr bool surely_equal(const extents& a, const extents& b) { return a == b && a.is_static(); }

/// Whether an element's index at the end of a view path is its index in the kernel's space.
constexpr bool keeps_index(const graph_view& g, const kernel_partition& p, int root, int path) {
  for (; path >= 0; path = p.path_of[path])
    if (!is_reshape(g, path) || !surely_equal(g[path].shape, shape_of_path(g, root, p.path_of[path]))) return false;
  return true;
}

/// Whether the kernel with this root makes maps that it sees through views.
constexpr bool has_paths(const kernel_partition& p, int root) {
  for (int m = p.first_member[root]; m >= 0 && m != root; m = p.next_member[m])
    if (p.path_of[m] >= 0) return true;
  return false;
}

/// From this many kernels on that read a transposed value, a copy that they read along memory is faster. A measurement:
/// docs/adr/0021-index-maps.md.
inline constexpr int copied_reads = 3;

/// Groups nodes into kernels.
class fuser {
 public:
  constexpr fuser(const graph_view& g, const kernel_arrays& out)
      : g_(g),
        k_(out),
        p_(out),
        use_count_(g.count),
        last_user_(g.count),
        targets_(g.count, unset),
        splits_(g.count, -1),
        uses_(count_uses(g, use_count_.get(), last_user_.get())),
        rows_(g) {}

  /// *Complexity* linear in nodes and edges, but for views that are read transposed and for reshapes.
  constexpr void run() {
    k_.clear(g_.count);
    for (int k = 0; k < g_.fetch_count; ++k) target(g_.fetches[k]) = fetched;
    for (int n = 0; n < g_.count; ++n) {
      if (k_.task_sums && k_.is_task_sum(n)) set_apart(n);
      if (reads_rolls(n)) splits_.get()[n] = reading_rolls;
    }
    fuse_products();
    for (int n = g_.count - 1; n >= 0; --n) {
      if (g_[n].is_leaf()) continue;
      const operand_space s = p_.runs(n) ? join_product(n) : g_[n].kind() == op_kind::view ? fuse_view(n) : fuse_map(n);
      const bool parts = joins_parts(n);
      for (int k = 0; k < g_[n].count; ++k)
        offer(g_.operand(n, k), parts && !joins_parts(g_.operand(n, k)) ? operand_space{} : s);
    }
  }

 private:
  // Of a node whose consumers are not in one kernel, or are none that takes it in.
  static constexpr int none = -1;
  static constexpr int unset = -2;
  static constexpr int fetched = -3;

  static constexpr int reading_rolls = -4;

  /// What a node's operands may join: a kernel, or none, and the view path through which it reads them.
  struct operand_space {
    int kernel = none;
    int path = -1;
  };

  /// The terms of a sum over tasks are in memory, and its only members are sums: it may become an all-reduce.
  constexpr void set_apart(int n) {
    for (int k = 0; k < g_[n].count; ++k) {
      int o = g_.operand(n, k);
      if (is_inner_sum(o)) continue;
      while (is_reshape(g_, o)) o = g_.operand(o, 0);
      target(o) = fetched;
      use_count_.get()[o] += 2;
    }
  }

  ONTO_INLINE constexpr bool is_inner_sum(int n) const { return k_.task_sums && k_.task_sums[n] == 2; }

  /// The one kernel all consumers of a node are in, so far.
  constexpr int& target(int n) const { return targets_.get()[n]; }
  constexpr bool is_fetched(int n) const { return target(n) == fetched; }

  /// Products first: what follows them is theirs before it is anyone else's.
  constexpr void fuse_products() {
    matmul_epilogue* out = k_.epilogues;
    for (int m = 0; m < g_.count; ++m) {
      if (!g_[m].has_epilogue()) continue;
      matmul_epilogue e;
      int top = match_epilogue(g_, uses_, m, e);
      // Of two products that are added, the first has the sum, and the second is its addend.
      for (int n = m; n != top && top != m;) {
        n = uses_.only_user(n);
        if (!p_.runs(n)) continue;
        top = m;
        e = {};
        e.product = m;
      }
      for (int n = m; n != top; n = uses_.only_user(n)) k_.kernel_of[n] = top;
      k_.kernel_of[top] = top;
      if (e.scaled >= 0) k_.kernel_of[e.scaled] = top;
      *out++ = e;
    }
  }

  constexpr operand_space join_product(int n) {
    k_.path_of[n] = -1;
    k_.prepend(n, k_.kernel_of[n]);
    return {};
  }

  /// A view is an index map where its one consumer can read through it, or is shown; else it is a copy.
  constexpr operand_space fuse_view(int n) {
    const int wanted = target(n), below = g_.operand(n, 0);
    if (const int user = uses_.only_user(n); joins_parts(below) && is_reshape(g_, n) && moves_axes_of_one(g_, n) &&
                                             user >= 0 && joins_parts(user))  // parts of a part, as stacks are
      return {p_.kernel_of[user], n};
    const bool flat = is_flat(g_, p_, below);
    const bool strides = !is_reshape(g_, n) || keeps_axes(g_, n) || (flat && !g_[base_of(g_, p_, below)].is_map());
    const bool in_rows = rows_.any() && wanted >= 0 && is_row_kernel(g_, p_, wanted);
    const int reads = is_fetched(n) || (wanted >= 0 && !in_rows) ? 0 : transposed_reads(g_, p_, n);
    const bool rolls = is_roll(g_, n);
    if (wanted >= 0 && !in_rows && reads_along_memory(g_, p_.path_of, n, p_.path_of[n]) &&
        (rolls ? joins_roll(n, wanted) : strides || (p_.path_of[n] < 0 && may_split(g_, splits_.get(), n, wanted)))) {
      if (!strides || rolls) splits_.get()[n] = wanted;
      return {wanted, n};
    }
    if (rolls && !is_fetched(n)) {  // read at several paths
      splits_.get()[n] = reader_of_roll(n);
      if (splits_.get()[n] >= 0) return {};
    }
    const bool copied = rolls || is_fetched(n) || (!strides && !flat) || reads >= copied_reads ||
                        (makes_operand(n) && (reads > 1 || view_of(*g_[n].op) == view_kind::slice));
    if (!copied) return {};
    k_.path_of[n] = -1;
    k_.prepend(n, n);
    return {reads_along_memory(g_, p_.path_of, n, -1) ? n : none, is_reshape(g_, n) ? -1 : n};
  }

  /// Whether the kernel with this root reads through rolls at a view path: maps do, where only rolls are above. Kernels
  /// of rows and of products do not, whatever their root is.
  constexpr bool sees_rolls(int root, int path) const {
    for (; path >= 0; path = p_.path_of[path])
      if (!is_roll(g_, path)) return false;
    for (int m = 0; m < root; ++m)
      if (g_[m].has_epilogue() && p_.kernel_of[m] == root) return false;
    return (g_[root].is_map() || g_[root].kind() == op_kind::assign) && !(rows_.any() && is_row_kernel(g_, p_, root));
  }

  /// Whether roll `n` is no copy in the kernel with this root.
  constexpr bool joins_roll(int n, int root) const { return sees_rolls(root, p_.path_of[n]) && !splits(root); }

  /// Whether the kernel with this root sees a reshape that splits its space, in which rolls are no layouts; or, of
  /// `rolls`, whether it reads through one.
  constexpr bool splits(int root, bool rolls = false) const {
    for (int u = 0; u < g_.count; ++u)
      if (splits_.get()[u] == root && is_roll(g_, u) == rolls) return true;
    return false;
  }

  /// The one kernel that reads roll `n`, by itself or through other rolls, or `none`: elsewhere it is a copy.
  constexpr int reader_of_roll(int n) const {
    int kernel = none;
    for (int u = n + 1; u < g_.count; ++u)
      for (int k = 0; k < g_[u].count; ++k) {
        if (g_.operand(u, k) != n) continue;
        const int root = is_roll(g_, u) ? splits_.get()[u] : p_.kernel_of[u];
        if (root < 0 || (kernel >= 0 && root != kernel)) return none;
        if (!is_roll(g_, u) && !sees_rolls(root, p_.path_of[u])) return none;
        kernel = root;
      }
    return kernel >= 0 && !splits(kernel) ? kernel : none;
  }

  /// Whether a map has operands of its own size that are rolls, or are made of rolls.
  ONTO_INLINE constexpr bool reads_rolls(int n) const {
    for (int k = 0; g_[n].is_map() && k < g_[n].count; ++k) {
      const int o = g_.operand(n, k);
      if ((is_roll(g_, o) || splits_.get()[o] == reading_rolls) && !is_fetched(o) &&
          !stretches(g_[o].shape, g_[n].shape))
        return true;
    }
    return false;
  }

  /// Whether the kernel of a view, if it has one, makes what the view is of: nothing else needs that.
  constexpr bool makes_operand(int n) const {
    const int below = g_.operand(n, 0);
    return g_[below].kind() == op_kind::map && uses_[below] == 1 && !p_.runs(below) && same_devices(g_, below, n) &&
           reads_along_memory(g_, p_.path_of, n, -1);
  }

  /// A map joins the kernel of its consumers when they are all in one kernel that takes its elements one by one; a fold
  /// over rows, when that kernel goes over the same rows; a concatenation, that of one. All else is a kernel of its
  /// own.
  constexpr operand_space fuse_map(int n) {
    const graph_node& x = g_[n];
    const int wanted = target(n);
    bool joins = wanted >= 0 && (same_devices(g_, n, wanted) || is_inner_sum(n));
    if (k_.is_task_sum(n)) {
      joins = joins && is_inner_sum(n);
    } else if (joins) {
      if (joins_parts(n))
        joins = joins_parts(wanted);
      else if (x.is_map())
        joins = map_joins(n, wanted);
      else
        joins = rows_.any() && p_.path_of[n] < 0 && !has_paths(p_, wanted) && rows_.joins(n, wanted, p_) &&
                !splits(wanted, true) && !splits(wanted);
    }
    if (!joins) k_.path_of[n] = -1;
    k_.prepend(n, joins ? wanted : n);
    const bool takes_in =
        x.is_map() || x.kind() == op_kind::assign || x.kind() == op_kind::reduce || folds_rows(g_, n) || joins_parts(n);
    return {takes_in ? p_.kernel_of[n] : none, p_.path_of[n]};
  }

  /// Whether node `n` copies parts to their places: what it is itself a part of copies those where it would be.
  ONTO_INLINE constexpr bool joins_parts(int n) const {
    return g_[n].kind() == op_kind::concat && !is_part_of_concat(g_[n]) && !k_.task_sums;
  }

  constexpr bool map_joins(int n, int wanted) const {
    const graph_node& x = g_[n];
    const extents& space = shape_of_path(g_, wanted, p_.path_of[n]);
    // Else each of its rolls would be a copy.
    if (splits_.get()[n] == reading_rolls && !sees_rolls(wanted, p_.path_of[n])) return false;
    if (x.kind() == op_kind::generator && !x.op->uniform && !generator_joins(n, wanted, space)) return false;
    return x.op->cost < recompute_limit || !(stretches(x.shape, space) || repeats(g_, p_, wanted, p_.path_of[n])) ||
           (p_.path_of[n] < 0 && rows_.once_a_row(n, wanted, p_));
  }

  /// Whether elements that are made from their indices have them in the kernel's space. A fold of rows in phases has no
  /// indices, and is worth more than what it does not take in.
  constexpr bool generator_joins(int n, int wanted, const extents& space) const {
    const bool folds = g_[wanted].kind() == op_kind::reduce, folded_alone = folds && g_.operand(wanted, 0) == n;
    if (!folded_alone && !(surely_equal(g_[n].shape, space) && keeps_index(g_, p_, wanted, p_.path_of[n])))
      return false;
    if (folds && g_[n].op->cost >= recompute_limit) return false;
    for (int m = 0; folds && rows_.any() && m < g_.count; ++m)
      if (m != wanted && rows_.joins(m, wanted, p_)) return false;
    return true;
  }

  /// Notes for an operand what one of its consumers lets it join: all of them must agree.
  constexpr void offer(int o, const operand_space& s) {
    int& wanted = target(o);
    if (wanted != fetched)
      wanted = s.kernel >= 0 && (wanted == unset || (wanted == s.kernel && k_.path_of[o] == s.path)) ? s.kernel : none;
    k_.path_of[o] = wanted >= 0 ? s.path : -1;
  }

  const graph_view& g_;
  kernel_arrays k_;
  kernel_partition p_;  // the same, to be read
  scratch_array<int> use_count_, last_user_;
  scratch_array<int> targets_;
  scratch_array<int> splits_;  // of some reshapes and rolls, the kernel they are in; of maps, whether they read rolls
  node_uses uses_;
  row_finder rows_;
};

/// The pass: nodes become kernels.
struct fuse_nodes {
  static constexpr void run(const graph_view& g, const kernel_arrays& out) { fuser(g, out).run(); }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
