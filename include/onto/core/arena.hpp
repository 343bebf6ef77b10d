// SPDX-License-Identifier: BSL-1.0
// Arrays that live and die together: one owner for everything a plan or a run needs, and next to nothing to compile.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace onto::detail {

/// Hands out zeroed memory that is freed as a whole.
class arena {
 public:
  arena() = default;
  /// Begins with memory of the caller's, aligned to 16 bytes, which lives longer.
  arena(void* first, std::size_t size) : at_(static_cast<char*>(first)), left_(size) {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { free_all(); }

  /// An array of `count` value-initialized objects. *Throws* `std::bad_alloc`.
  template <class T>
  ONTO_INLINE T* make(int count) {
    // The compilers' own: the standard's two traits are twenty classes for each T.
    static_assert(__is_trivially_copyable(T));
    static constexpr T one{};
    return static_cast<T*>(repeat(&one, sizeof(T), count));
  }

  template <class T>
  ONTO_INLINE T* copy(const T* from, int count) {
    static_assert(__is_trivially_copyable(T));
    return static_cast<T*>(copy_bytes(from, sizeof(T), count));
  }

 private:
  struct piece {
    piece* next;
    std::size_t size;
  };

  // Not by T: twenty functions less in every program.
  ONTO_NOINLINE void* repeat(const void* one, std::size_t size, int count) {
    const std::size_t bytes = size * static_cast<std::size_t>(count > 0 ? count : 1);
    char* const first = static_cast<char*>(take(bytes));
    std::memcpy(first, one, size);
    for (std::size_t done = size; done < bytes;) {
      const std::size_t some = done < bytes - done ? done : bytes - done;
      std::memcpy(first + done, first, some);
      done += some;
    }
    return first;
  }
  ONTO_NOINLINE void* copy_bytes(const void* from, std::size_t size, int count) {
    void* to = take(size * static_cast<std::size_t>(count > 0 ? count : 1));
    if (count > 0) std::memcpy(to, from, size * static_cast<std::size_t>(count));
    return to;
  }

  ONTO_NOINLINE void* take(std::size_t bytes) {
    bytes = (bytes + 15) & ~std::size_t{15};
    if (bytes > left_) {
      const std::size_t size = bytes > 4096 - sizeof(piece) ? bytes : 4096 - sizeof(piece);
      auto* p = static_cast<piece*>(std::malloc(sizeof(piece) + size));
      if (!p) throw std::bad_alloc();
      p->next = pieces_;
      pieces_ = p;
      at_ = reinterpret_cast<char*>(p + 1);
      left_ = size;
    }
    void* r = at_;
    at_ += bytes;
    left_ -= bytes;
    return r;
  }

  ONTO_NOINLINE void free_all() {
    while (pieces_) {
      piece* next = pieces_->next;
      std::free(pieces_);
      pieces_ = next;
    }
  }

  piece* pieces_ = nullptr;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace onto::detail
