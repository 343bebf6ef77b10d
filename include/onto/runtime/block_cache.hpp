// SPDX-License-Identifier: BSL-1.0
// Host memory that is used again: a fresh large block costs several times what a warm one does (page faults).
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/mutex.hpp>

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Blocks of host memory, kept for the next request that they fit. Several threads may ask at once.
class block_cache {
 public:
  block_cache() = default;
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;
  ~block_cache() { trim(); }

  /// *Returns* null where the system has no such block.
  ONTO_NOINLINE void* take(std::int64_t bytes) {
    {
      mutex_lock lock(mutex_);
      header** best = nullptr;
      for (header** b = &free_; *b; b = &(*b)->next)
        if ((*b)->bytes >= bytes && (*b)->bytes <= 2 * bytes + least && (!best || (*b)->bytes < (*best)->bytes))
          best = b;
      if (best) {
        header* h = *best;
        *best = h->next;
        cached_ -= h->bytes;
        return reinterpret_cast<char*>(h) + gap;
      }
    }
    const std::int64_t align = bytes >= huge ? huge : gap;
    const std::int64_t size = (bytes + gap + align - 1) / align * align;
    auto* h = static_cast<header*>(
        size < bytes ? nullptr : std::aligned_alloc(static_cast<std::size_t>(align), static_cast<std::size_t>(size)));
    if (!h) return nullptr;
#if defined(__linux__)
    if (size >= huge) (void)madvise(h, static_cast<std::size_t>(size), MADV_HUGEPAGE);
#endif
    h->bytes = size - gap;
    mutex_lock lock(mutex_);
    reserved_ += h->bytes;
    return reinterpret_cast<char*>(h) + gap;
  }

  ONTO_NOINLINE void give(void* memory) noexcept {
    if (!memory) return;
    auto* h = reinterpret_cast<header*>(static_cast<char*>(memory) - gap);
    mutex_lock lock(mutex_);
    if (cached_ + h->bytes > kept && free_) {
      reserved_ -= h->bytes;
      std::free(h);
    } else {
      cached_ += h->bytes;
      h->next = free_;
      free_ = h;
    }
  }

  /// Gives what waits for the next request back to the system.
  ONTO_NOINLINE void trim() noexcept {
    mutex_lock lock(mutex_);
    while (free_) {
      header* next = free_->next;
      reserved_ -= free_->bytes;
      std::free(free_);
      free_ = next;
    }
    cached_ = 0;
  }

  /// Bytes taken from the system, in use or not.
  std::int64_t reserved() const {
    mutex_lock lock(mutex_);
    return reserved_;
  }

 private:
  // In front of each block, a cache line of its own.
  struct header {
    header* next;
    std::int64_t bytes;
  };
  static constexpr std::int64_t gap = 64;
  static constexpr std::int64_t least = 4096;
  static constexpr std::int64_t kept = std::int64_t{1} << 30;  // bytes that wait for the next run
  static constexpr std::int64_t huge = std::int64_t{2} << 20;

  mutable mutex mutex_;
  header* free_ = nullptr;
  std::int64_t cached_ = 0;
  std::int64_t reserved_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
