// SPDX-License-Identifier: BSL-1.0
// A piece of work as devices get it: what it is called, for errors, traces and simulated time, and the run it is of.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/core/message.hpp>
#include <onto/core/mutex.hpp>
#include <onto/device/place.hpp>
#include <onto/runtime/fault_hook.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A device's streams, each in an order of its own: kernels, copies to it from the host, copies from it.
enum class stream_kind : std::uint8_t { compute, in, out };

inline constexpr int stream_kinds = 3;

/// What a piece of work is. Lives as long as the program it is of.
struct work_label {
  std::string_view name;       // `MatMul_1`
  std::string_view operation;  // `MatMul`, of a fused kernel `Mul, Add`; of a copy, from where to where
  std::int64_t bytes = 0;      // that it reads and writes; of a copy, those copied
  std::int64_t flops = 0;      // floating-point operations
};
/// Of a wait for another stream. Not a function's own constant: one of an inline function that is not optimized is in
/// every object file, g++ 12, and all that the function calls with it.
inline constexpr work_label wait_label{"wait", {}, 0, 0};

/// A stretch of time in which a stream did something. Nanoseconds since the session began, or in simulated time.
struct trace_span {
  enum kind { kernel, copy, wait, send, receive, collective } what = kernel;
  place where{};
  stream_kind stream = stream_kind::compute;
  const work_label* label = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  place other{};            // of a message: where it goes to, or comes from
  std::int64_t number = 0;  // of a message: how many went that way before
};

constexpr std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9 + 0.5); }

/// Where spans go. Called from several threads at once.
class trace_sink {
 public:
  virtual ~trace_sink() = default;
  virtual void add(const trace_span& span) noexcept = 0;
  /// Nanoseconds since the session began.
  virtual std::int64_t now() const noexcept = 0;
  /// Ends what was written after a run. *Returns* false once, when it could not be.
  virtual bool flush() { return true; }
  /// Of a file; else empty.
  virtual std::string_view path() const { return {}; }
};

/// What one run of a program has come to; shared with the devices that work for it. The first failure is kept, and what
/// was issued after it does nothing.
class run_state {
 public:
  trace_sink* trace = nullptr;
  double now = 0;      // simulated seconds at the host
  bool asked = false;  // whether the device may do what is issued from now on was asked before: it does

  bool failed() const { return failed_.load(memory_order_acquire); }

  /// Makes it ready for another run.
  void reset() {
    asked = false;
    failed_.store(false, memory_order_relaxed);
    error_ = nullptr;
  }

  /// Counts one more of what the run's thread does; the counter has it when the run is over. A counter that threads
  /// share costs as much as a kernel of a few elements.
  void count(atomic<std::int64_t>& counter) {
    if (counter_ != &counter) settle_counts();
    counter_ = &counter;
    ++counted_;
  }
  ONTO_INLINE void settle_counts() {
    if (counter_) counter_->fetch_add(counted_, memory_order_relaxed);
    counter_ = nullptr;
    counted_ = 0;
  }

  ONTO_COLD ONTO_NOINLINE void fail(std::exception_ptr e) {
    mutex_lock lock(mutex_);
    if (!error_) error_ = e;
    failed_.store(true, memory_order_release);
  }

  ONTO_COLD ONTO_NOINLINE void rethrow() {
    std::exception_ptr e;
    {
      mutex_lock lock(mutex_);
      e = error_;
    }
    std::rethrow_exception(e);
  }

 private:
  atomic<bool> failed_{false};
  mutex mutex_;
  std::exception_ptr error_;
  atomic<std::int64_t>* counter_ = nullptr;  // of a device
  std::int64_t counted_ = 0;
};

/// A piece of work of a run.
struct work {
  run_state& run;
  const work_label& label;
};

/// Memory of the host whose address is looked up when a copy is made: a replayed copy serves another run's data.
struct host_slot {
  void* data = nullptr;
};

/// Writes `/device:GPU:0`; of a task `/job:worker/task:1/device:GPU:0`.
ONTO_COLD ONTO_NOINLINE inline message& write_short(message& m, const place& p) {
  if (p.in_task) m << "/job:" << p.task->job << "/task:" << p.task->task;
  return m << (p.kind == device_kind::gpu ? "/device:GPU:" : "/device:CPU:") << p.index;
}

/// The exception being handled, with the node in its sentence. What is none of onto's keeps its type nested inside.
ONTO_COLD ONTO_NOINLINE inline std::exception_ptr named_failure(const work_label& label, const place& where) {
  message m;
  const auto sentence = [&](const char* what) -> const message& {
    m << what;
    if (label.name.empty()) return m;
    m << "; in " << label.name;
    if (!label.operation.empty()) m << " (" << label.operation << ")";
    return write_short(m << " on ", where);
  };
  try {
    try {
      throw;
    } catch (const invalid_argument_error& e) {
      fail<invalid_argument_error>(sentence(e.what()));
    } catch (const failed_precondition_error& e) {
      fail<failed_precondition_error>(sentence(e.what()));
    } catch (const resource_exhausted_error& e) {
      fail<resource_exhausted_error>(sentence(e.what()));
    } catch (const not_found_error& e) {
      fail<not_found_error>(sentence(e.what()));
    } catch (const error& e) {
      fail<internal_error>(sentence(e.what()));
    } catch (const std::bad_alloc&) {
      fail<resource_exhausted_error>(sentence("[onto.memory] the system has no more memory; use smaller tensors"));
    } catch (const std::exception& e) {
      std::throw_with_nested(internal_error(sentence(e.what()).text()));
    } catch (...) {
      std::throw_with_nested(internal_error(sentence("[onto.run] an operation threw no std::exception").text()));
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
