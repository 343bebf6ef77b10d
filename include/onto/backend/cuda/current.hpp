// SPDX-License-Identifier: BSL-1.0
// Which GPU the runtime works with on this thread: made current for a while, with the caller's choice left as it was.
#pragma once

#include <onto/backend/cuda/check.hpp>
#include <onto/core/atomic.hpp>
#include <onto/core/mutex.hpp>

#include <new>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The driver's functions for contexts, which are what is current on a thread. The runtime can only replace what was
/// current, and to put back a GPU that was never used would set that up, which takes memory on it.
struct context_functions {
  // A context is a pointer to what the driver alone knows.
  int (*retain)(void** context, int gpu) = nullptr;
  int (*current)(void** context) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;

  /// *Throws* `internal_error` where the driver has not all of them.
  static const context_functions& get() {
    static const context_functions found = {
        find<int (*)(void**, int)>("cuDevicePrimaryCtxRetain"), find<int (*)(void**)>("cuCtxGetCurrent"),
        find<int (*)(void*)>("cuCtxPushCurrent"), find<int (*)(void**)>("cuCtxPopCurrent")};
    return found;
  }

 private:
  template <class Function>
  static Function find(const char* name) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult result{};
    cuda_check(cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &result), name);
    if (result != cudaDriverEntryPointSuccess || !entry) throw_cuda(cudaErrorSymbolNotFound, name);
    return reinterpret_cast<Function>(entry);
  }
};

/// What a function of the driver returned. *Source* driver_types.h: the runtime's errors have the driver's numbers.
inline void driver_check(int status, const char* what) { cuda_check(static_cast<cudaError_t>(status), what); }

/// A GPU and its primary context, which the runtime works in too. The context is set up when it is first asked for and
/// stays for as long as the process, as it does where the runtime sets it up.
class cuda_gpu {
 public:
  /// `ordinal` is the GPU's number in the CUDA runtime. *Effects* none on the GPU.
  explicit cuda_gpu(int ordinal) : ordinal_(ordinal) {}
  cuda_gpu(const cuda_gpu&) = delete;
  cuda_gpu& operator=(const cuda_gpu&) = delete;

  int ordinal() const { return ordinal_; }

  /// Null before it was first asked for.
  void* known_context() const { return context_.load(memory_order_acquire); }

  void* context() const {
    if (void* known = known_context()) return known;
    mutex_lock lock(mutex_);
    if (void* known = known_context()) return known;
    void* made = nullptr;
    driver_check(context_functions::get().retain(&made, ordinal_), "cuDevicePrimaryCtxRetain");
    context_.store(made, memory_order_release);
    return made;
  }

 private:
  int ordinal_;
  mutable mutex mutex_;  // while it is set up
  mutable atomic<void*> context_{nullptr};
};

/// Makes a GPU current on this thread for as long as it lives; afterwards the thread is as it was, whether what was
/// current had been used or not, and whoever made it.
class current_cuda_device {
 public:
  explicit current_cuda_device(const cuda_gpu& gpu) { driver_check(enter(gpu.context()), "making a GPU current"); }
  /// For what is taken down, also on a GPU that is lost: where it cannot be made current, nothing changes.
  current_cuda_device(const cuda_gpu& gpu, std::nothrow_t) noexcept {
    if (void* known = gpu.known_context()) (void)enter(known);
  }
  current_cuda_device(const current_cuda_device&) = delete;
  current_cuda_device& operator=(const current_cuda_device&) = delete;
  ~current_cuda_device() {
    void* ours = nullptr;
    if (changed_) (void)context_functions::get().pop(&ours);
  }

 private:
  int enter(void* wanted) {
    const context_functions& driver = context_functions::get();
    void* now = nullptr;
    int status = driver.current(&now);
    if (status != cudaSuccess || now == wanted) return status;
    status = driver.push(wanted);
    changed_ = status == cudaSuccess;
    return status;
  }

  bool changed_ = false;
};

/// Takes something down with its GPU current. Every call of the runtime may set up the GPU that is current on its
/// thread, so that this is not left to chance.
template <class Work>
void quietly_on(const cuda_gpu& gpu, const Work& work) noexcept {
  const current_cuda_device current(gpu, std::nothrow);
  work();
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
