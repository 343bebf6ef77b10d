// SPDX-License-Identifier: BSL-1.0
// A device's memory: a pool of the driver's with a hard limit, and the stream in which it is taken and given back.
#pragma once

#include <onto/backend/cuda/current.hpp>
#include <onto/backend/cuda/facts.hpp>
#include <onto/core/mutex.hpp>
#include <onto/runtime/memory.hpp>
#include <onto/runtime/work.hpp>

#include <cstdint>
#include <cstring>
#include <limits>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The memory of one device object. Two on one GPU have a pool each, so that each keeps to its own limit.
/// *Preconditions* of everything but `reserved` and `limit`: the GPU is current.
class cuda_pool {
 public:
  cuda_pool(place where, const cuda_gpu& gpu, memory_limit limit, const cuda_facts& facts)
      : where_(where), gpu_(gpu), limit_(limit), memory_(facts.memory), has_pools_(facts.has_pools) {}
  cuda_pool(const cuda_pool&) = delete;
  cuda_pool& operator=(const cuda_pool&) = delete;
  ~cuda_pool() { close(); }

  /// Sets up what was not. Where memory is not to grow, takes all of it.
  ONTO_COLD ONTO_NOINLINE void open() {
    mutex_lock lock(mutex_);
    if (open_) return;
    if (!stream_) cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    if (has_pools_ && !pool_) make_pool();
    if (pool_ && !limit_.growth && limit_.bytes > 0) take_all();
    open_ = true;
  }

  /// Gives all of it back. Nothing uses it any more.
  void close() noexcept {
    if (stream_) cuda_ignore(cudaStreamSynchronize(stream_));
    if (pool_) cuda_ignore(cudaMemPoolDestroy(pool_));
    if (stream_) cuda_ignore(cudaStreamDestroy(stream_));
    pool_ = nullptr;
    stream_ = nullptr;
    open_ = false;
  }

  /// *Returns* memory that every stream may use; null where there is not so much.
  void* take(std::int64_t bytes) {
    mutex_lock lock(mutex_);
    const std::int64_t size = bytes > 0 ? bytes : 1;
    void* memory = nullptr;
    // The driver's own limit is rounded up, to 32 MiB on an H100.
    if (limit_.bytes > 0 && taken_ + size > limit_.bytes) return nullptr;
    cudaError_t status = allocate(&memory, size);
    if (status == cudaErrorMemoryAllocation) {
      // Pieces that are kept but too small each may be enough once they went back to the system.
      cuda_ignore(status);
      give_back();
      status = allocate(&memory, size);
    }
    if (status == cudaErrorMemoryAllocation) {
      cuda_ignore(status);
      return nullptr;
    }
    cuda_check(status, "allocating GPU memory");
    taken_ += size;
    return memory;
  }

  /// Takes back what nothing uses any more: whoever gets it next need not wait for a stream.
  void give(void* memory, std::int64_t bytes) noexcept {
    mutex_lock lock(mutex_);
    cuda_ignore(pool_ ? cudaFreeAsync(memory, stream_) : cudaFree(memory));
    taken_ -= bytes > 0 ? bytes : 1;
  }

  /// Gives what is kept for later back to the system.
  void trim() {
    mutex_lock lock(mutex_);
    if (open_) give_back();
  }

  /// Bytes that the pool holds, in use or not; 0 before it is first used.
  std::int64_t reserved() const {
    mutex_lock lock(mutex_);
    if (!pool_) return taken_;
    std::uint64_t bytes = 0;
    quietly_on(gpu_, [&] { cuda_ignore(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &bytes)); });
    return static_cast<std::int64_t>(bytes);
  }
  std::int64_t limit() const { return limit_.bytes; }
  /// Bytes that may still be taken, as far as the limit goes.
  std::int64_t left() const {
    mutex_lock lock(mutex_);
    return limit_.bytes > 0 ? limit_.bytes - taken_ : std::numeric_limits<std::int64_t>::max();
  }

  /// Lets another GPU write to this memory directly, where the two can reach each other.
  void admit(int ordinal) {
    mutex_lock lock(mutex_);
    const std::uint64_t bit = std::uint64_t{1} << (ordinal & 63);
    if (!pool_ || (admitted_ & bit)) return;
    int can = 0;
    cuda_check(cudaDeviceCanAccessPeer(&can, ordinal, gpu_.ordinal()), "cudaDeviceCanAccessPeer");
    if (can) {
      cudaMemAccessDesc access{};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = ordinal;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      cuda_check(cudaMemPoolSetAccess(pool_, &access, 1), "cudaMemPoolSetAccess");
    }
    admitted_ |= bit;
  }

  /// A stream that is idle whenever `take` and `give` are not at work.
  cudaStream_t idle_stream() const { return stream_; }

 private:
  void make_pool() {
    cudaMemPoolProps properties;
    std::memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = gpu_.ordinal();
    // The driver's own check, beside that of `take`: for what pieces of it hold. 0: none but the memory there is.
    properties.maxSize = limit_.bytes < memory_ ? static_cast<std::size_t>(limit_.bytes) : 0;
    cudaMemPool_t made = nullptr;
    cuda_check(cudaMemPoolCreate(&made, &properties), "cudaMemPoolCreate");
    // What was freed stays with the session: giving it back and taking it again costs milliseconds.
    std::uint64_t keep = ~std::uint64_t{0};
    const cudaError_t status = cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &keep);
    if (status != cudaSuccess) {
      cuda_ignore(cudaMemPoolDestroy(made));
      throw_cuda(status, "cudaMemPoolSetAttribute");
    }
    pool_ = made;
  }

  /// Has the pool hold as much as it may, at once. It does so in units that the documentation leaves open, 2 or 32 MiB:
  /// a limit that is no multiple is taken up to the last whole one.
  void take_all() {
    constexpr std::int64_t units[] = {1, std::int64_t{2} << 20, std::int64_t{32} << 20};
    for (const std::int64_t unit : units) {
      const std::int64_t bytes = limit_.bytes / unit * unit;
      if (bytes == 0) continue;
      void* all = nullptr;
      const cudaError_t status = allocate(&all, bytes);
      if (status == cudaSuccess) {
        cuda_check(cudaFreeAsync(all, stream_), "cudaFreeAsync");
        cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        return;
      }
      if (status != cudaErrorMemoryAllocation) throw_cuda(status, "allocating GPU memory");
      cuda_ignore(status);
    }
    message m("[onto.memory] ");
    write_bytes(write_short(m, where_) << " has not the ", limit_.bytes);
    fail<resource_exhausted_error>(m << " that this session is to hold from the start; lower "
                                        "session_options::gpu.memory_limit, or set gpu.allow_growth");
  }

  /// Memory that is taken in a stream's order belongs to other streams only once that stream is past the allocation.
  /// Nothing else is ever issued to this one, so that waiting for it is waiting for the allocation alone.
  cudaError_t allocate(void** memory, std::int64_t bytes) {
    if (!pool_) return cudaMalloc(memory, static_cast<std::size_t>(bytes));
    cudaError_t status = cudaMallocFromPoolAsync(memory, static_cast<std::size_t>(bytes), pool_, stream_);
    if (status != cudaSuccess) return status;
    status = cudaStreamSynchronize(stream_);
    if (status != cudaSuccess) cuda_ignore(cudaFreeAsync(*memory, stream_));
    return status;
  }

  void give_back() {
    if (!pool_) return;
    cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");  // what was given is free after it
    cuda_check(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
  }

  mutable mutex mutex_;
  place where_;
  const cuda_gpu& gpu_;
  memory_limit limit_;
  std::int64_t memory_;  // of the GPU
  bool has_pools_;
  bool open_ = false;
  std::uint64_t admitted_ = 0;  // a bit for each GPU
  std::int64_t taken_ = 0;
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
