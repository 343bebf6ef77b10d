// SPDX-License-Identifier: BSL-1.0
// Copies between a GPU and ordinary host memory without blocking: in pieces through a ring of pinned chunks, filled or
// emptied by host functions that the driver calls in stream order.
#pragma once

#include <onto/backend/cuda/check.hpp>
#include <onto/core/mutex.hpp>
#include <onto/core/ref.hpp>
#include <onto/kernel/workspace.hpp>
#include <onto/runtime/work.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// Up to here the driver takes a copy's data along with the command: a transfer of so little from ordinary host memory
/// is asynchronous. *Source* CUDA C++ Programming Guide, "Concurrent Execution between Host and Device".
inline constexpr std::int64_t straight_bytes = std::int64_t{64} << 10;

inline void* allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  cuda_check(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
             "allocating pinned host memory");
  return memory;
}

/// Whether the GPU can copy from or to this memory itself.
inline bool is_pinned(const void* memory, std::int64_t bytes) {
  const char* ends[] = {static_cast<const char*>(memory), static_cast<const char*>(memory) + (bytes - 1)};
  for (const char* p : ends) {
    cudaPointerAttributes found{};
    const cudaError_t status = cudaPointerGetAttributes(&found, p);
    cuda_ignore(status);
    if (status != cudaSuccess || found.type != cudaMemoryTypeHost) return false;
  }
  return true;
}

/// Host memory that is pinned as long as this is there.
class pinned_host final : public counted {
 public:
  explicit pinned_host(void* memory) : memory_(memory) {}
  ~pinned_host() override { cuda_ignore(cudaHostUnregister(memory_)); }

 private:
  void* memory_;
};

/// Pins host memory for all GPUs. *Returns* null where the system does not.
inline ref<counted> pin_host(void* memory, std::int64_t bytes) {
  const cudaError_t status = cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterPortable);
  if (status == cudaSuccess) return ref<counted>(ref<pinned_host>(new pinned_host(memory)));
  cuda_ignore(status);
  return {};
}

/// Between device memory and pinned memory, or of little from any.
inline void copy_straight(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  cuda_check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream), "cudaMemcpyAsync");
}

/// Makes what is issued to `later` from now on wait for what was issued to `earlier`. The latter's GPU is current.
inline void follow(cudaStream_t later, cudaStream_t earlier) {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  cudaError_t status = cudaEventRecord(event, earlier);
  if (status == cudaSuccess) status = cudaStreamWaitEvent(later, event, 0);
  cuda_ignore(cudaEventDestroy(event));
  cuda_check(status, "ordering two streams");
}

/// Small pieces of pinned memory that all live as long as the arena.
class pinned_arena {
 public:
  pinned_arena() = default;
  pinned_arena(const pinned_arena&) = delete;
  pinned_arena& operator=(const pinned_arena&) = delete;
  ~pinned_arena() { close(); }

  void* take(std::int64_t bytes) {
    const auto size = static_cast<std::int64_t>(aligned_bytes(bytes));
    if (!blocks_ || size > left_) {
      const std::int64_t whole = size > block_bytes ? size : block_bytes;
      auto* b = new block;
      try {
        b->data = static_cast<char*>(allocate_pinned(whole));
      } catch (...) {
        delete b;
        throw;
      }
      b->next = blocks_;
      blocks_ = b;
      at_ = b->data;
      left_ = whole;
    }
    void* memory = at_;
    at_ += size;
    left_ -= size;
    return memory;
  }
  void close() noexcept {
    while (blocks_) {
      block* next = blocks_->next;
      cuda_ignore(cudaFreeHost(blocks_->data));
      delete blocks_;
      blocks_ = next;
    }
  }

 private:
  static constexpr std::int64_t block_bytes = std::int64_t{64} << 10;
  struct block {
    block* next = nullptr;
    char* data = nullptr;
  };

  block* blocks_ = nullptr;
  char* at_ = nullptr;
  std::int64_t left_ = 0;
};

/// The way of one direction: chunks that a producing stream fills and a consuming one empties.
///
/// Chunks are as large as the largest piece that went through them; one that is too small is replaced, and goes with
/// the ring, since what was issued may still use it.
///
/// In one stream a host function and the transfer after it would take turns. Here they are in two: while a chunk is
/// under way, the host works on the next. A chunk is filled again once the consumer is past its last use. The driver
/// may call all host functions from one thread: copies of both directions and all GPUs then share what one processor
/// core copies.
///
/// Host memory is looked up in its slot by the host function, so that a copy that a graph kept serves other data in
/// every replay. *Preconditions* calls do not overlap; the GPU is current.
class staging_ring {
 public:
  /// `kept`: what is issued goes into a graph and is done again and again.
  staging_ring(bool to_host, bool kept) : to_host_(to_host), kept_(kept) {}
  staging_ring(const staging_ring&) = delete;
  staging_ring& operator=(const staging_ring&) = delete;
  ~staging_ring() {
    close();
    while (jobs_) {
      job* next = jobs_->beside;
      delete jobs_;
      jobs_ = next;
    }
  }

  /// Copies between the slot's memory and the device's.
  void pass(cudaStream_t producer, cudaStream_t consumer, const host_slot& slot, void* memory, std::int64_t bytes) {
    // Some eight pieces, so that both ends of a copy of middling size are at work at the same time.
    const std::int64_t eighth = (bytes / 8 + straight_bytes - 1) / straight_bytes * straight_bytes;
    const std::int64_t piece = eighth < least_piece ? least_piece : eighth < chunk_bytes ? eighth : chunk_bytes;
    const std::int64_t largest = bytes < piece ? bytes : piece;
    job* j = new_job(slot, bytes, piece);
    for (int k = 0; k < chunk_count && k * piece < bytes; ++k) {
      const int turn = (next_ + k) % chunk_count;
      j->data[turn] = open(turn, largest).data;
    }
    char* at = static_cast<char*>(memory);
    for (std::int64_t done = 0; done < bytes; done += piece, at += piece) {
      const std::int64_t size = bytes - done < piece ? bytes - done : piece;
      chunk& c = chunks_[next_];
      if (c.used) cuda_check(cudaStreamWaitEvent(producer, c.emptied, 0), "cudaStreamWaitEvent");
      if (to_host_)
        copy_straight(c.data, at, size, cudaMemcpyDeviceToHost, producer);
      else
        cuda_check(cudaLaunchHostFunc(producer, step, j), "cudaLaunchHostFunc");
      cuda_check(cudaEventRecord(c.filled, producer), "cudaEventRecord");
      cuda_check(cudaStreamWaitEvent(consumer, c.filled, 0), "cudaStreamWaitEvent");
      if (to_host_)
        cuda_check(cudaLaunchHostFunc(consumer, step, j), "cudaLaunchHostFunc");
      else
        copy_straight(at, c.data, size, cudaMemcpyHostToDevice, consumer);
      cuda_check(cudaEventRecord(c.emptied, consumer), "cudaEventRecord");
      c.used = true;
      next_ = (next_ + 1) % chunk_count;
    }
  }

  /// Gives the chunks back. Nothing that was issued is still to be done.
  void close() noexcept {
    for (chunk& c : chunks_) {
      if (c.filled) cuda_ignore(cudaEventDestroy(c.filled));
      if (c.emptied) cuda_ignore(cudaEventDestroy(c.emptied));
      c = {};
    }
    memory_.close();
  }

 private:
  static constexpr int chunk_count = 4;
  static constexpr std::int64_t chunk_bytes = std::int64_t{4} << 20;  // a power of two
  static constexpr std::int64_t least_piece = std::int64_t{256} << 10;

  struct chunk {
    void* data = nullptr;
    std::int64_t bytes = 0;
    cudaEvent_t filled = nullptr, emptied = nullptr;
    bool used = false;
  };

  /// A copy as its host functions see it: each call does the next piece. Owned by the ring for as long as that lives,
  /// since the driver calls none of them once the device is lost; used again when the last piece is done.
  struct job {
    staging_ring* ring;
    job* beside;  // of all there are
    job* next;    // of those that are free
    const host_slot* slot;
    std::int64_t bytes, piece, at;
    int first, turn;
    void* data[chunk_count];  // of the chunks as they were when it was issued
  };

  static void CUDART_CB step(void* data) {
    job* j = static_cast<job*>(data);
    staging_ring& ring = *j->ring;
    const std::int64_t left = j->bytes - j->at;
    const auto size = static_cast<std::size_t>(left < j->piece ? left : j->piece);
    void* pinned = j->data[j->turn];
    char* memory = static_cast<char*>(j->slot->data) + j->at;
    std::memcpy(ring.to_host_ ? memory : pinned, ring.to_host_ ? pinned : memory, size);
    j->at += static_cast<std::int64_t>(size);
    j->turn = (j->turn + 1) % chunk_count;
    if (j->at < j->bytes) return;
    j->at = 0;
    j->turn = j->first;
    if (ring.kept_) return;
    mutex_lock lock(ring.jobs_mutex_);
    j->next = ring.free_;
    ring.free_ = j;
  }

  job* new_job(const host_slot& slot, std::int64_t bytes, std::int64_t piece) {
    job* j = nullptr;
    {
      mutex_lock lock(jobs_mutex_);
      j = free_;
      if (j) free_ = j->next;
    }
    if (!j) {
      j = new job;
      j->beside = jobs_;
      jobs_ = j;
    }
    *j = {this, j->beside, nullptr, &slot, bytes, piece, 0, next_, next_, {}};
    return j;
  }

  chunk& open(int k, std::int64_t bytes) {
    chunk& c = chunks_[k];
    if (!c.filled) cuda_check(cudaEventCreateWithFlags(&c.filled, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    if (!c.emptied)
      cuda_check(cudaEventCreateWithFlags(&c.emptied, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    if (c.bytes < bytes) {
      // Of few sizes: replaced ones take less than what is in use.
      std::int64_t size = straight_bytes;
      while (size < bytes) size *= 2;
      c.data = memory_.take(size);
      c.bytes = size;
    }
    return c;
  }

  bool to_host_, kept_;
  int next_ = 0;
  chunk chunks_[chunk_count];
  pinned_arena memory_;
  mutex jobs_mutex_;  // between the issuing threads and the driver's
  job* free_ = nullptr;
  job* jobs_ = nullptr;
};

}  // namespace onto::detail
