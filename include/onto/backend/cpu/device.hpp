// SPDX-License-Identifier: BSL-1.0
// The CPU as a device: everything runs at once, on the calling thread and the pool it shares.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/block_cache.hpp>
#include <onto/runtime/device.hpp>

#include <cstring>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class cpu_device final : public device {
 public:
  explicit cpu_device(int threads) : device(cpu<0>::value), pool_(threads) {}

  std::string description() const override { return {}; }
  bool is_host() const override { return true; }
  const void* family() const override { return this; }

  void* allocate(std::int64_t bytes) override {
    before("allocate");
    return cache_.allocate(bytes);
  }
  void deallocate(void* memory, std::int64_t) noexcept override { cache_.deallocate(memory); }

  void copy_in(run_state&, void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
  void copy_out(run_state&, void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
  void copy_to(run_state&, device&, void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }

  void launch(run_state&, const kernel_entry& kernel, const kernel_call& call) override {
    before("kernel");
    kernel.on_cpu(pool_, call);
    count_kernel(call);
  }

  ref<device_event> record() override { return {}; }
  void wait(const ref<device_event>& event) override {
    if (event) event->wait();
  }

 private:
  void copy(void* to, const void* from, std::int64_t bytes) {
    before("copy");
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    count_transfer(bytes);
  }

  thread_pool pool_;
  block_cache cache_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
