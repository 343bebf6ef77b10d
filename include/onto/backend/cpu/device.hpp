// SPDX-License-Identifier: BSL-1.0
// The CPU as a device: everything runs at once, on the calling thread and the pool it shares.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/plan/cost_model.hpp>
#include <onto/runtime/block_cache.hpp>
#include <onto/runtime/device.hpp>

#include <cstring>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The threads that the CPU devices of a session share.
struct shared_threads : counted {
  explicit shared_threads(int threads) : pool(threads) {}
  thread_pool pool;
};

class cpu_device final : public device {
 public:
  /// `model` says what work takes where GPUs are simulated in time.
  cpu_device(int index, ref<shared_threads> threads, const cost_model& model = {})
      : device({device_kind::cpu, index}),
        threads_(static_cast<ref<shared_threads>&&>(threads)),
        model_(model),
        simulates_(model.is_set()) {}

  std::string description() const override {
    constexpr std::string_view simulated = "simulated task (threads of this process)";
    return std::string(simulated.data(), where().in_task && where().task->is_simulated ? simulated.size() : 0);
  }
  bool is_host() const override { return true; }
  kernel_context* host_context() override { return &threads_->pool; }
  const void* peer_group() const override { return this; }

  void trim() override { cache_.trim(); }

  void copy_in(const work& w, void* to, const host_slot& slot, std::int64_t bytes) override {
    copy(w, to, slot.data, bytes);
  }
  void copy_out(const work& w, const host_slot& slot, const void* from, std::int64_t bytes) override {
    copy(w, slot.data, from, bytes);
  }
  void copy_to(const work& w, device&, void* to, const void* from, std::int64_t bytes) override {
    copy(w, to, from, bytes);
  }

  void launch(const work& w, const kernel_entry& kernel, const kernel_call& call) override {
    const std::int64_t begin = w.run.trace ? w.run.trace->now() : 0;
    try {
      if (!w.run.asked) expect_kernel();
      kernel.launch[slot()].run(threads_->pool, call);
      if (!call.continues) w.run.count(counters.kernels);
    } catch (...) {
      w.run.fail(named_failure(w.label, where()));
    }
    if (w.run.trace || simulates_)
      took(w, trace_span::kernel, begin, call.continues ? 0 : model_.host_kernel(w.label.flops, w.label.bytes));
  }

  // The host does one thing after the other: there is nothing to wait for.
  ref<device_event> make_event() override { return {}; }
  void record(run_state&, stream_kind, device_event&) override {}
  void wait(run_state&, stream_kind, device_event& event) override { event.wait(); }

 protected:
  void* take(std::int64_t bytes) override { return cache_.take(bytes); }
  void give(void* memory, std::int64_t) noexcept override { cache_.give(memory); }
  std::int64_t reserved() const override { return cache_.reserved(); }

 private:
  void copy(const work& w, void* to, const void* from, std::int64_t bytes) {
    const std::int64_t begin = w.run.trace ? w.run.trace->now() : 0;
    try {
      expect_alive();
      before("copy");
      if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
      count_transfer(bytes);
    } catch (...) {
      w.run.fail(named_failure(w.label, where()));
    }
    took(w, trace_span::copy, begin, model_.host_kernel(0, 2 * bytes));
  }

  void took(const work& w, trace_span::kind what, std::int64_t begin, double seconds) {
    if (w.run.trace && simulates_)
      w.run.trace->add(
          {what, where(), stream_kind::compute, &w.label, nanoseconds(w.run.now), nanoseconds(w.run.now + seconds)});
    else if (w.run.trace)
      w.run.trace->add({what, where(), stream_kind::compute, &w.label, begin, w.run.trace->now()});
    w.run.now += seconds;
  }

  ref<shared_threads> threads_;
  cost_model model_;
  bool simulates_;
  block_cache cache_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
