// SPDX-License-Identifier: BSL-1.0
// Runs that were started and not waited for: a thread does them one after the other.
#pragma once

#include <onto/core/message.hpp>
#include <onto/core/mutex.hpp>
#include <onto/core/ref.hpp>

#include <pthread.h>

#include <exception>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A run in a queue; it outlives the queue where someone still waits for its end.
class queued_run : public counted {
 public:
  queued_run() { pthread_cond_init(&finished_, nullptr); }
  ~queued_run() override { pthread_cond_destroy(&finished_); }

  /// Does it. What it throws is kept for `wait`.
  ONTO_NOINLINE void execute() noexcept {
    std::exception_ptr e;
    try {
      perform();
    } catch (...) {
      e = std::current_exception();
    }
    mutex_lock lock(mutex_);
    error_ = e;
    e = nullptr;
    done_ = true;
    pthread_cond_broadcast(&finished_);
  }

  bool is_done() const {
    mutex_lock lock(mutex_);
    return done_;
  }
  ONTO_NOINLINE void wait() const {
    mutex_lock lock(mutex_);
    while (!done_) pthread_cond_wait(&finished_, mutex_.native());
  }
  /// *Throws* what the run threw, once: the caller alone then has it.
  ONTO_NOINLINE void wait_and_check() {
    wait();
    const std::exception_ptr e = error_;
    error_ = nullptr;
    if (e) std::rethrow_exception(e);
  }

 protected:
  virtual void perform() = 0;

 private:
  friend class run_queue;
  mutable mutex mutex_;
  mutable pthread_cond_t finished_;
  std::exception_ptr error_;
  bool done_ = false;
  queued_run* next_ = nullptr;
};

class run_queue {
 public:
  run_queue() { pthread_cond_init(&pushed_, nullptr); }
  run_queue(const run_queue&) = delete;
  run_queue& operator=(const run_queue&) = delete;
  ~run_queue() {
    finish();
    pthread_cond_destroy(&pushed_);
  }

  /// Takes a reference. *Throws* `internal_error` where the system has no thread for the first run.
  ONTO_NOINLINE void push(queued_run& r) {
    mutex_lock lock(mutex_);
    if (!started_) {
      if (pthread_create(&thread_, nullptr, &run_queue::work, this) != 0)
        fail<internal_error>(message("[onto.run] the system has no thread for async; call the prepared run itself"));
      started_ = true;
    }
    r.retain();
    (last_ ? last_->next_ : first_) = &r;
    last_ = &r;
    pthread_cond_signal(&pushed_);
  }

  /// Whether this thread does the runs.
  bool is_here() {
    mutex_lock lock(mutex_);
    return started_ && pthread_equal(thread_, pthread_self());
  }

  /// Waits for what was pushed so far. *Preconditions* this thread does not do the runs.
  ONTO_COLD ONTO_NOINLINE void wait_for_all() {
    struct last_run final : queued_run {
      void perform() override {}
    };
    {
      mutex_lock lock(mutex_);
      if (!started_) return;
    }
    const ref<queued_run> end(new last_run);
    push(*end);
    end->wait();
  }

  /// Does what is left, and ends.
  ONTO_NOINLINE void finish() {
    {
      mutex_lock lock(mutex_);
      stop_ = true;
      pthread_cond_signal(&pushed_);
    }
    if (started_) pthread_join(thread_, nullptr);
    started_ = false;
  }

 private:
  static void* work(void* self) {
    static_cast<run_queue*>(self)->loop();
    return nullptr;
  }
  void loop() {
    for (;;) {
      queued_run* r = nullptr;
      {
        mutex_lock lock(mutex_);
        while (!first_ && !stop_) pthread_cond_wait(&pushed_, mutex_.native());
        if (!first_) return;
        r = first_;
        first_ = r->next_;
        if (!first_) last_ = nullptr;
      }
      r->execute();
      r->drop();
    }
  }

  mutex mutex_;
  pthread_cond_t pushed_;
  pthread_t thread_{};
  queued_run* first_ = nullptr;
  queued_run* last_ = nullptr;
  bool started_ = false;
  bool stop_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
