// SPDX-License-Identifier: BSL-1.0
// The processes that run the same programs together with this one, as a session knows them. What carries messages
// between them answers by deriving.
#pragma once

#include <onto/core/message.hpp>
#include <onto/core/mutex.hpp>
#include <onto/graph/plan_step.hpp>
#include <onto/runtime/device.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// How long a process waits for another. *Throws* `invalid_argument_error` for what is no such time.
ONTO_COLD inline void expect_timeout(double seconds) {
  if (!(seconds > 0 && seconds <= 1e9))
    fail<invalid_argument_error>(message("[onto.option] timeout is a number of seconds above 0"));
}

/// What is compared between processes before they run something together.
struct program_identity {
  std::uint64_t hash = 0;
  std::string_view operation;  // the first one that is fetched
  int nodes = 0;
};

/// Elements by number, from `begin` on, before `end`.
struct element_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
};

/// One of the values of a collective: what this process gives, and where it has what comes of it. Contiguous elements.
struct shared_value {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;                 // of the sum, of what is sent, of all side by side
  std::int64_t rows = 1;                  // of an all-gather: so many, in each of which tasks have elements
  const element_range* ranges = nullptr;  // per task: what it has of a sum that is scattered; what it gives to a row
};

/// One process's part in a collective.
struct collective_part {
  step_kind kind = step_kind::all_reduce;  // a transfer: the first task sends a value to the second, from GPU to GPU
  element type = element::float32;
  const shared_value* values = nullptr;  // several are one call; of a broadcast there is one
  int count = 0;
  const place* tasks = nullptr;  // in the order in which they are added up; of a broadcast first who has the value
  int task_count = 0;
};

/// What the clock of the first process shows, and this one does not yet, in nanoseconds, and how wrong that may be.
struct clock_difference {
  std::int64_t ahead = 0;
  std::int64_t error = 0;
};

/// How the lines of all processes' traces come into the file of the first one. Nothing waits but `compare_clocks` and
/// `close`. After a process was given up nothing is sent or comes any more.
class trace_exchange : public counted {
 public:
  /// The number of this process; the first one has 0.
  virtual int number() const = 0;
  /// All processes call it. *Throws* `failed_precondition_error` where one does not come in time.
  virtual clock_difference compare_clocks(const trace_sink& clock) = 0;
  /// Another process: sends lines. *Returns* false where they cannot be sent.
  virtual bool give(const std::string& lines) noexcept = 0;
  /// The first process: appends what has come to `lines`.
  virtual void take(std::string& lines) noexcept = 0;
  /// All have given what they have. The first process takes what is still to come, and calls `write(lines)`; others
  /// wait for that. *Returns* whether everything is in the first one's file.
  virtual bool close(bool (*write)(void* self, const std::string& lines), void* self) noexcept = 0;
};

/// What a session does beside running, where there are other processes. Behind pointers, so that programs of one
/// process hold nothing of it; `session/together.hpp`.
struct together_functions;
struct bound_program;
struct bound_step;
class session_core;

/// Variables of this task that other sessions have, too, each with tasks of its own. A run reads what they are when all
/// its tasks are ready, and changes them at once, from what they are then; `session/shared_variables.hpp`.
class shared_variables : public counted {
 public:
  /// Before anything else is called.
  virtual void attach(session_core& s) = 0;
  /// Between runs: the session's variables become what they are now.
  virtual void refresh() = 0;
  /// *Throws* `failed_precondition_error` where one has other extents now, which another session has restored.
  virtual void expect_shapes() = 0;
  /// Runs from here on give variables their first values, to those that have none; or no longer.
  virtual void initialize(bool on) = 0;
  /// A checkpoint has given the session values: by `restore`, or to a variable that a program asked for.
  virtual void keep_restored(bool by_restore) = 0;

  /// All tasks are ready. *Throws* `failed_precondition_error` where a variable has changed its shape.
  virtual void begin(bound_program& b) = 0;
  /// Before a step: if it is part of an update, it and those after it read what variables are now. *Throws* as `begin`.
  virtual void enter(bound_program& b, const bound_step& s) = 0;
  /// Before a step, or with null behind the last: what was written becomes theirs, if this one may wait for others.
  virtual void leave(bound_program& b, const bound_step* next) noexcept = 0;
  /// Nothing of the run is under way any more, if it has not broken the group.
  virtual void end() noexcept = 0;
};

class process_group : public counted {
 public:
  const together_functions* programs = nullptr;
  void (*run_collective)(process_group& group, bound_program& b, int step, device& at) = nullptr;  // this task's part

  /// A place of the task that this process is.
  virtual place here() const = 0;

  /// The devices of all tasks, task by task. Those of others do nothing but carry messages. `own`: those of this
  /// process, or `failure` says why it has none. All processes call it. *Throws* `failed_precondition_error` where
  /// their options differ, and the failure of any.
  virtual device_list meet(device_list&& own, std::exception_ptr failure, std::string_view options) = 0;

  /// Waits for all processes to come to the same point of the same program. `failure`: what has gone wrong in this one,
  /// or null. Tells the others `said`. *Returns* what all said, task by task. *Throws*, in all processes the same, the
  /// failure of the first task that has one; `failed_precondition_error` where they run different programs, or a
  /// process does not come in time: then the group is broken.
  virtual std::string agree(const program_identity& program, std::exception_ptr failure, std::string_view said) = 0;

  /// Begins what some tasks do together, this one among them: all begin the same ones in the same order. A device of
  /// another task has it in its stream of kernels. After a failure each begins what is left, too; then what comes of it
  /// is nothing, and the run has failed in all of them, or will have when they agree on its end. `at`: the host, or of
  /// an all-reduce a device that adds up with those of the other tasks, in its stream `out`.
  virtual void begin(const work& w, device& at, const collective_part& part) = 0;
  /// Waits until devices are done adding up with those of other tasks: the host is not to block on a device that may
  /// wait for one that never comes. *Throws* `failed_precondition_error` where another process does not come in time.
  virtual void settle() = 0;
  /// Lets what is under way go on, between steps that take long.
  virtual void progress() = 0;

  /// For a session whose processes have traces.
  virtual ref<trace_exchange> exchange_traces() = 0;

  /// Whether a process was given up: then nothing is run together any more, and memory may still be under way.
  virtual bool is_broken() const = 0;

  ref<shared_variables> shared;  // null where this session alone has its variables
  mutex turn;                    // one run at a time
  bool updates_last = false;     // some of its tasks share variables with other groups
  bool deterministic = false;    // sums are in a fixed order
};

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

namespace onto::detail {

/// A run, or what else processes do together, from its first to its last agreement. Without a group it does nothing.
class agreed_run {
 public:
  ONTO_INLINE explicit agreed_run(process_group* group) : group_(group), turn_(group ? &group->turn : nullptr) {}
  agreed_run(const agreed_run&) = delete;
  agreed_run& operator=(const agreed_run&) = delete;

  ONTO_INLINE process_group* group() const { return group_; }
  /// Says what is run. To be said before anything is agreed.
  void of(const program_identity& program) { program_ = program; }

  /// *Throws* what `process_group::agree` throws; then the run is over in all processes.
  ONTO_COLD ONTO_NOINLINE std::string agree(std::exception_ptr failure, std::string_view said = {}) {
    if (!group_) return {};
    over_ = true;
    std::string heard = group_->agree(program_, failure, said);
    over_ = false;
    return heard;
  }

  /// To be called where an exception is handled: the others learn of it, if they do not know. *Throws*.
  [[noreturn]] ONTO_COLD ONTO_NOINLINE void fail() {
    if (group_ && !over_) agree(std::current_exception());
    throw;
  }

 private:
  process_group* group_;
  program_identity program_;
  mutex_lock turn_;
  bool over_ = false;
};

}  // namespace onto::detail
