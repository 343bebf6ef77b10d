// SPDX-License-Identifier: BSL-1.0
// Steps of a plan and the values between them, and the room that a schedule takes.
#pragma once

#include <onto/graph/fuse.hpp>
#include <onto/graph/placer.hpp>

#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// What a step of a plan does.
enum class step_kind : std::uint8_t {
  kernel,      ///< runs a fused kernel, or one operation where a kernel had to be split
  transfer,    ///< copies a value to another device
  fetch_copy,  ///< copies a value that is in host memory to where a fetch wants it
  // One task's part in what several tasks do together.
  all_reduce,      ///< adds up values of several tasks, which all of them then have
  reduce_scatter,  ///< adds them up, and each task has rows of the sum
  all_gather,      ///< puts values of several tasks side by side, on all of them
  broadcast,       ///< brings a value of one task to several others
};

namespace detail {
/// Whether a step is one task's part in what several tasks do together.
constexpr bool is_collective(step_kind k) { return k >= step_kind::all_reduce; }
}  // namespace detail

/// What it is called.
constexpr std::string_view name_of(step_kind k) {
  constexpr std::string_view names[] = {"kernel",         "transfer",   "copy",     "all-reduce",
                                        "reduce-scatter", "all-gather", "broadcast"};
  return names[static_cast<int>(k)];
}

/// One step.
struct plan_step {
  step_kind kind = step_kind::kernel;
  int node = -1;           // whose value it makes
  place at{};              // where
  place from{};            // of a transfer
  int value = -1;          // the value it writes; -1 for a fetch_copy, and where a broadcast begins
  int more = 0;            // of a merged kernel and a collective: as many further values follow that one
  int source = -1;         // the value a transfer or a broadcast reads; -1 where it is a feed or a constant
  int fetch = -1;          // of a fetch_copy: which fetch
  int batched = 1;         // so many kernels are one launch
  int bucket = -1;         // of a collective: its number among its kind; a step for each task, one after the other
  bool whole = true;       // the fused kernel; false: one operation of it, or what was a kernel before it was merged
  bool direct = false;     // of a message and a collective: GPUs do it among themselves, in their streams
  bool in_update = false;  // of variables that sessions share
};

/// A node's result, or rows of it, in the memory of one device.
struct plan_value {
  int node = -1;  // where only rows are there, the view that they are
  place at{};
  int birth = 0;            // the step that writes it
  int death = 0;            // the last step that reads it
  int begin = 0;            // its memory is its own from this step on: a copy may run beside the kernel before
  int end = 0;              // to this one: a copy may still read beside the kernel after
  int fetch = -1;           // written straight into this fetch's result
  bool variable = false;    // the new value of a variable: kept after the run
  bool in_place = false;    // where the old one is: updates_in_place
  bool copied = false;      // to another device
  int reuses = -1;          // the operand whose memory it takes over
  int term = -1;            // of a collective: the node whose value this task gives
  std::int64_t bytes = 0;   // -1 where an extent is not known
  std::int64_t offset = 0;  // in the device's block
  int next = -1;            // another value of the same node
};

namespace detail {

/// Whether a step copies a value from one task to another.
constexpr bool is_message(const plan_step& s) { return s.kind == step_kind::transfer && !same_task(s.at, s.from); }

/// Room for a schedule. Steps and values: `schedule_capacity`; the rest one entry a node.
struct schedule_scratch {
  plan_step* steps = nullptr;
  plan_value* values = nullptr;
  kernel_arrays units;      // kernels as they are run: some are split
  int* value_of = nullptr;  // per node: its first value; or -1
  bool* done = nullptr;     // while kernels are split
  bool* broken = nullptr;   // per root: whether its kernel lost members to other units
};

struct schedule_counts {
  int steps = 0;
  int values = 0;
  int kernels = 0;
  int in_place = 0;  // so many of the last steps write variables where they are
  int transfers = 0;
  std::int64_t transfer_bytes = 0;  // -1: not known
  int messages = 0;                 // of these transfers, those to another process
  std::int64_t message_bytes = 0;   // -1: not known
  struct collective {
    int count = 0;
    std::int64_t bytes = 0;  // of what is added up, put side by side or sent, once; -1: not known
  };
  int direct = 0;                 // of messages and collectives, those that GPUs do among themselves
  std::int64_t direct_bytes = 0;  // -1: not known
  collective all_reduces, reduce_scatters, all_gathers, broadcasts;
  std::int64_t flops = 0;  // -1: not known

  constexpr collective& of(step_kind kind) {
    return kind == step_kind::all_reduce       ? all_reduces
           : kind == step_kind::reduce_scatter ? reduce_scatters
           : kind == step_kind::all_gather     ? all_gathers
                                               : broadcasts;
  }
};

/// How many tasks of a cluster there are among devices; of one process 0.
constexpr int task_count(const place* devices, int count) {
  int tasks = 0;
  for (int d = 0; d < count; ++d) {
    bool first = devices[d].in_task;
    for (int c = 0; c < d && first; ++c) first = !same_task(devices[c], devices[d]);
    tasks += first ? 1 : 0;
  }
  return tasks;
}

/// Room for the steps of a schedule, and for its values. A value that crosses from GPU to GPU in other processes is
/// copied three times. `repeated`: so many nodes may run on each task.
constexpr int schedule_capacity(int nodes, int edges, int fetches, int tasks, int repeated = 0) {
  return nodes + (tasks > 0 ? 3 : 1) * edges + (2 + 2 * tasks) * fetches + 1 + 8 * tasks * repeated;
}

/// Who wants the results of a program over several processes.
struct fetch_targets {
  const place* devices = nullptr;   // of all tasks
  int count = 0;                    // 0: there is one process
  const place* requests = nullptr;  // per node: a fetch that asks for a task arrives there alone
};

/// What a device does with those of other tasks without the hosts' memory.
struct device_links {
  std::uint64_t hardware = 0;  // which GPU it is among those that copy and add up in their streams; 0: it is none
  bool adds = false;           // its sums may be in any order
  bool in_messages = false;    // messages begin and end in its memory
};

/// What is scheduled: a graph with its kernels, before some were merged too, its shapes and places.
struct schedule_input {
  const graph_view& graph;
  kernel_partition whole;
  kernel_partition parts;
  const extents* shapes;
  const node_placement* where;
  schedule_scratch scratch;
  fetch_targets targets{};
  const device_links* links = nullptr;  // per device of `targets`; null: all goes through the hosts
  bool updates_last = false;            // see held_updates
};

class device_list;

/// How programs over several tasks are scheduled; behind pointers, so that programs of one process hold nothing of it.
struct task_scheduling {
  int (*repeated)(const graph_view& g);  // see schedule_capacity
  schedule_counts (*run)(schedule_input in, const device_list& devices, const bool* split);
};

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
