// SPDX-License-Identifier: BSL-1.0
// A simulated GPU: a heap and a stream of its own, made of host memory and a thread. Programs for several GPUs run, and
// their placement, copies and overlap can be tested, on any machine.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/message.hpp>
#include <onto/runtime/block_cache.hpp>
#include <onto/runtime/device.hpp>

#include <pthread.h>

#include <cstring>
#include <new>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A point in a simulated stream.
class simulated_event final : public device_event {
 public:
  simulated_event() { pthread_cond_init(&reached_, nullptr); }
  ~simulated_event() override { pthread_cond_destroy(&reached_); }
  void reach() {
    mutex_lock lock(mutex_);
    done_ = true;
    pthread_cond_broadcast(&reached_);
  }
  void wait() override {
    mutex_lock lock(mutex_);
    while (!done_) pthread_cond_wait(&reached_, mutex_.native());
  }

 private:
  mutex mutex_;
  pthread_cond_t reached_;
  bool done_ = false;
};

class simulated_device final : public device {
 public:
  explicit simulated_device(int index) : device({device_kind::gpu, index}), pool_(1) {
    pthread_cond_init(&issued_, nullptr);
  }
  ~simulated_device() override {
    {
      mutex_lock lock(mutex_);
      stop_ = true;
      pthread_cond_signal(&issued_);
    }
    if (started_) pthread_join(thread_, nullptr);
    pthread_cond_destroy(&issued_);
  }

  std::string description() const override {
    return (message("device: ") << where().index << ", name: simulated GPU (host memory, one thread)").text();
  }
  const void* family() const override {
    static const char all = 0;
    return &all;
  }

  void* allocate(std::int64_t bytes) override {
    before("allocate");
    return heap_.allocate(bytes);
  }
  void deallocate(void* memory, std::int64_t) noexcept override {
    // In stream order, as on a GPU: what was issued before may still use the memory.
    command* c = spare();
    if (c) {
      c->what = command::release;
      c->to = memory;
      append(c);
    } else {
      drain();
      heap_.deallocate(memory);
    }
  }

  void copy_in(run_state& run, void* to, const void* from, std::int64_t bytes) override {
    issue_copy(run, to, from, bytes);
  }
  void copy_out(run_state& run, void* to, const void* from, std::int64_t bytes) override {
    issue_copy(run, to, from, bytes);
  }
  void copy_to(run_state& run, device&, void* to, const void* from, std::int64_t bytes) override {
    issue_copy(run, to, from, bytes);
  }

  void launch(run_state& run, const kernel_entry& kernel, const kernel_call& call) override {
    command* c = make();
    c->what = command::kernel;
    c->run = &run;
    c->entry = &kernel;
    c->call = &call;
    append(c);
  }

  ref<device_event> record() override {
    ref<device_event> event(new simulated_event);
    command* c = make();
    c->what = command::mark;
    c->event = event;
    append(c);
    return event;
  }
  void wait(const ref<device_event>& event) override {
    if (!event) return;
    command* c = make();
    c->what = command::await;
    c->event = event;
    append(c);
  }

 private:
  struct command {
    enum kind { copy, kernel, mark, await, release } what = copy;
    run_state* run = nullptr;
    const kernel_entry* entry = nullptr;
    const kernel_call* call = nullptr;
    void* to = nullptr;
    const void* from = nullptr;
    std::int64_t bytes = 0;
    ref<device_event> event;
    command* next = nullptr;
  };

  /// A new command, or null where there is no memory or no thread.
  command* spare() noexcept {
    mutex_lock lock(mutex_);
    if (!started_ && pthread_create(&thread_, nullptr, &simulated_device::work, this) == 0) started_ = true;
    return started_ ? new (std::nothrow) command : nullptr;
  }

  command* make() {
    if (command* c = spare()) return c;
    fail<internal_error>(
        message("[onto.device] a simulated GPU got no thread or no memory from the system; use fewer of them"));
  }

  void issue_copy(run_state& run, void* to, const void* from, std::int64_t bytes) {
    command* c = make();
    c->run = &run;
    c->to = to;
    c->from = from;
    c->bytes = bytes;
    append(c);
  }

  void append(command* c) noexcept {
    mutex_lock lock(mutex_);
    (last_ ? last_->next : first_) = c;
    last_ = c;
    ++queued_;
    pthread_cond_broadcast(&issued_);
  }

  /// Waits until everything issued is done.
  void drain() noexcept {
    mutex_lock lock(mutex_);
    while (queued_ > 0) pthread_cond_wait(&issued_, mutex_.native());
  }

  static void* work(void* self) {
    static_cast<simulated_device*>(self)->loop();
    return nullptr;
  }

  void loop() {
    for (;;) {
      command* c = nullptr;
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
      mutex_lock lock(mutex_);
      if (--queued_ == 0) pthread_cond_broadcast(&issued_);
    }
  }

  void execute(const command& c) {
    if (c.what == command::mark) {
      static_cast<simulated_event*>(c.event.get())->reach();
    } else if (c.what == command::await) {
      c.event->wait();
    } else if (c.what == command::release) {
      heap_.deallocate(c.to);
    } else if (!c.run->failed()) {
      try {
        if (c.what == command::copy) {
          before("copy");
          if (c.bytes > 0) std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
          count_transfer(c.bytes);
        } else {
          before("kernel");
          c.entry->on_cpu(pool_, *c.call);
          count_kernel(*c.call);
        }
      } catch (...) {
        c.run->fail(std::current_exception());
      }
    }
  }

  thread_pool pool_;
  block_cache heap_;
  mutex mutex_;
  pthread_cond_t issued_;
  pthread_t thread_{};
  command* first_ = nullptr;
  command* last_ = nullptr;
  std::int64_t queued_ = 0;
  bool started_ = false;
  bool stop_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
