// SPDX-License-Identifier: BSL-1.0
// Host memory of tensors, and what kernels work with: aligned to a cache line, and to huge pages where a block is large
// enough to gain from them.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/message.hpp>
#include <onto/tensor/spare_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(ONTO_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace onto::detail {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

inline constexpr std::align_val_t storage_alignment{huge_page};  // of large blocks

ONTO_BEGIN_RUNS_ONCE
[[noreturn]] ONTO_COLD inline void throw_no_storage(std::size_t bytes) {
  fail<resource_exhausted_error>(
      message("[onto.tensor] ")
      << static_cast<std::int64_t>(bytes)
      << " bytes of host memory for one tensor, or for a kernel to work with, are not available; use a "
         "smaller shape");
}
ONTO_END_RUNS_ONCE

ONTO_NOINLINE inline void* allocate_storage(std::size_t bytes) {
  if (may_be_spare(bytes))
    if (void* const spare = take_spare(bytes)) return spare;
  const bool large = bytes >= huge_page;
  void* block =
      large ? ::operator new(bytes, storage_alignment, std::nothrow) : ::operator new(bytes + cache_line, std::nothrow);
  if (!block) throw_no_storage(bytes);
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
#if defined(ONTO_ADDRESS_SANITIZER)
  __asan_poison_memory_region(aligned + bytes, cache_line - shift);
#endif
  return aligned;
}

inline void delete_storage(void* block, std::size_t bytes) noexcept {
  if (bytes >= huge_page)
    ::operator delete(block, storage_alignment);
  else
    ::operator delete(static_cast<unsigned char*>(block) - static_cast<unsigned char*>(block)[-1]);
}

ONTO_NOINLINE inline void release_storage(void* block, std::size_t bytes) noexcept {
  if (may_be_spare(bytes))
    keep_spare(block, bytes, &delete_storage);
  else
    delete_storage(block, bytes);
}

/// A pointer that is not null, said to compilers, which warn where they follow a path without elements.
template <class T>
ONTO_INLINE T* not_null(T* pointer) {
#if defined(__GNUC__)
  if (!pointer) __builtin_unreachable();
#endif
  return pointer;
}

/// Gives memory that waits for the next tensor back to the system.
ONTO_INLINE void trim_storage() noexcept { trim_spare(&delete_storage); }

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
  // Moved by hand: of std::exchange and std::swap each type of a program would have its own.
  storage(storage&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }

  storage& operator=(const storage& other) {
    if (this == &other) return *this;
    if (size_ != other.size_) *this = storage(other.size_);
    copy_from(other.data_);
    return *this;
  }
  storage& operator=(storage&& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_;
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = data;
    other.size_ = size;
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

/// Asks for memory whose values are not set: `tensor(detail::uninitialized, shape)`.
struct uninitialized_t {};
inline constexpr uninitialized_t uninitialized{};
/// Asks for no memory, as a tensor that was moved from has none: `tensor(detail::no_values)`, to be assigned to.
struct no_values_t {};
inline constexpr no_values_t no_values{};

}  // namespace onto::detail
