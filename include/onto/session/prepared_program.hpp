// SPDX-License-Identifier: BSL-1.0
// What a session keeps of a prepared program, and what every run gathers first.
#pragma once

#include <onto/session/bound_program.hpp>
#include <onto/session/session_runtime.hpp>
#include <onto/session/variables.hpp>

namespace onto::detail {

/// A program with its placement, before anything is known of its data.
struct placed_program {
  meaning of;
  place* pinned = nullptr;
  node_placement* where = nullptr;
  arena memory;
};

/// What a run is given, gathered: entries per node. What each run goes through is the list of leaves, which are few.
struct run_leaves {
  extents* shapes = nullptr;
  host_slot* data = nullptr;
  const device_block** variable = nullptr;  // references are held
  place* pinned = nullptr;
  onto::detail::variable** known = nullptr;  // the session's variables, as far as they were looked up
  int* list = nullptr;                       // placeholders, constants and variables
  int count = 0;
  bool writes = false;  // some variable

  run_leaves() = default;
  run_leaves(const graph_view& g, arena& memory) { open(g, memory); }
  run_leaves(const run_leaves&) = delete;
  run_leaves& operator=(const run_leaves&) = delete;
  ~run_leaves() { let_go(); }

  void open(const graph_view& g, arena& memory) {
    shapes = memory.make<extents>(g.count);
    data = memory.make<host_slot>(g.count);
    variable = memory.make<const device_block*>(g.count);
    pinned = memory.make<place>(g.count);
    known = memory.make<onto::detail::variable*>(g.count);
    list = memory.make<int>(g.count);
    for (int n = 0; n < g.count; ++n) {
      const graph_node& x = g.nodes[n];
      writes = writes || x.kind() == op_kind::assign;
      if (!x.is_leaf()) continue;
      shapes[n] = x.shape;
      if (x.kind() != op_kind::scalar) list[count++] = n;
    }
  }

  /// Lets go of variables, so that the next run can be gathered.
  void let_go() {
    for (int k = 0; k < count; ++k) {
      const int n = list[k];
      if (variable[n]) variable[n]->drop();
      variable[n] = nullptr;
    }
  }
};

/// Whether a program was bound for data of these shapes, and variables where they are.
inline bool same_data(const bound_program& b, const run_leaves& leaves) {
  for (int k = 0; k < leaves.count; ++k) {
    const int n = leaves.list[k];
    if (!(b.leaf_shapes[n] == leaves.shapes[n] &&
          (b.pinned[n] == leaves.pinned[n] || b.where[n].where == leaves.pinned[n])))
      return false;
  }
  return true;
}

}  // namespace onto::detail

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether no scope and no guard of a program asks for another device than this process's CPU.
inline bool asks_for_host(const meaning& m) {
  for (int n = 0; n < m.program->graph.count; ++n)
    if (const place& asked = m.state.places[n]; asked.is_set() && !(asked == cpu<0>::value)) return false;
  return true;
}

/// A program that is run again and again: what is known of it before its data, and what it is bound to. One run has it
/// at a time.
struct prepared_program : repeated_run {
  arena memory;
  meaning of;
  run_leaves leaves;  // of the present run
  mutex busy;
  bound_program* bound = nullptr;     // for each kind of feeds, the latest first
  run_queue queue;                    // of runs that were started with `async`
  run_queue* queue_of_all = nullptr;  // where other processes do the runs of all programs in the same order
  void (*finish_queue)(run_queue& all) = nullptr;

  run_queue& its_queue() { return queue_of_all ? *queue_of_all : queue; }

  ~prepared_program() override {
    if (queue_of_all) finish_queue(*queue_of_all);
    queue.finish();
    delete_all(bound);
  }

  static constexpr int kept_shapes = 8;  // kinds of feeds that it remembers

  /// What is bound for these feeds, or null.
  bound_program* take(const run_leaves& of_run) {
    for (bound_program** at = &bound; *at; at = &(*at)->next) {
      bound_program* b = *at;
      if (!same_data(*b, of_run)) continue;
      *at = b->next;
      return b;
    }
    return nullptr;
  }

  /// Where it has as many as it may, the one that was not used longest goes.
  void make_room() {
    bound_program** at = &bound;
    for (int count = 1; *at && count < kept_shapes; ++count) at = &(*at)->next;
    delete_all(*at);
    *at = nullptr;
  }

  static void delete_all(bound_program* b) {
    while (b) {
      bound_program* next = b->next;
      delete b;
      b = next;
    }
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
