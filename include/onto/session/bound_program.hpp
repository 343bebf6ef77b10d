// SPDX-License-Identifier: BSL-1.0
// A program that knows its devices, its shapes and its order: what a run fills in, and what is kept from run to run.
#pragma once

#include <onto/graph/stream_assignment.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/runtime/device.hpp>
#include <onto/session/bound_call.hpp>
#include <onto/session/refined_programs.hpp>

namespace onto::detail {

/// What a device recorded, and the variables' memory that it was recorded with.
struct recorded_run {
  device_graph* graph = nullptr;  // owned
  void** key = nullptr;
};

/// A program ready to run with given shapes on given devices. One run has it at a time.
struct bound_program {
  // What it was bound for.
  const compiled_program* program = nullptr;
  ref<refined_program> refined;  // keeps it
  extents* leaf_shapes = nullptr;
  place* places = nullptr;
  place* pinned = nullptr;
  int* leaves = nullptr;  // the nodes that each run gives data to
  int leaf_count = 0;

  extents* shapes = nullptr;
  std::int64_t* bytes = nullptr;  // per node: of its elements
  node_placement* where = nullptr;
  plan_value* values = nullptr;
  bound_step* steps = nullptr;
  std::int64_t* block_bytes = nullptr;  // per device
  std::int64_t* value_bytes = nullptr;  // of the block: values come first, and then what kernels work in
  int* moving = nullptr;                // the values that each run has elsewhere: results and the next variables
  int moving_count = 0;
  bool reads_rows = false;       // some step copies rows of a leaf
  bool plain = false;            // a run is feeds, kernels of the CPU and results: see session/host_run.hpp
  bool placed_by_types = false;  // no guard has asked for anything
  schedule_counts counts;
  int devices = 0;
  bool* absent = nullptr;  // per fetch: it arrives in another process alone; null where there is but one
  std::string_view title;  // what it is called where it holds memory

  // The steps that devices of one peer_group do without the host, one after the other: they can be recorded and
  // replayed.
  int replay_first = 0;
  int replay_end = 0;

  // Of the present run.
  host_slot* leaf = nullptr;                // per node: a feed's, constant's or variable's elements
  const device_block** variable = nullptr;  // per node: a variable's value when the run began; a reference is held
  const state* const* scalars = nullptr;    // per node: the state of a scalar
  host_slot* results = nullptr;             // per fetch
  host_slot* address = nullptr;             // per value
  device_block** written = nullptr;         // per value: the new value of a variable
  run_state progress;
  int deferred = 0;  // so many of the last steps are updates in place, when all else is done

  // Kept from run to run by a prepared program.
  bool kept = false;
  int runs = 0;
  device_block** blocks = nullptr;  // per device
  device_block** spare = nullptr;   // per value: memory for a variable's next value
  counted** workspaces = nullptr;   // per device
  device_event** rest = nullptr;    // per stream: the end of a run
  bool* used = nullptr;             // per stream, in this run
  counted* pinning = nullptr;       // keeps the host's block page-locked, for the GPUs' own copies
  recorded_run recorded[2];
  int next_recorded = 0;

  arena memory;
  bound_program* next = nullptr;

  bound_program() = default;
  bound_program(const bound_program&) = delete;
  bound_program& operator=(const bound_program&) = delete;
  ONTO_NOINLINE ~bound_program() {
    for (recorded_run& r : recorded)
      if (r.graph) r.graph->drop();
    for (int k = 0; steps && k < counts.steps; ++k)
      if (steps[k].event) steps[k].event->drop();
    for (int k = 0; rest && k < stream_count(devices); ++k)
      if (rest[k]) rest[k]->drop();
    end_run();
    for (int v = 0; spare && v < counts.values; ++v)
      if (spare[v]) spare[v]->drop();
    if (pinning) pinning->drop();
    for (int d = 0; blocks && d < devices; ++d) {
      if (blocks[d]) blocks[d]->drop();
      if (workspaces[d]) workspaces[d]->drop();
    }
  }

  /// Lets go of what the run alone held.
  void end_run() {
    progress.settle_counts();
    for (int k = 0; variable && k < leaf_count; ++k) {
      const int n = leaves[k];
      if (variable[n]) variable[n]->drop();
      variable[n] = nullptr;
    }
    for (int k = 0; written && k < moving_count; ++k) {
      const int v = moving[k];
      if (written[v]) written[v]->drop();
      written[v] = nullptr;
    }
    for (int d = 0; blocks && !kept && d < devices; ++d) {
      if (blocks[d]) blocks[d]->drop();
      blocks[d] = nullptr;
    }
  }
};

}  // namespace onto::detail
