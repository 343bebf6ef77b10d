// SPDX-License-Identifier: BSL-1.0
// A simulated GPU: a heap and a stream of its own, made of host memory and a thread. Programs for several GPUs run, and their
// placement, copies and overlap can be tested, on any machine.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/block_cache.hpp>
#include <onto/runtime/device.hpp>

#include <pthread.h>

#include <cstring>
#include <deque>

namespace onto::detail {

/// A point in a simulated stream.
class simulated_event final : public device_event {
 public:
  simulated_event() {
    pthread_mutex_init(&mutex_, nullptr);
    pthread_cond_init(&reached_, nullptr);
  }
  ~simulated_event() override {
    pthread_cond_destroy(&reached_);
    pthread_mutex_destroy(&mutex_);
  }
  void reach() {
    pthread_mutex_lock(&mutex_);
    done_ = true;
    pthread_cond_broadcast(&reached_);
    pthread_mutex_unlock(&mutex_);
  }
  void wait() override {
    pthread_mutex_lock(&mutex_);
    while (!done_) pthread_cond_wait(&reached_, &mutex_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_;
  pthread_cond_t reached_;
  bool done_ = false;
};

class simulated_device final : public device {
 public:
  explicit simulated_device(int index) : device({device_kind::gpu, index}), pool_(1) {
    pthread_mutex_init(&mutex_, nullptr);
    pthread_cond_init(&issued_, nullptr);
  }
  ~simulated_device() override {
    pthread_mutex_lock(&mutex_);
    stop_ = true;
    pthread_cond_signal(&issued_);
    pthread_mutex_unlock(&mutex_);
    if (started_) pthread_join(thread_, nullptr);
    pthread_cond_destroy(&issued_);
    pthread_mutex_destroy(&mutex_);
  }

  std::string description() const override {
    return "device: " + std::to_string(where().index) + ", name: simulated GPU (host memory, one thread)";
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
    // In stream order, as on a GPU: what was issued before may still use the memory. Memory must come back even where the queue
    // cannot grow, so then the stream is drained first.
    command c;
    c.what = command::release;
    c.to = memory;
    try {
      issue(c);
    } catch (...) {
      try {
        if (const auto e = record()) e->wait();
      } catch (...) {
        return;  // no memory even for an event: the heap frees the block when the device goes
      }
      heap_.deallocate(memory);
    }
  }

  void copy_in(run_state& run, void* to, const void* from, std::int64_t bytes) override { issue_copy(run, to, from, bytes); }
  void copy_out(run_state& run, void* to, const void* from, std::int64_t bytes) override { issue_copy(run, to, from, bytes); }
  void copy_to(run_state& run, device&, void* to, const void* from, std::int64_t bytes) override {
    issue_copy(run, to, from, bytes);
  }

  void launch(run_state& run, const kernel_entry& kernel, const kernel_call& call) override {
    command c;
    c.what = command::kernel;
    c.run = &run;
    c.entry = &kernel;
    c.call = &call;
    issue(c);
  }

  std::shared_ptr<device_event> record() override {
    command c;
    c.what = command::mark;
    c.event = std::make_shared<simulated_event>();
    issue(c);
    return c.event;
  }
  void wait(const std::shared_ptr<device_event>& event) override {
    if (!event) return;
    command c;
    c.what = command::await;
    c.event = event;
    issue(c);
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
    std::shared_ptr<device_event> event;
  };

  void issue_copy(run_state& run, void* to, const void* from, std::int64_t bytes) {
    command c;
    c.run = &run;
    c.to = to;
    c.from = from;
    c.bytes = bytes;
    issue(c);
  }

  void issue(const command& c) {
    pthread_mutex_lock(&mutex_);
    try {
      if (!started_) {
        if (pthread_create(&thread_, nullptr, &simulated_device::work, this) != 0)
          throw internal_error("[onto.device] no thread for a simulated GPU could be started; the system is out of threads");
        started_ = true;
      }
      queue_.push_back(c);
    } catch (...) {
      pthread_mutex_unlock(&mutex_);
      throw;
    }
    pthread_cond_signal(&issued_);
    pthread_mutex_unlock(&mutex_);
  }

  static void* work(void* self) {
    static_cast<simulated_device*>(self)->loop();
    return nullptr;
  }

  void loop() {
    for (;;) {
      pthread_mutex_lock(&mutex_);
      while (queue_.empty() && !stop_) pthread_cond_wait(&issued_, &mutex_);
      if (queue_.empty()) {
        pthread_mutex_unlock(&mutex_);
        return;
      }
      const command c = queue_.front();
      queue_.pop_front();
      pthread_mutex_unlock(&mutex_);
      execute(c);
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
  pthread_mutex_t mutex_;
  pthread_cond_t issued_;
  pthread_t thread_{};
  std::deque<command> queue_;
  bool started_ = false;
  bool stop_ = false;
};

}  // namespace onto::detail
