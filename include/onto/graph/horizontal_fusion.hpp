// SPDX-License-Identifier: BSL-1.0
// Horizontal fusion: kernels of maps over the same extents become one kernel with several results, where they share
// what they load, read each other element by element, or are so small that launching them is what they cost.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/batched_updates.hpp>
#include <onto/graph/kernel_group.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// How many kernels back a partner is looked for.
inline constexpr int merge_window = 64;

/// Merges kernels. Nothing comes to wait for more than it did: of two kernels that are merged, each waits for the same
/// others; but small ones that nothing waits for may all be last. So no cycle can arise either.
class horizontal_fuser {
 public:
  /// `kernels` of them are in `k`, which is rewritten.
  constexpr horizontal_fuser(const graph_view& g, const kernel_arrays& k, int kernels)
      : g_(g),
        k_(k),
        p_(k),
        words_((kernels + 63) / 64),
        numbers_(g.count, -1),
        sources_(g.count),
        groups_(kernels, kernel_group{}),  // nvcc leaves out members' initializers in an array
        joined_(kernels, -1),
        before_(kernels * words_) {}

  /// *Complexity* kernels * (window + kernels / 64) and nodes.
  constexpr void run() {
    prepare();
    for (int n = 0; n < g_.count; ++n)
      if (p_.kernel_of[n] == n) add(n);
    for (int n = 0; n < g_.count; ++n)
      if (p_.runs(n)) k_.kernel_of[n] = group(group_of(p_.kernel_of[n])).root;
    k_.list_members(g_.count);
    mark_results(g_, k_);
  }

 private:
  constexpr void prepare() {
    int first = -1;
    int kernels = 0;
    for (int n = 0; n < g_.count; ++n) {
      extents_of(n) = source_of(n);
      if (p_.kernel_of[n] != n) continue;
      if (first >= 0 && !(g_[first].request == g_[n].request)) one_request_ = false;
      first = n;
      number(n) = kernels;
      ++kernels;
    }
    for (int n = 0; n < g_.count; ++n)
      for (int k = 0; k < g_[n].count; ++k)
        if (const int o = g_.operand(n, k); p_.kernel_of[o] >= 0 && p_.kernel_of[o] != p_.kernel_of[n])
          ++group(number(p_.kernel_of[o])).readers;
  }

  /// The node whose extents, where they are not known, those of `n` are for certain.
  constexpr int source_of(int n) const {
    const graph_node& x = g_[n];
    if (is_operation<op::assign_add>(x.op) || is_operation<op::assign_sub>(x.op)) return g_.operand(n, 0);
    if (x.kind() != op_kind::map) return n;
    int source = -1;
    for (int k = 0; k < x.count; ++k) {
      const int o = g_.operand(n, k);
      if (g_[o].shape.rank == 0) continue;
      if (source >= 0 && extents_of(o) != source) return n;
      source = extents_of(o);
    }
    return source < 0 ? n : source;
  }

  constexpr int& number(int root) const { return numbers_.get()[root]; }
  constexpr int& extents_of(int n) const { return sources_.get()[n]; }
  constexpr kernel_group& group(int k) const { return groups_.get()[k]; }
  constexpr int& joined(int k) const { return joined_.get()[k]; }

  constexpr int group_of(int root) const {
    int k = number(root);
    while (joined(k) >= 0) k = joined(k);
    return k;
  }

  // The kernels that kernel `k` waits for, directly or not; merged ones by their group.
  constexpr std::uint64_t* before(int k) const { return before_.get() + k * words_; }
  constexpr bool is_before(int a, int b) const { return (before(b)[a / 64] >> (a % 64) & 1) != 0; }
  constexpr void set_before(int a, int b) const { before(b)[a / 64] |= std::uint64_t{1} << (a % 64); }
  constexpr bool same_before(int a, int b) const {
    for (int w = 0; w < words_; ++w)
      if (before(a)[w] != before(b)[w]) return false;
    return true;
  }

  constexpr bool loads(const kernel_group& x, int node) const {
    for (int k = 0; k < x.load_count; ++k)
      if (x.loads[k] == node) return true;
    return false;
  }

  /// Adds the next kernel and merges it with earlier ones.
  constexpr void add(int root) {
    const int k = count_++;
    kernel_group& x = group(k);
    describe(x, root);
    for (int w = 0; w < words_; ++w) before(k)[w] = 0;
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m]) {
      for (int j = 0; j < g_[m].count; ++j) {
        const int b = base_of(g_, p_, g_.operand(m, j));
        if (p_.kernel_of[b] < 0 || p_.kernel_of[b] == root) continue;
        const int p = group_of(p_.kernel_of[b]);
        set_before(p, k);
        for (int w = 0; w < words_; ++w) before(k)[w] |= before(p)[w];
      }
    }
    if (x.open && !merge_below(k)) merge_beside(k);
  }

  /// The floating type of a kernel's elements, of its result or, where that is none, of what it is made of; the
  /// result's type where there is none.
  ONTO_INLINE constexpr element floats_of(int root) const {
    const element result = computed_as(g_[root].type);
    if (is_floating(result)) return result;
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m])
      for (int k = 0; k < g_[m].count; ++k)
        if (const element e = computed_as(g_[g_.operand(m, k)].type); is_floating(e)) return e;
    return result;
  }
  /// Whether packs of floats of the type `lane` compute a node, whatever is beside it: find_pack_form
  /// (kernel/program.hpp), for the kernel's instructions, has it so and knows more.
  ONTO_INLINE constexpr bool goes_on_packs(int m, element lane) const {
    element_set types = element_bit(computed_as(g_[m].type));
    for (int k = 0; k < g_[m].count; ++k) types |= element_bit(computed_as(g_[g_.operand(m, k)].type));
    const element_set integers = lane == element::float32 && g_[m].op->integer_packs ? integers_beside_floats : 0;
    return g_[m].op->packs && !g_[m].op->uniform &&
           (types & ~(element_bit(lane) | element_bit(element::boolean) | integers)) == 0;
  }

  constexpr void describe(kernel_group& x, int root) {
    const graph_node& r = g_[root];
    const element lane = floats_of(root);
    x.root = root;
    x.open = true;
    x.packs = is_floating(lane);
    x.source = extents_of(root);
    x.home = r.request;
    if (r.kind() == op_kind::assign && g_[g_.operand(root, 0)].request.is_set())
      x.home = g_[g_.operand(root, 0)].request;
    x.small = r.shape.is_static() && r.shape.size() <= small_map;
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m]) {
      const graph_node& n = g_[m];
      x.open = x.open && p_.path_of[m] < 0 && (n.is_map() || (n.kind() == op_kind::assign && m == root));
      x.packs = x.packs && goes_on_packs(m, lane);
      ++x.size;
      for (int k = 0; k < n.count && x.open; ++k) {
        const int o = g_.operand(m, k);
        if (p_.kernel_of[o] == root) continue;
        if (g_[o].kind() == op_kind::scalar) {
          ++x.size;
        } else if (!loads(x, o)) {
          x.open = x.load_count < most_merged;
          if (x.open) x.loads[x.load_count++] = o;
          ++x.size;
          for (int v = o; g_[v].kind() == op_kind::view && !p_.runs(v); v = g_.operand(v, 0)) {
            x.rolls = x.rolls || is_roll(g_, v);
            x.splits = x.splits || (is_reshape(g_, v) && !keeps_axes(g_, v) && !is_flat(g_, p_, g_.operand(v, 0)));
          }
        }
      }
    }
    x.lane = x.packs ? lane : computed_as(r.type);
    x.open = x.open && x.size <= most_merged_instructions && !k_.is_task_sum(root);
    x.update = x.open && r.kind() == op_kind::assign ? update_signature(g_, p_, root) : 0;
  }

  /// Whether two kernels may be one as far as their elements go. Of one element each, they may differ in type, and in
  /// whether several elements could be computed at a time.
  constexpr bool alike(const kernel_group& a, const kernel_group& b) const {
    const graph_node& x = g_[a.root];
    const graph_node& y = g_[b.root];
    const bool one = x.shape.rank == 0 && y.shape.rank == 0;
    return a.open && b.open && a.home == b.home && same_devices(g_, a.root, b.root) &&
           (one || (a.packs == b.packs && a.lane == b.lane)) &&
           (surely_equal(x.shape, y.shape) ||
            (!x.shape.is_static() && x.shape.rank == y.shape.rank && !y.shape.is_static() && a.source == b.source));
  }

  /// On a GPU that the program names, a copy of a feed is something to wait for too: whether kernel `b` reads of what
  /// is in host memory nothing but what `a` does.
  constexpr bool needs_no_more_copies(const kernel_group& a, const kernel_group& b) const {
    if (a.home.kind != device_kind::gpu) return true;
    for (int k = 0; k < b.load_count; ++k) {
      const int leaf = base_of(g_, p_, b.loads[k]);
      if (g_[leaf].kind() != op_kind::placeholder && g_[leaf].kind() != op_kind::constant) continue;
      bool known = false;
      for (int j = 0; j < a.load_count; ++j) known = known || base_of(g_, p_, a.loads[j]) == leaf;
      if (!known) return false;
    }
    return true;
  }

  /// Makes kernel `b`, which is the latest or was read by the latest alone, part of `a`. *Returns* whether it fits.
  constexpr bool merge(int a, int b) {
    kernel_group& x = group(a);
    const kernel_group& y = group(b);
    int more[most_merged]{};
    int count = 0;
    for (int k = 0; k < y.load_count; ++k) {
      const int o = y.loads[k];
      const bool inside = p_.kernel_of[o] >= 0 && group_of(p_.kernel_of[o]) == a;
      if (!inside && !loads(x, o)) more[count++] = o;
    }
    if (x.load_count + count > most_merged || x.results + y.results > most_merged ||
        x.size + y.size > most_merged_instructions)
      return false;
    // In a finer space rolls are no layouts, and two need not be finer alike.
    if ((x.splits && (y.splits || y.rolls)) || (x.rolls && y.splits)) return false;
    for (int k = 0; k < count; ++k) x.loads[x.load_count++] = more[k];
    x.results += y.results;
    x.size += y.size;
    x.small = x.small && y.small;
    x.packs = x.packs && y.packs;
    x.rolls = x.rolls || y.rolls;
    x.splits = x.splits || y.splits;
    x.readers += y.readers;
    if (x.update != 0 || y.update != 0) x.update = hash_mix(x.update, y.update);
    for (int m = p_.first_member[y.root]; m >= 0 && b == count_ - 1; m = p_.next_member[m])
      for (int k = 0; k < g_[m].count; ++k)
        if (const int r = p_.kernel_of[g_.operand(m, k)]; r >= 0 && r != y.root && group_of(r) == a) --x.readers;
    if (y.root > x.root) x.root = y.root;
    joined(b) = a;
    return true;
  }

  /// Merges kernel `k` with those whose results it reads element by element, where it waits for nothing else than they
  /// do. *Returns* whether it did.
  constexpr bool merge_below(int k) {
    const kernel_group& x = group(k);
    int made[most_merged]{};
    int count = 0;
    for (int j = 0; j < x.load_count; ++j) {
      const int o = x.loads[j];
      if (p_.kernel_of[o] < 0) continue;
      const int p = group_of(p_.kernel_of[o]);
      bool fits = alike(group(p), x) && needs_no_more_copies(group(p), x);
      for (int i = 0; i < count; ++i) fits = fits && made[i] != p;
      for (int i = 0; i < x.load_count; ++i) {  // not through a view
        const int b = base_of(g_, p_, x.loads[i]);
        if (b != x.loads[i] && p_.kernel_of[b] >= 0 && group_of(p_.kernel_of[b]) == p) fits = false;
      }
      if (fits) made[count++] = p;
    }
    if (count == 0) return false;
    bool all = true;  // of them become one
    for (int j = 1; j < count; ++j)
      all = all && same_before(made[0], made[j]) && needs_no_more_copies(group(made[0]), group(made[j])) &&
            needs_no_more_copies(group(made[j]), group(made[0]));
    if (all && waits_only(k, made, count)) {
      for (int j = 1; j < count; ++j)
        if (merge(made[0], made[j])) rename(made[j], made[0]);
      // Where not all of them fitted, the latest waits for one beside the other.
      bool one = true;
      for (int j = 1; j < count; ++j) one = one && joined(made[j]) == made[0];
      return one && merge(made[0], k);
    }
    for (int j = 0; j < count; ++j)
      if (waits_only(k, made + j, 1) && merge(made[j], k)) return true;
    if (g_[x.root].variable == 0) return false;
    int kept = 0;  // a number for all variables is made for all
    for (int j = 0; j < count; ++j)
      if (g_[group(made[j]).root].variable == g_[x.root].variable) made[kept++] = made[j];
    return kept > 0 && merge_update(k, made, kept);
  }

  /// An optimizer's kernel `k` and those that make what it keeps read and write the same memory: they are one, though
  /// it waits for more than they do. What reads their results then waits for that too. *Returns* whether it did.
  constexpr bool merge_update(int k, const int* made, int count) {
    for (int j = 0; j < count; ++j)
      for (int p = 0; p < k; ++p)
        if (p != made[j] && is_before(p, k) && is_before(made[j], p)) return false;
    for (int j = 1; j < count; ++j)
      if (!same_before(made[0], made[j])) return false;
    for (int j = 1; j < count; ++j) {
      if (!merge(made[0], made[j])) return false;
      rename(made[j], made[0]);
    }
    if (!merge(made[0], k)) return false;
    before(k)[made[0] / 64] &= ~(std::uint64_t{1} << (made[0] % 64));
    for (int p = 0; p <= k; ++p)
      for (int w = 0; w < words_ && (p == made[0] || is_before(made[0], p)); ++w) before(p)[w] |= before(k)[w];
    return true;
  }

  /// Whether what kernel `k` waits for is the kernels `made` and what the first of them waits for.
  constexpr bool waits_only(int k, const int* made, int count) const {
    for (int w = 0; w < words_; ++w) {
      std::uint64_t known = before(made[0])[w];
      for (int j = 0; j < count; ++j)
        if (made[j] / 64 == w) known |= std::uint64_t{1} << (made[j] % 64);
      if ((before(k)[w] & ~known) != 0) return false;
    }
    return true;
  }

  constexpr void rename(int from, int to) const {
    for (int k = 0; k < count_; ++k) {
      if (!is_before(from, k)) continue;
      before(k)[from / 64] &= ~(std::uint64_t{1} << (from % 64));
      set_before(to, k);
    }
  }

  /// Merges kernel `k` with an earlier one that shares a load or is as small.
  constexpr void merge_beside(int k) {
    for (int pass = 0; pass < 2; ++pass) {
      const bool sharing = pass == 0;
      if (!sharing && !group(k).small) return;
      int tries = merge_window;
      for (int p = k - 1; p >= 0 && tries > 0; --p) {
        if (joined(p) >= 0) continue;
        --tries;
        const kernel_group& x = group(p);
        if (!alike(x, group(k)) || (sharing && !share(x, group(k)))) continue;
        // Updates by one program are a batch, with those of other extents.
        if (x.update != 0 && x.update == group(k).update && !share(x, group(k), 1)) continue;
        const bool last = one_request_ && x.small && x.readers == 0 && group(k).readers == 0;
        if (!last && !same_before(p, k)) continue;
        if (!needs_no_more_copies(x, group(k)) || !needs_no_more_copies(group(k), x)) continue;
        if (!merge(p, k)) continue;
        for (int w = 0; w < words_; ++w) before(p)[w] |= before(k)[w];
        return;
      }
    }
  }

  /// Whether two kernels load a value of this rank or more in common.
  constexpr bool share(const kernel_group& a, const kernel_group& b, int rank = 0) const {
    for (int k = 0; k < a.load_count; ++k)
      if (g_[a.loads[k]].shape.rank >= rank && loads(b, a.loads[k])) return true;
    return false;
  }

  const graph_view& g_;
  kernel_arrays k_;
  kernel_partition p_;  // the same, to be read
  int words_;
  scratch_array<int> numbers_;  // of a root among the kernels
  scratch_array<int> sources_;  // per node: whose extents, where they are not known, its own are
  scratch_array<kernel_group> groups_;
  scratch_array<int> joined_;  // per kernel: the one it became part of, or -1
  scratch_array<std::uint64_t> before_;
  int count_ = 0;
  bool one_request_ = true;
};

/// How many kernels there are, or 0 where none can be merged.
constexpr int count_mergeable(const graph_view& g, const kernel_partition& p) {
  int kernels = 0, maps = 0;
  for (int n = 0; n < g.count; ++n) {
    if (p.kernel_of[n] != n) continue;
    ++kernels;
    maps += g[n].is_map() || g[n].kind() == op_kind::assign ? 1 : 0;
  }
  return maps > 1 ? kernels : 0;
}

/// The pass: kernels beside each other become one.
struct merge_kernels {
  static constexpr void run(const graph_view& g, const kernel_arrays& k) {
    if (const int kernels = count_mergeable(g, k); kernels > 0) horizontal_fuser(g, k, kernels).run();
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
