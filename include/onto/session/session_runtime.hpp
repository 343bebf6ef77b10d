// SPDX-License-Identifier: BSL-1.0
// The part of a session that knows no expression type, as the part with types sees it. What is behind it a program that
// uses the compiled runtime does not read.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/device/device_name.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/runtime/fault_hook.hpp>
#include <onto/runtime/memory_info.hpp>
#include <onto/session/options.hpp>
#include <onto/session/placement_report.hpp>
#include <onto/session/run_queue.hpp>

#include <cstdint>
#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// A device that a session has.
struct device_info {
  device_name name;         ///< the full name
  std::string description;  ///< of the hardware; empty for the CPU
};

/// What a device has done since its session was made.
struct device_statistics {
  std::int64_t kernels = 0;
  std::int64_t transfers = 0;  ///< copies between devices that it made
  std::int64_t transfer_bytes = 0;
};

namespace detail {

struct state;
struct feed_ref;
class device;
struct memory_limit;
struct simulated_functions;

/// A program to run, without its types.
struct run_request {
  const compiled_program* program = nullptr;
  const state* const* states = nullptr;  // per fetch
  const feed_ref* const* feeds = nullptr;
  int feed_count = 0;
  void* (*allocate)(void* context, int fetch, const extents& shape) = nullptr;  // memory for a result
  void* context = nullptr;
  bool into_outputs = false;  // that memory is the caller's, and may be what the program reads
};

/// A program that is run again and again.
class repeated_run : public counted {
 public:
  bool is_of_host = false;  // nothing of it asks for another device than this process's CPU
  /// Starts a run that is not waited for, after those that were started before.
  void push(queued_run& r);
};

/// The devices of a session, its variables, and the programs that are bound to both.
class session_runtime : public counted {
 public:
  void run(const run_request& r);
  void run(repeated_run& program, const run_request& r);
  /// Resolves and places a program, and takes its memory where its shapes are known already.
  /// *Throws* `invalid_argument_error` where operations cannot be placed.
  ref<repeated_run> prepare(const compiled_program& program, const state* const* states);
  /// Fixes the variables of a program to the devices where its placement has them, as far as they are new.
  void pin_variables(const compiled_program& program, const state* const* states);
  /// *Throws* `failed_precondition_error` for a variable of the program that has no value.
  void expect_initialized(const graph_view& g);
  placement_report report(const compiled_program& program, const state* const* states);
  /// Writes the variables of `count` graphs, of none all that there are, to a safetensors file, and reads them.
  void save(const std::string& path, const graph_view* const* graphs, int count);
  void restore(const std::string& path, const graph_view* const* graphs, int count);
  std::vector<device_info> list_devices() const;
  /// *Throws* `not_found_error` where there is no such device, as `memory`.
  device_statistics statistics(const device_name& name) const;
  memory_info memory(const device_name& name) const;
  /// Gives back what no variable and no prepared program holds.
  void trim();
  /// Simulated seconds that all runs have taken.
  double simulated_seconds();
  void inject(const fault_hook& hook);

  const simulated_functions* simulated = nullptr;  // of a session whose tasks are threads
  /// The counter of the CPU's kernels, where that is the only device and nothing watches runs, no log, trace or clock;
  /// null otherwise. A prepared program of one short loop then runs where it is called, and other runs of the CPU alone
  /// go a short way, session/host_run.hpp.
  atomic<std::int64_t>* unwatched_kernels = nullptr;
};

/// What a session does whose tasks are threads, each with a session of its own; `session/simulated_session.hpp`. Behind
/// pointers: programs without one hold nothing of it.
struct simulated_functions {
  void (*run)(session_runtime& s, repeated_run* program, const run_request& r);
  ref<repeated_run> (*prepare)(session_runtime& s, const compiled_program& program, const state* const* states);
  void (*pin_variables)(session_runtime& s, const compiled_program& program, const state* const* states);
  void (*save)(session_runtime& s, const std::string& path, const graph_view* const* graphs, int count);
  void (*restore)(session_runtime& s, const std::string& path, const graph_view* const* graphs, int count);
  /// The session of a task, by its number; null behind the last.
  session_runtime* (*task)(const session_runtime& s, int number);
};

/// The GPUs that a backend has on this machine.
class gpu_list : public counted {
 public:
  virtual int count() = 0;
  /// Bytes of GPU `k`.
  virtual std::int64_t memory(int k) = 0;
  /// GPU `k` as a device of a session; nothing of it is used yet.
  virtual device* open(place where, int k, const memory_limit& limit) = 0;
};

/// A session with the devices that there are, as far as the options and the environment let it see them.
/// *Throws* `invalid_argument_error` for options that make no sense.
ONTO_RUNTIME ref<session_runtime> open_session(session_options& options, const gpu_finder* finders);

/// What evaluates for all threads without a session: the CPU, and what programs were bound to.
ONTO_RUNTIME session_runtime& host_runtime();

/// The passes once more, for a program whose nodes values have told apart.
ONTO_RUNTIME refined_program* rewrite_program(const compiled_program& typed, const refinement& nodes);

/// The state of a variable somewhere under a fetched expression, or null.
ONTO_RUNTIME const state* variable_state(const graph_view& g, const state* fetched, std::uint64_t id);

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
