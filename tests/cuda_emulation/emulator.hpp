// SPDX-License-Identifier: BSL-1.0
// The emulator from inside: what its parts ask of each other. Everything happens under one lock, which whoever calls
// the runtime holds; host functions alone run without it.
#pragma once

#include <cuda_runtime.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "control.hpp"

namespace cuda_emulation {

std::mutex& lock_of_everything();
std::mt19937_64& random_numbers();
/// A number below `n`, which is not 0.
std::size_t any_below(std::size_t n);

/// Nanoseconds of the clock that events are measured by.
std::int64_t clock_now();

// ---- calls (runtime.cpp) ----------------------------------------------------------------------------------

/// The beginning of every call: takes the lock, counts the call, lets streams go on at random. `status` is what the
/// call returns at once where it is no success: a fault that a test asked for, the loss of the device that is current.
class api_call {
 public:
  /// `uses` sets up the device that is current; `destroys` does what it is for whatever its status.
  enum kind { asks, uses, destroys };
  explicit api_call(const char* name, kind k = uses);
  cudaError_t status = cudaSuccess;
  /// Ends it with a status, which becomes the thread's last error.
  cudaError_t give(cudaError_t result);
  std::unique_lock<std::mutex> lock;
};

/// For libraries over the runtime: counts a call of theirs, and may fail. Takes the lock and gives it back.
cudaError_t begin_call(const char* name);
int current_device();
/// The runtime works with a device on this thread from now on.
void choose_device(int ordinal);
bool in_host_function();

// ---- devices and memory (memory.cpp) ----------------------------------------------------------------------

struct device_state {
  cudaError_t lost = cudaSuccess;
  bool touched = false;
  std::int64_t used = 0;  // bytes that pools and cudaMalloc hold
};
device_state& device_at(int ordinal);
bool has_device(int ordinal);

struct pool_state {
  int device = 0;
  std::int64_t most = 0;      // bytes, or 0
  std::int64_t used = 0;      // by allocations
  std::int64_t leaving = 0;   // that a stream was told to free, and has not yet: another allocation may count on it
  std::int64_t reserved = 0;  // of the device
  std::uint64_t threshold = 0;
  bool destroyed = false;      // what is left goes back when it is freed
  std::vector<int> readers{};  // other devices that may use its memory
};

/// *Returns* null where there is not so much. `pool` may be null. Memory is pending until `open_memory`.
void* allocate(int device, pool_state* pool, std::int64_t bytes, bool pending);
void open_memory(void* memory);
/// *Returns* false where nothing was allocated there.
bool release(void* memory);
/// It will be released in a stream's order. *Returns* false where nothing is there, or it was said before.
bool give_up(void* memory);
/// The device that an allocation is of, or -1.
int device_of(const void* memory);
bool is_device_address(const void* p);
void trim(pool_state& pool, std::int64_t keep);

/// The bytes of a range of device memory, for work of `device` (-1: any); null and a violation where it is not all in
/// one live allocation that the device may use.
void* device_bytes(const void* p, std::size_t bytes, const char* what, int device = -1);
/// Of device memory or the host's; `pinned_only`: host memory that the device can reach.
void* any_bytes(const void* p, std::size_t bytes, const char* what, int device);

void* allocate_pinned(std::size_t bytes);
bool release_pinned(void* memory);
/// Of the caller's memory. False where a page of it is pinned already.
bool register_pinned(void* memory, std::size_t bytes);
bool unregister_pinned(void* memory);
bool is_pinned_range(const void* p, std::size_t bytes);

// ---- kernels (block.cpp, counts.cpp) ----------------------------------------------------------------------

struct kernel_launch {
  std::string name;
  int device = 0;
  dim3 grid, block;
  std::size_t shared = 0;
  std::function<void()> thread;
};
/// Runs all blocks. *Returns* what becomes of the device, and in `nanoseconds` how long it took on it.
cudaError_t run_grid(const kernel_launch& kernel, std::int64_t& nanoseconds);
/// What stands before a sentence about device code: kernel, block and thread; empty outside a kernel.
std::string where_in_kernel();
bool in_kernel();
int kernel_device();
/// Ends the kernel that runs, with a violation.
[[noreturn]] void kernel_violation(const std::string& sentence);

void note_kernel(const kernel_launch& kernel);
/// One thread's access; `site` tells the instructions of a kernel apart.
void note_access(const void* site, const void* address, std::size_t bytes, bool store, bool shared);
/// The threads of a block have all ended.
void note_block_end(std::size_t shared_bytes);

// ---- streams (streams.cpp) --------------------------------------------------------------------------------

struct piece {
  const char* what = "";
  int device = 0;
  /// Does it; *returns* what becomes of the device. Adds to `nanoseconds` how long it takes.
  std::function<cudaError_t(std::int64_t& nanoseconds)> run;
  bool on_host = false;  // a host function: runs without the lock, and not at all once the device is lost
  /// Asked when it is the next of its stream, under the lock; none: it may.
  std::function<bool()> may_begin{};
};
/// Issues a piece of work to a stream, or to the recording that the stream is part of. The lock is held.
cudaError_t issue(cudaStream_t stream, piece p);
/// For libraries over the runtime: the same for work that always succeeds. Takes the lock and gives it back; `work`
/// runs under it.
cudaError_t enqueue(cudaStream_t stream, const char* what, std::function<void()> work);
int device_of(cudaStream_t stream);
bool is_capturing(cudaStream_t stream);
/// Work that cannot be in a recording was tried: the recording will fail.
cudaError_t spoil_capture(cudaStream_t stream);
/// Runs pieces until `done`. The lock is held, and given away while host functions run.
void run_until(std::unique_lock<std::mutex>& lock, const char* what, const std::function<bool()>& done);
/// Until nothing is left in the stream, or in all streams of a device.
void finish(std::unique_lock<std::mutex>& lock, cudaStream_t stream);
void finish_device(std::unique_lock<std::mutex>& lock, int device);
/// Perhaps runs a few pieces.
void go_on_at_random(std::unique_lock<std::mutex>& lock);
void note_object(const char* kind, int change);

}  // namespace cuda_emulation
