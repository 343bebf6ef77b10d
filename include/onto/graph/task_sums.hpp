// SPDX-License-Identifier: BSL-1.0
// Sums over values of several tasks of a cluster, as a program asks for them: what may become all-reduces once it is
// placed. Found from operations and requests alone, so that kernels are the same on every machine.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/graph.hpp>
#include <onto/ops/arithmetic.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether a node adds tensors of its own shape, element by element.
constexpr bool is_sum(const graph_view& g, int n) {
  const graph_node& x = g[n];
  if (x.count < 2 || !(is_operation<op::add>(x.op) || is_operation<op::add_n>(x.op))) return false;
  if (x.type == element::boolean || x.type == element::text) return false;
  for (int k = 0; k < x.count; ++k) {
    const graph_node& o = g[g.operand(n, k)];
    if (o.kind() == op_kind::scalar || o.type != x.type || !(o.shape == x.shape)) return false;
  }
  return true;
}

/// Whether a node puts tensors side by side.
constexpr bool is_gather(const graph_view& g, int n) {
  return g[n].kind() == op_kind::concat && g[n].count > 1 && g[n].made < 0 && g[n].type != element::text;
}

/// The sums whose operands are asked for on several tasks, and which are not read on one task alone. Such a sum is a
/// kernel by itself, with the sums that it is made of, and each of its terms is in memory. What is written once and
/// used under several `on` is several nodes: twins, which add up the same. Concatenations of values of several tasks
/// are found with them; they are kernels by themselves in any case.
class task_sums {
 public:
  /// *Complexity* linear in nodes and edges; nodes where no task is asked for.
  constexpr explicit task_sums(const graph_view& g)
      : g_(g), names_tasks_(names_tasks(g)), sums_(names_tasks_ ? g.count : 0) {
    if (!names_tasks_) return;
    find_twins();
    sum* const s = sums_.get();
    const auto use = [&](int n, std::uint64_t task) {
      sum& x = s[s[n].twin < 0 ? n : s[n].twin];
      x.many = x.many || task == 0 || (x.task != 0 && x.task != task);
      x.task = task;
      ++s[n].uses;
    };
    for (int k = 0; k < g.fetch_count; ++k) use(g.fetches[k], task_asked(g.fetches[k]));
    for (int n = 0; n < g.count; ++n) {
      for (int k = 0; k < g[n].count; ++k) {
        const int o = g.operand(n, k);
        if (s[n].twin < 0) use(o, task_asked(n));
        if (s[n].twin >= 0) s[o].user = ++s[o].uses == 1 && is_sum(g, n) ? n : -1;
      }
    }
    for (int n = g.count - 1; n >= 0; --n) {
      sum& x = s[n];
      if (x.twin < 0) continue;
      x.inner = x.uses == 1 && x.user >= 0 && s[x.user].member;
      x.member = x.inner || s[x.twin].many;
      any_ = any_ || x.member;
    }
  }

  constexpr bool any() const { return any_; }
  /// Whether a node is such a sum, or one of the sums that it is made of.
  constexpr bool has(int n) const { return any_ && sums_.get()[n].member; }
  /// Whether it is one that another one is made of.
  constexpr bool is_inner(int n) const { return has(n) && sums_.get()[n].inner; }
  /// The first one of those that add up the same; -1 where no operand is asked for on a task.
  constexpr int twin(int n) const { return names_tasks_ ? sums_.get()[n].twin : -1; }

 private:
  struct sum {
    int twin = -1;      // of those whose terms are on several tasks
    bool many = false;  // of a first twin: they are read on several tasks, or where nobody has asked for
    bool inner = false;
    bool member = false;
    int uses = 0;
    int user = -1;            // a sum over tasks that uses it, if nothing else does
    std::uint64_t task = 0;   // of a first twin: where they are read
    std::uint64_t tasks = 0;  // of its terms
  };

  static constexpr bool names_tasks(const graph_view& g) {
    for (int n = 0; n < g.count; ++n)
      if (g[n].request.in_task) return true;
    return false;
  }
  /// 0: none.
  constexpr std::uint64_t task_asked(int n) const {
    const graph_node& x = g_[n];
    if (x.kind() == op_kind::assign && g_[g_.operand(n, 0)].request.in_task)
      return g_[g_.operand(n, 0)].request.task->id;
    return x.request.in_task ? x.request.task->id : 0;
  }
  /// The tasks of the terms, a bit each; 0 where some are not known or two are of one task.
  constexpr std::uint64_t tasks_of_terms(int n) {
    std::uint64_t tasks = 0;
    for (int k = 0; k < g_[n].count; ++k) {
      const int o = g_.operand(n, k);
      const bool of_sums = sums_.get()[o].twin >= 0 && is_sum(g_, n);
      const std::uint64_t more = of_sums ? sums_.get()[o].tasks : bit_of(task_asked(o));
      if (more == 0 || (tasks & more) != 0) return 0;
      tasks |= more;
    }
    return (tasks & (tasks - 1)) != 0 ? tasks : 0;
  }
  /// Of the first 64 tasks that are met: a sum has no more terms.
  constexpr std::uint64_t bit_of(std::uint64_t task) {
    if (task == 0) return 0;
    int k = 0;
    while (k < 64 && ids_[k] != 0 && ids_[k] != task) ++k;
    if (k == 64) return 0;
    ids_[k] = task;
    return std::uint64_t{1} << k;
  }

  constexpr void find_twins() {
    const int slot_count = 2 * g_.count + 1;
    const scratch_array<std::uint64_t> keys(slot_count);
    const scratch_array<int> found(slot_count, -1);
    for (int n = 0; n < g_.count; ++n) {
      if (!(is_sum(g_, n) || is_gather(g_, n)) || (sums_.get()[n].tasks = tasks_of_terms(n)) == 0) continue;
      std::uint64_t key = hash_mix(g_[n].op->hash, static_cast<std::uint64_t>(g_[n].count));
      for (int k = 0; k < g_[n].count; ++k) {
        const int o = g_.operand(n, k), twin = sums_.get()[o].twin;
        key = hash_mix(key, static_cast<std::uint64_t>(twin < 0 ? o : twin));
      }
      int slot = static_cast<int>(key % static_cast<std::uint64_t>(slot_count));
      while (found.get()[slot] >= 0 && keys.get()[slot] != key) slot = (slot + 1) % slot_count;
      if (found.get()[slot] < 0) {
        found.get()[slot] = n;
        keys.get()[slot] = key;
      }
      sums_.get()[n].twin = found.get()[slot];
    }
  }

  const graph_view& g_;
  bool names_tasks_;  // some operand is asked for on a task
  scratch_array<sum> sums_;
  std::uint64_t ids_[64]{};
  bool any_ = false;
};

/// Which nodes are such sums (1), and sums that they are made of (2): the entries of `out`, one a node, that are not 0.
/// *Returns* whether there are any.
constexpr bool find_task_sums(const graph_view& g, char* out) {
  const task_sums sums(g);
  for (int n = 0; n < g.count && sums.any(); ++n)
    out[n] = static_cast<char>(sums.is_inner(n) ? 2 : sums.has(n) ? 1 : 0);
  return sums.any();
}

/// At most so many nodes are computed on each task of an all-reduce that they follow from.
constexpr int count_repeated(const graph_view& g) {
  const scratch_array<bool> follows(g.count);
  int count = 0;
  for (int n = 0; n < g.count; ++n) {
    const op_kind kind = g[n].kind();
    bool all = kind == op_kind::map || kind == op_kind::view, any = false;
    for (int k = 0; k < g[n].count && all; ++k) {
      const int o = g.operand(n, k);
      if (g[o].kind() == op_kind::scalar) continue;
      any = true;
      all = follows.get()[o] || is_sum(g, o) || is_gather(g, o);
    }
    follows.get()[n] = all && any;
    count += all && any && kind == op_kind::map ? 1 : 0;
  }
  return count;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
