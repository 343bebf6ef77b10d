// SPDX-License-Identifier: BSL-1.0
// Host memory that is used again: a fresh large block costs several times what a warm one does (page faults).
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace onto::detail {

/// Blocks of host memory, kept for the next request that they fit. Several threads may ask at once.
class block_cache {
 public:
  block_cache() = default;
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;
  ~block_cache() {
    for (const block& b : free_) std::free(b.memory);
  }

  /// *Throws* `resource_exhausted_error` where the system has no such block.
  void* allocate(std::int64_t bytes) {
    const std::int64_t wanted = bytes < least ? least : bytes;
    {
      std::lock_guard lock(mutex_);
      std::size_t best = free_.size();
      for (std::size_t k = 0; k < free_.size(); ++k)
        if (free_[k].bytes >= wanted && free_[k].bytes <= 2 * wanted && (best == free_.size() || free_[k].bytes < free_[best].bytes))
          best = k;
      if (best != free_.size()) {
        const block b = free_[best];
        free_[best] = free_.back();
        free_.pop_back();
        cached_ -= b.bytes;
        used_.push_back(b);
        return b.memory;
      }
    }
    return fresh(wanted);
  }

  void deallocate(void* memory) noexcept {
    if (!memory) return;
    std::lock_guard lock(mutex_);
    for (std::size_t k = 0; k < used_.size(); ++k) {
      if (used_[k].memory != memory) continue;
      const block b = used_[k];
      used_[k] = used_.back();
      used_.pop_back();
      if (cached_ + b.bytes <= kept || free_.empty()) {
        cached_ += b.bytes;
        free_.push_back(b);  // cannot throw: `free_` was given room when the block was made
      } else {
        std::free(b.memory);
      }
      return;
    }
  }

 private:
  struct block {
    void* memory;
    std::int64_t bytes;
  };
  static constexpr std::int64_t least = 4096;
  static constexpr std::int64_t kept = std::int64_t{1} << 30;  // bytes that wait for the next run
  static constexpr std::int64_t huge = std::int64_t{2} << 20;

  ONTO_COLD void* fresh(std::int64_t wanted) {
    const std::int64_t align = wanted >= huge ? huge : 64;
    const std::int64_t size = (wanted + align - 1) / align * align;
    void* memory = size < wanted ? nullptr : std::aligned_alloc(static_cast<std::size_t>(align), static_cast<std::size_t>(size));
    if (!memory) throw resource_exhausted_error("[onto.memory] no host memory for " + std::to_string(wanted) + " bytes");
#if defined(__linux__)
    if (size >= huge) (void)madvise(memory, static_cast<std::size_t>(size), MADV_HUGEPAGE);
#endif
    std::lock_guard lock(mutex_);
    try {
      free_.reserve(free_.size() + used_.size() + 1);
      used_.push_back({memory, size});
    } catch (...) {
      std::free(memory);
      throw;
    }
    return memory;
  }

  std::mutex mutex_;
  std::vector<block> free_;
  std::vector<block> used_;
  std::int64_t cached_ = 0;
};

}  // namespace onto::detail
