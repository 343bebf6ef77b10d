// SPDX-License-Identifier: BSL-1.0
// Collectives of a placed program, what several tasks do together. A sum of one value from each of several tasks that
// is used on all of them is an all-reduce, and a reduce-scatter where each task uses rows of its own; a concatenation
// is an all-gather. What follows from them alone is computed on each task, and is no message either.
#pragma once

#include <onto/graph/device_routes.hpp>
#include <onto/graph/kernels.hpp>
#include <onto/graph/partial_transfer.hpp>
#include <onto/graph/placer.hpp>
#include <onto/graph/plan_step.hpp>
#include <onto/graph/readers.hpp>
#include <onto/graph/task_sums.hpp>
#include <onto/graph/view_path.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class collectives {
 public:
  constexpr collectives(const graph_view& g, const kernel_partition& p, const extents* shapes,
                        const node_placement* where, const base_readers& readers, const fetch_targets& targets,
                        const device_routes& routes)
      : g_(g),
        p_(p),
        shapes_(shapes),
        where_(where),
        readers_(readers),
        targets_(targets),
        routes_(routes),
        facts_(targets.count > 0 ? g.count : 0) {
    if (targets_.count == 0) return;
    bool some = false;
    for (int n = 0; n < g_.count; ++n) {
      if (p_.kernel_of[n] != n || !(is_sum_over_tasks(n) || is_concat_over_tasks(n))) continue;
      facts_.get()[n].kind = together;
      facts_.get()[n].candidate = some = true;
    }
    if (!some) return;
    do find_all_repeated();
    while (forget_some());
    join_twins(task_sums(g));
    for (int n = 0; n < g_.count; ++n) any_ = any_ || facts_.get()[n].kind == together;
    for (int n = 0; n < g_.count; ++n)
      if (is_collective(n) && first_twin(n) == n) facts_.get()[n].scattered = is_scattered(n);
    for (int n = 0; n < g_.count && routes_.any(); ++n)
      if (is_collective(n) && first_twin(n) == n) facts_.get()[n].direct = find_direct(n);
  }

  constexpr bool any() const { return any_; }
  /// Whether a kernel is a collective: then it is not run.
  constexpr bool is_collective(int root) const { return any_ && facts_.get()[root].kind == together; }
  constexpr step_kind kind(int root) const {
    if (g_[root].kind() == op_kind::concat) return step_kind::all_gather;
    return facts_.get()[first_twin(root)].scattered ? step_kind::reduce_scatter : step_kind::all_reduce;
  }
  /// Whether a kernel is run on each task that needs what it makes of a collective.
  constexpr bool is_repeated(int root) const { return any_ && facts_.get()[root].kind == repeated; }
  /// Whether a node is the result of such a one, which is there on several tasks.
  constexpr bool has(int n) const { return any_ && has_shared(n); }
  /// What is written once, and used under several `on`, is one collective: the first one of them, and after it the
  /// next, or -1.
  constexpr int first_twin(int root) const { return facts_.get()[root].first < 0 ? root : facts_.get()[root].first; }
  constexpr int next_twin(int root) const { return facts_.get()[root].next; }
  /// Which one of them a task has.
  constexpr int twin_at(int root, const place& at) const {
    int twin = first_twin(root);
    while (facts_.get()[twin].next >= 0 && !is_used_on(twin, at)) twin = facts_.get()[twin].next;
    return twin;
  }

  /// What the task of `at` has of a collective: its twin, or rows of that.
  constexpr int result_at(int root, const place& at) const {
    const int twin = twin_at(root, at);
    return kind(root) == step_kind::reduce_scatter ? rows_at(twin, at) : twin;
  }

  /// Calls `f(node)` for each term of a sum or concatenation: what is in memory on its task.
  template <class F>
  constexpr void for_each_term(int root, const F& f) const {
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m])
      for (int k = 0; k < g_[m].count; ++k)
        if (const int o = g_.operand(m, k); p_.kernel_of[o] != root) f(base_of(g_, p_, o));
  }
  /// The term that the task of `at` gives, or -1 where that task has no part in it.
  constexpr int term_at(int root, const place& at) const {
    int found = -1;
    for_each_term(root, [&](int term) {
      if (same_task(where_[term].where, at)) found = term;
    });
    return found;
  }
  /// Whether the task of `at` has the result of such a kernel.
  constexpr bool is_there(int root, const place& at) const {
    const int sum = sum_of(root);
    return term_at(sum, at) >= 0 && twin_at(sum, at) == sum;
  }
  /// Where the first task of those that have it has it.
  constexpr place first_place(int root) const {
    place first{};
    for_each_term(sum_of(root), [&](int term) {
      if (first.is_set() || !is_there(root, where_[term].where)) return;
      first = is_collective(root) ? place_of(root, where_[term].where) : host_of(where_[term].where);
    });
    return first;
  }
  /// Whether the GPUs of all terms do it among themselves.
  constexpr bool is_direct(int root) const { return facts_.get()[first_twin(root)].direct; }
  /// Where a collective is on the task of `at`: on the device of its term, where it is direct; else in the host's
  /// memory.
  constexpr place place_of(int root, const place& at) const {
    return is_direct(root) ? where_[term_at(root, at)].where : host_of(at);
  }
  /// Those of equal keys are of one kind, over the same tasks, at the same places, and of one element type.
  constexpr std::uint64_t key(int root) const {
    std::uint64_t at = tasks_of(root);
    if (is_direct(root)) for_each_term(root, [&](int term) { at += key_of(where_[term].where); });
    return hash_mix(hash_mix(at, static_cast<std::uint64_t>(g_[root].type)), static_cast<std::uint64_t>(kind(root)));
  }

 private:
  /// Each term is on a GPU, no two on one, and these have what it takes: the sum, or the parts of a concatenation one
  /// after the other.
  constexpr bool find_direct(int root) const {
    int terms = 0;
    bool good = true, adds = true;
    for_each_term(root, [&](int term) {
      const place& own = where_[term].where;
      const device_links links = routes_.of(own);
      int before = 0;
      ++terms;
      good = good && links.hardware != 0;
      adds = adds && links.adds;
      for_each_term(root, [&](int other) {
        if (++before < terms && !routes_.are_direct(where_[other].where, own)) good = false;
      });
    });
    if (kind(root) != step_kind::all_gather) return good && adds && adds_on_gpus(g_[root].type, terms);
    const extents& shape = shapes_[root];
    for (int k = 0; k < normalize_axis(static_cast<int>(g_[root].op->attribute[0]), shape.rank); ++k)
      good = good && shape.dims[k] == 1;
    return good;
  }

  enum kinds : std::uint8_t { unknown, plain, repeated, together };
  struct facts {
    kinds kind = unknown;
    bool candidate = false;
    bool scattered = false;  // of a first twin, as the next
    bool direct = false;
    int source = -1;  // of what is repeated: a collective that it reads
    int first = -1;   // of twins
    int next = -1;
  };

  constexpr int sum_of(int root) const { return facts_.get()[root].source < 0 ? root : facts_.get()[root].source; }
  constexpr bool has_shared(int n) const {
    return p_.kernel_of[n] >= 0 && facts_.get()[p_.kernel_of[n]].kind >= repeated;
  }

  constexpr bool is_sum_over_tasks(int root) const {
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m])
      if (!is_sum(g_, m) || p_.path_of[m] >= 0 || (m != root && p_.result[m])) return false;
    bool good = true;
    int terms = 0;
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m])
      for (int k = 0; k < g_[m].count; ++k)
        if (const int o = g_.operand(m, k); p_.kernel_of[o] != root) good = good && is_term(root, o);
    for_each_term(root, [&](int term) {
      int before = 0;
      ++terms;
      for_each_term(root, [&](int other) {
        if (++before < terms && same_task(where_[other].where, where_[term].where)) good = false;
      });
    });
    return good && terms > 1;
  }
  constexpr bool is_concat_over_tasks(int root) const {
    if (!is_gather(g_, root) || p_.first_member[root] != root || p_.next_member[root] >= 0) return false;
    for (int k = 0; k < g_[root].count; ++k) {
      const int term = base_of(g_, p_, g_.operand(root, k));
      if (!is_in_task(g_.operand(root, k))) return false;
      for (int j = 0; j < k; ++j)
        if (same_task(where_[base_of(g_, p_, g_.operand(root, j))].where, where_[term].where)) return false;
    }
    return true;
  }
  constexpr bool is_term(int root, int o) const { return shapes_[o] == shapes_[root] && is_in_task(o); }
  /// Whether an operand is a tensor in the memory of some task.
  constexpr bool is_in_task(int o) const {
    const int base = base_of(g_, p_, o);
    for (int v = o; v != base; v = g_.operand(v, 0))
      if (!is_reshape(g_, v)) return false;
    return g_[base].kind() != op_kind::scalar && where_[base].where.in_task;
  }

  constexpr void find_all_repeated() {
    for (int n = 0; n < g_.count; ++n) {
      facts& x = facts_.get()[n];
      if (!x.candidate) x = facts{};
    }
    for (int n = 0; n < g_.count; ++n)
      if (p_.kernel_of[n] == n) find_repeated(n);
  }

  /// Takes what is not used on all its tasks for a kernel. *Returns* whether there was one.
  constexpr bool forget_some() {
    bool forgot = false;
    for (int n = 0; n < g_.count; ++n) {
      if (facts_.get()[n].kind != together) continue;
      bool good = true;
      for_each_term(n, [&](int term) { good = good && !has_shared(term) && is_used_on(n, where_[term].where); });
      if (!good) facts_.get()[n].kind = plain;
      forgot = forgot || !good;
    }
    return forgot;
  }

  /// Makes one collective of twins that are, together, used on all tasks, each of them on some.
  constexpr void join_twins(const task_sums& sums) {
    for (int n = 0; n < g_.count; ++n) {
      if (!facts_.get()[n].candidate || facts_.get()[n].kind != plain || sums.twin(n) < 0) continue;
      int last = n, used = 0, terms = 0;
      for_each_term(n, [&](int term) {
        ++terms;
        used += is_used_on(n, where_[term].where) ? 1 : 0;
      });
      if (used == 0) continue;
      for (int m = n + 1; m < g_.count && used < terms; ++m) {
        const facts& x = facts_.get()[m];
        if (!x.candidate || x.kind != plain || sums.twin(m) != sums.twin(n)) continue;
        int more = 0;
        bool apart = true;
        for_each_term(m, [&](int term) {
          if (!is_used_on(m, where_[term].where)) return;
          ++more;
          for (int t = n; t >= 0; t = facts_.get()[t].next) apart = apart && !is_used_on(t, where_[term].where);
        });
        if (more == 0 || !apart) continue;
        used += more;
        facts_.get()[last].next = m;
        last = m;
      }
      bool good = used == terms;
      for_each_term(n, [&](int term) { good = good && !has_shared(term); });
      for (int t = n; t >= 0;) {
        facts& x = facts_.get()[t];
        t = x.next;
        if (good) {
          x.kind = together;
          x.first = n;
        } else {
          x.next = -1;
        }
      }
    }
  }

  /// Maps that nobody asks for in a task, and that read collectives of the same tasks, and nothing else from memory.
  constexpr void find_repeated(int root) {
    facts& x = facts_.get()[root];
    if (x.kind != unknown) return;
    x.kind = plain;
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m]) {
      const graph_node& n = g_[m];
      const place& request = targets_.requests ? targets_.requests[m] : n.request;
      if (n.kind() != op_kind::map || request.is_set() || n.variable != 0 || !has_kernel(g_, m, device_kind::cpu) ||
          !(where_[m].where == where_[root].where))
        return;
    }
    int source = -1;
    for (int m = p_.first_member[root]; m >= 0; m = p_.next_member[m]) {
      for (int k = 0; k < g_[m].count; ++k) {
        const int o = base_of(g_, p_, g_.operand(m, k)), u = p_.kernel_of[o];
        if (g_[o].kind() == op_kind::scalar || u == root) continue;
        if (u < 0) return;
        find_repeated(u);
        const facts& below = facts_.get()[u];
        if (below.kind < repeated) return;
        const int above = below.kind == together ? u : below.source;
        if (source >= 0 && tasks_of(source) != tasks_of(above)) return;
        source = above;
      }
    }
    if (source < 0) return;
    x.kind = repeated;
    x.source = source;
  }
  constexpr std::uint64_t tasks_of(int root) const {
    std::uint64_t tasks = 0;
    for_each_term(root, [&](int term) { tasks += hash_mix(0, where_[term].where.task->id); });
    return tasks;
  }

  constexpr bool is_used_on(int root, const place& at) const {
    for (int k = 0; k < g_.fetch_count; ++k) {
      const int f = g_.fetches[k];
      if (p_.kernel_of[base_of(g_, p_, f)] != root) continue;
      if (!targets_.requests || !targets_.requests[f].in_task || same_task(where_[f].where, at)) return true;
    }
    for (int made = p_.first_member[root]; made >= 0; made = p_.next_member[made]) {
      for (const int* m = readers_.begin(made); m != readers_.end(made); ++m) {
        const int u = p_.kernel_of[*m];
        if (u == root) continue;
        if (facts_.get()[u].kind == repeated ? is_used_on(u, at) : same_task(where_[*m].where, at)) return true;
      }
    }
    return false;
  }

  /// Whether each task uses rows of its own of a sum, and nothing else is used of it.
  constexpr bool is_scattered(int first) const {
    if (g_[first].kind() == op_kind::concat) return false;
    for (int twin = first; twin >= 0; twin = next_twin(twin)) {
      for (int k = 0; k < g_.fetch_count; ++k)
        if (base_of(g_, p_, g_.fetches[k]) == twin) return false;
      for (const int* m = readers_.begin(twin); m != readers_.end(twin); ++m)
        if (has_shared(*m) || term_at(first, where_[*m].where) < 0) return false;
    }
    bool good = true;
    for_each_term(first, [&](int term) {
      const int rows = rows_at(twin_at(first, where_[term].where), where_[term].where);
      good = good && rows >= 0;
      if (good)
        for_each_term(first, [&](int other) {
          const int more = rows_at(twin_at(first, where_[other].where), where_[other].where);
          good = good && more >= 0 && (other == term || are_apart(g_, rows, more));
        });
    });
    return good;
  }
  /// The rows of a sum through which a task reads all that it does of it, or -1.
  constexpr int rows_at(int twin, const place& at) const {
    int rows = -1;
    for (const int* m = readers_.begin(twin); m != readers_.end(twin); ++m) {
      if (!same_task(where_[*m].where, at)) continue;
      for (int k = 0; k < g_[*m].count; ++k) {
        if (base_of(g_, p_, g_.operand(*m, k)) != twin) continue;
        const int lowest = lowest_view(g_, p_, g_.operand(*m, k));
        if (lowest == twin || !is_rows(g_, lowest) || (rows >= 0 && rows != lowest)) return -1;
        rows = lowest;
      }
    }
    return rows;
  }

  const graph_view& g_;
  kernel_partition p_;
  const extents* shapes_;
  const node_placement* where_;
  const base_readers& readers_;
  fetch_targets targets_;
  device_routes routes_;
  scratch_array<facts> facts_;
  bool any_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
