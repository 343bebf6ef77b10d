// SPDX-License-Identifier: BSL-1.0
// Arrays that live and die together: one owner for everything a plan or a run needs, and next to nothing to compile.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

ONTO_BEGIN_RUNS_ONCE
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
  T* make(int count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    T* first = static_cast<T*>(take(static_cast<std::size_t>(count > 0 ? count : 1) * sizeof(T)));
    for (int k = 0; k < count; ++k) ::new (static_cast<void*>(first + k)) T();
    return first;
  }

  template <class T>
  T* copy(const T* from, int count) {
    static_assert(std::is_trivially_copyable_v<T>);
    void* to = take(static_cast<std::size_t>(count > 0 ? count : 1) * sizeof(T));
    if (count > 0) std::memcpy(to, static_cast<const void*>(from), static_cast<std::size_t>(count) * sizeof(T));
    return static_cast<T*>(to);
  }

 private:
  struct piece {
    piece* next;
    std::size_t size;
  };

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
ONTO_END_RUNS_ONCE
