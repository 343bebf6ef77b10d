// SPDX-License-Identifier: BSL-1.0
// A stream of a simulated GPU: a thread that does what was issued to it, in order, and a clock that says how long that
// would have taken.
#pragma once

#include <onto/core/message.hpp>
#include <onto/runtime/device.hpp>

#include <pthread.h>

#include <new>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A point in a simulated stream.
class simulated_event final : public device_event {
 public:
  simulated_event() { pthread_cond_init(&reached_, nullptr); }
  ~simulated_event() override { pthread_cond_destroy(&reached_); }

  /// From now on it waits to be reached again.
  void rearm() {
    mutex_lock lock(mutex_);
    done_ = false;
  }
  void reach(double time) {
    mutex_lock lock(mutex_);
    done_ = true;
    time_ = time;
    pthread_cond_broadcast(&reached_);
  }
  void wait() override {
    mutex_lock lock(mutex_);
    while (!done_) pthread_cond_wait(&reached_, mutex_.native());
  }
  double time() const override {
    mutex_lock lock(mutex_);
    return time_;
  }

 private:
  mutable mutex mutex_;
  pthread_cond_t reached_;
  bool done_ = true;
  double time_ = 0;
};

/// Something issued to a stream.
struct simulated_command {
  enum kind { copy, kernel, mark, await } what = copy;
  run_state* run = nullptr;
  const work_label* label = nullptr;
  bool timed = false;  // in simulated time
  double issued = 0;   // simulated time at the host
  double seconds = 0;  // that it takes
  const kernel_entry* entry = nullptr;
  const kernel_call* call = nullptr;
  void* to = nullptr;
  const void* from = nullptr;
  const host_slot* to_host = nullptr;    // instead of `to`
  const host_slot* from_host = nullptr;  // instead of `from`
  std::int64_t bytes = 0;
  ref<device_event> event;
  simulated_command* next = nullptr;
};

/// A queue of commands and the thread that works on it; the thread starts with the first command.
class simulated_stream {
 public:
  /// Does the command, and says whether it did.
  using worker = bool (*)(void* context, const simulated_command& c);

  simulated_stream() { pthread_cond_init(&issued_, nullptr); }
  simulated_stream(const simulated_stream&) = delete;
  simulated_stream& operator=(const simulated_stream&) = delete;
  ~simulated_stream() {
    stop();
    pthread_cond_destroy(&issued_);
  }

  void serve(const place& where, stream_kind which, worker work, void* context) {
    where_ = where;
    which_ = which;
    work_ = work;
    context_ = context;
  }

  /// Ends the thread once everything issued is done.
  void stop() {
    {
      mutex_lock lock(mutex_);
      stop_ = true;
      pthread_cond_signal(&issued_);
    }
    if (started_) pthread_join(thread_, nullptr);
    started_ = false;
  }

  /// *Throws* `internal_error` where the system has no thread for it.
  void append(simulated_command* c) {
    mutex_lock lock(mutex_);
    if (!started_) {
      if (pthread_create(&thread_, nullptr, &simulated_stream::run, this) != 0) {
        delete c;
        fail<internal_error>(message("[onto.device] a simulated GPU got no thread from the system; use fewer of them"));
      }
      started_ = true;
    }
    (last_ ? last_->next : first_) = c;
    last_ = c;
    pthread_cond_signal(&issued_);
  }

 private:
  static void* run(void* self) {
    static_cast<simulated_stream*>(self)->loop();
    return nullptr;
  }

  void loop() {
    for (;;) {
      simulated_command* c = nullptr;
      {
        mutex_lock lock(mutex_);
        while (!first_ && !stop_) pthread_cond_wait(&issued_, mutex_.native());
        if (!first_) return;
        c = first_;
        first_ = c->next;
        if (!first_) last_ = nullptr;
      }
      execute(*c);
      delete c;
    }
  }

  void execute(const simulated_command& c) {
    if (c.issued > clock_) clock_ = c.issued;
    if (c.what == simulated_command::mark) {
      static_cast<simulated_event*>(c.event.get())->reach(clock_);
    } else if (c.what == simulated_command::await) {
      const std::int64_t begin = c.run->trace ? c.run->trace->now() : 0;
      c.event->wait();
      const double then = c.event->time();
      const double now = clock_;
      if (then > clock_) clock_ = then;
      if (c.run->trace) trace_wait(*c.run->trace, c.timed ? nanoseconds(now) : begin, c.timed);
    } else if (work_(context_, c)) {
      clock_ += c.seconds;
    }
  }

  void trace_wait(trace_sink& trace, std::int64_t begin, bool timed) {
    const std::int64_t end = timed ? nanoseconds(clock_) : trace.now();
    if (end > begin) trace.add({trace_span::wait, where_, which_, &wait_label, begin, end});
  }

 public:
  /// Simulated seconds at which what is done so far was over. For the stream's own thread.
  double clock() const { return clock_; }

 private:
  place where_{};
  stream_kind which_ = stream_kind::compute;
  worker work_ = nullptr;
  void* context_ = nullptr;
  mutex mutex_;
  pthread_cond_t issued_;
  pthread_t thread_{};
  simulated_command* first_ = nullptr;
  simulated_command* last_ = nullptr;
  double clock_ = 0;
  bool started_ = false;
  bool stop_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
