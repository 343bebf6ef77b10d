// SPDX-License-Identifier: BSL-1.0
// A shared owner for objects that count their references. std::shared_ptr adds a fifth to the time that a program takes
// to compile with -O2: docs/adr/0029-own-ref-and-mutex.md.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/core/config.hpp>

namespace onto::detail {

/// The base of objects that are shared by `ref`.
class counted {
 public:
  counted() = default;
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  virtual ~counted() = default;

  ONTO_INLINE void retain() const { references_.fetch_add(1, memory_order_relaxed); }
  ONTO_NOINLINE void drop() const {
    if (references_.fetch_sub(1, memory_order_acq_rel) == 1) delete this;
  }
  /// Whether there is no other reference. Means something only where nobody can make one meanwhile.
  ONTO_INLINE bool is_unique() const { return references_.load(memory_order_acquire) == 1; }

 private:
  mutable atomic<int> references_{1};
};

/// A shared owner, or nothing.
template <class T>
class ref {
 public:
  ONTO_INLINE constexpr ref() noexcept {}
  /// Takes over the reference that `new` made.
  ONTO_INLINE explicit ref(T* adopted) : p_(adopted) {}
  ONTO_INLINE ref(const ref& o) : p_(o.p_) {
    if (p_) p_->retain();
  }
  ONTO_INLINE ref(ref&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  template <class U>
  ONTO_INLINE ref(ref<U>&& o) noexcept : p_(o.release()) {}
  ONTO_INLINE ref& operator=(ref o) noexcept {
    T* mine = p_;
    p_ = o.p_;
    o.p_ = mine;
    return *this;
  }
  ONTO_INLINE ~ref() {
    if (p_) p_->drop();
  }

  ONTO_INLINE T* get() const { return p_; }
  ONTO_INLINE T* operator->() const { return p_; }
  ONTO_INLINE T& operator*() const { return *p_; }
  ONTO_INLINE explicit operator bool() const { return p_ != nullptr; }
  /// Gives the reference up without releasing it.
  ONTO_INLINE T* release() {
    T* p = p_;
    p_ = nullptr;
    return p;
  }

 private:
  T* p_ = nullptr;
};

}  // namespace onto::detail
