// SPDX-License-Identifier: BSL-1.0
// Host memory of tensors: aligned to a cache line, and to huge pages where a block is large enough to gain from them.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/message.hpp>

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace onto::detail {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

inline constexpr std::align_val_t storage_alignment{huge_page};  // of large blocks

/// Large blocks that were given back, for the next tensor of the same size. A fresh block of 40 MB costs 4.6 ms of page
/// faults, more than a triad over it (3.5 ms): what is computed again and again must not take fresh ones. Constant
/// initialization and no destructor: tensors with static storage duration come before it and go after it.
struct spare_blocks {
  static constexpr int most = 4;
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;  // of all of them, as block_cache keeps

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  void* block[most] = {};
  std::size_t bytes[most] = {};
  std::size_t total = 0;
  int next = 0;  // the oldest, or none

  /// Takes out a block, which may be none.
  void* take(int k) {
    void* const taken = std::exchange(block[k], nullptr);
    total -= std::exchange(bytes[k], 0);
    return taken;
  }
};
inline constinit spare_blocks spare_storage;

ONTO_BEGIN_RUNS_ONCE
/// A spare block of so many bytes, or null.
ONTO_COLD inline void* take_spare(std::size_t wanted) noexcept {
  spare_blocks& s = spare_storage;
  void* found = nullptr;
  pthread_mutex_lock(&s.mutex);
  for (int k = 0; k < spare_blocks::most && !found; ++k)
    if (s.block[k] && s.bytes[k] == wanted) {
      found = s.take(k);
      s.next = k;
    }
  pthread_mutex_unlock(&s.mutex);
  return found;
}

/// Keeps a block, in place of the oldest ones.
ONTO_COLD inline void keep_spare(void* given, std::size_t bytes) noexcept {
  spare_blocks& s = spare_storage;
  void* old[spare_blocks::most] = {};
  pthread_mutex_lock(&s.mutex);
  const int slot = s.next;
  for (int k = 0; k < spare_blocks::most && (k == 0 || s.total + bytes > spare_blocks::most_bytes); ++k)
    old[k] = s.take((slot + k) % spare_blocks::most);
  s.block[slot] = given;
  s.bytes[slot] = bytes;
  s.total += bytes;
  s.next = (slot + 1) % spare_blocks::most;
  pthread_mutex_unlock(&s.mutex);
  for (void* block : old) ::operator delete(block, storage_alignment);
}

constexpr bool may_be_spare(std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  return static_cast<void>(bytes), false;  // a use after the end is to be seen
#else
  return bytes >= huge_page && bytes <= spare_blocks::most_bytes;
#endif
}

ONTO_COLD inline void* allocate_storage(std::size_t bytes) {
  if (may_be_spare(bytes))
    if (void* const spare = take_spare(bytes)) return spare;
  const bool large = bytes >= huge_page;
  void* block =
      large ? ::operator new(bytes, storage_alignment, std::nothrow) : ::operator new(bytes + cache_line, std::nothrow);
  if (!block)
    fail<resource_exhausted_error>(message("[onto.tensor] ")
                                   << static_cast<std::int64_t>(bytes)
                                   << " bytes of host memory for one tensor are not available; use a smaller shape");
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // The first pass over a fresh block is 4.5 times faster with huge pages. It is advice: a kernel that has none says
  // no.
  if (large) ::madvise(block, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  if (large) return block;
  // Aligned within plain memory, with how far before: glibc gives back what lies around a block that it aligns, which
  // made a run of a few elements 0.2 us longer.
  const std::size_t shift = cache_line - reinterpret_cast<std::uintptr_t>(block) % cache_line;
  auto* const aligned = static_cast<unsigned char*>(block) + shift;
  aligned[-1] = static_cast<unsigned char>(shift);
  return aligned;
}
ONTO_END_RUNS_ONCE

inline void release_storage(void* block, std::size_t bytes) noexcept {
  if (may_be_spare(bytes)) {
    keep_spare(block, bytes);
    return;
  }
  if (bytes >= huge_page)
    ::operator delete(block, storage_alignment);
  else
    ::operator delete(static_cast<unsigned char*>(block) - static_cast<unsigned char*>(block)[-1]);
}

/// Owned memory for `size` values of `T`. Copies are deep; a storage that was moved from is empty. Values that own
/// something, texts, are what no bits are until they are set.
template <class T>
class storage {
  static constexpr bool are_bits = std::is_trivially_copyable_v<T>;

 public:
  storage() = default;

  /// Memory whose values are not set.
  explicit storage(std::size_t size)
      : data_(size ? static_cast<T*>(allocate_storage(size * sizeof(T))) : nullptr), size_(size) {
    if constexpr (!are_bits)
      if (size_) std::memset(static_cast<void*>(data_), 0, size_ * sizeof(T));
  }

  storage(const storage& other) : storage(other.size_) { copy_from(other.data_); }
  storage(storage&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  storage& operator=(const storage& other) {
    if (this == &other) return *this;
    if (size_ != other.size_) *this = storage(other.size_);
    copy_from(other.data_);
    return *this;
  }
  storage& operator=(storage&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~storage() {
    if constexpr (!are_bits)
      for (std::size_t k = 0; k < size_; ++k) data_[k].~T();
    if (data_) release_storage(data_, size_ * sizeof(T));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void copy_from(const T* values) {
    if constexpr (are_bits) {
      if (size_) std::memcpy(data_, values, size_ * sizeof(T));
    } else {
      for (std::size_t k = 0; k < size_; ++k) data_[k] = values[k];
    }
  }
  void set_zero() {
    if constexpr (are_bits) {
      if (size_) std::memset(data_, 0, size_ * sizeof(T));
    } else {
      for (std::size_t k = 0; k < size_; ++k) data_[k] = T();
    }
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace onto::detail
