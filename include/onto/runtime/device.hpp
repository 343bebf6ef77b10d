// SPDX-License-Identifier: BSL-1.0
// A device as the runtime sees it: memory, copies and kernels in stream order. Backends answer by deriving; none is
// named here.
#pragma once

#include <onto/core/error.hpp>
#include <onto/core/mutex.hpp>
#include <onto/core/ref.hpp>
#include <onto/device/place.hpp>
#include <onto/runtime/kernel.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class thread_pool;   // of the CPU backend
struct gpu_context;  // of a GPU backend: its stream and library handles

/// A kernel's entry points: one for each kind of backend in this translation unit.
struct kernel_entry {
  void (*on_cpu)(thread_pool&, const kernel_call&) = nullptr;
  void (*on_gpu)(gpu_context&, const kernel_call&) = nullptr;
  std::size_t (*gpu_workspace)(const kernel_call&) = nullptr;  // bytes of device memory; null: none
};

/// What one run of a program has come to; shared with the devices that work for it. The first failure is kept, and what
/// was issued after it does nothing.
class run_state {
 public:
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  ONTO_COLD ONTO_NOINLINE void fail(std::exception_ptr e) {
    mutex_lock lock(mutex_);
    if (!error_) error_ = e;
    failed_.store(true, std::memory_order_release);
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
  std::atomic<bool> failed_{false};
  mutex mutex_;
  std::exception_ptr error_;
};

/// A point in a device's stream that others can wait for.
class device_event : public counted {
 public:
  /// Blocks the calling thread until everything issued before the point is done.
  virtual void wait() = 0;
};

/// Called before every allocation, copy and kernel, on the thread that does it; for tests that make them fail.
struct fault_hook {
  void (*before)(void* context, const char* what) = nullptr;
  void* context = nullptr;
};

/// What a device has done since the session was made.
struct device_counters {
  std::atomic<std::int64_t> kernels{0};
  std::atomic<std::int64_t> transfers{0};
  std::atomic<std::int64_t> transfer_bytes{0};
};

/// One device. What is issued runs in order; nothing but `allocate` and an event's `wait` blocks.
class device {
 public:
  explicit device(place where) : where_(where) {}
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  place where() const { return where_; }
  /// `device: 0, name: NVIDIA H200, pci bus id: 0000:05:00.0, compute capability: 9.0`; empty for the CPU.
  virtual std::string description() const = 0;
  /// Whether its memory is the host's, so that the host computes in it directly.
  virtual bool is_host() const { return false; }
  /// Devices of one family wait for each other's events and copy to each other's memory without the host.
  virtual const void* family() const = 0;

  /// *Throws* `resource_exhausted_error` where there is not so much memory.
  virtual void* allocate(std::int64_t bytes) = 0;
  /// Frees in stream order: what was issued before may still use the memory.
  virtual void deallocate(void* memory, std::int64_t bytes) noexcept = 0;

  virtual void copy_in(run_state& run, void* to, const void* host, std::int64_t bytes) = 0;
  virtual void copy_out(run_state& run, void* host, const void* from, std::int64_t bytes) = 0;
  /// Copies to another device of the family, in the order of this device's stream.
  virtual void copy_to(run_state& run, device& other, void* to, const void* from, std::int64_t bytes) = 0;
  /// Runs a kernel. `call` and what it points to must live until the run is over.
  virtual void launch(run_state& run, const kernel_entry& kernel, const kernel_call& call) = 0;

  virtual ref<device_event> record() = 0;
  /// What is issued from now on waits for an event of a device of the same family.
  virtual void wait(const ref<device_event>& event) = 0;

  fault_hook fault{};
  device_counters counters;

 protected:
  void before(const char* what) const {
    if (fault.before) fault.before(fault.context, what);
  }
  void count_kernel(const kernel_call& call) {
    if (!call.continues) counters.kernels.fetch_add(1, std::memory_order_relaxed);
  }
  void count_transfer(std::int64_t bytes) {
    counters.transfers.fetch_add(1, std::memory_order_relaxed);
    counters.transfer_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  place where_;
};

/// The devices of a session, in order of preference, the CPU last; owned.
class device_list {
 public:
  device_list() = default;
  device_list(const device_list&) = delete;
  device_list& operator=(const device_list&) = delete;
  device_list(device_list&& o) noexcept : devices_(o.devices_), places_(o.places_), count_(o.count_) {
    o.devices_ = nullptr;
    o.places_ = nullptr;
    o.count_ = 0;
  }
  ~device_list() {
    for (int d = 0; d < count_; ++d) delete devices_[d];
    delete[] devices_;
    delete[] places_;
  }

  /// Takes over a device. *Throws* `std::bad_alloc`; the device is then gone.
  ONTO_COLD ONTO_NOINLINE void add(device* d) {
    struct owner {
      device* d;
      ~owner() { delete d; }
    } held{d};
    auto** devices = new device*[static_cast<std::size_t>(count_) + 1];
    place* places = nullptr;
    try {
      places = new place[static_cast<std::size_t>(count_) + 1];
    } catch (...) {
      delete[] devices;
      throw;
    }
    for (int k = 0; k < count_; ++k) {
      devices[k] = devices_[k];
      places[k] = places_[k];
    }
    devices[count_] = d;
    places[count_] = d->where();
    delete[] devices_;
    delete[] places_;
    devices_ = devices;
    places_ = places;
    ++count_;
    held.d = nullptr;
  }

  int count() const { return count_; }
  device& operator[](int d) const { return *devices_[d]; }
  const place* places() const { return places_; }
  int index_of(const place& p) const {
    int d = 0;
    while (d < count_ && !(places_[d] == p)) ++d;
    return d;
  }

 private:
  device** devices_ = nullptr;
  place* places_ = nullptr;
  int count_ = 0;
};

/// A block of a device's memory, given back when the last user is gone.
class device_block : public counted {
 public:
  device_block(device& d, std::int64_t size) : owner_(d), data_(d.allocate(size)), bytes_(size) {}
  ~device_block() override { owner_.deallocate(data_, bytes_); }
  void* data() const { return data_; }

 private:
  device& owner_;
  void* data_;
  std::int64_t bytes_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
