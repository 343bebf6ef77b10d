// SPDX-License-Identifier: BSL-1.0
// An atomic number, bool or pointer, with the names and the meaning of std::atomic. <atomic> reads mutexes, error codes
// and what streams have in common, 0.05 s of every program: docs/adr/0029-own-ref-and-mutex.md.
#pragma once

#include <onto/core/config.hpp>

namespace onto::detail {

enum memory_order : int {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST,
};

template <class T>
class atomic {
 public:
  ONTO_INLINE constexpr atomic() = default;
  ONTO_INLINE constexpr explicit atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  ONTO_INLINE T load(memory_order order = memory_order_seq_cst) const { return __atomic_load_n(&value_, order); }
  ONTO_INLINE void store(T value, memory_order order = memory_order_seq_cst) {
    __atomic_store_n(&value_, value, order);
  }
  ONTO_INLINE operator T() const { return load(); }
  ONTO_INLINE T operator=(T value) {
    store(value);
    return value;
  }
  ONTO_INLINE T exchange(T value, memory_order order = memory_order_seq_cst) {
    return __atomic_exchange_n(&value_, value, order);
  }
  ONTO_INLINE T fetch_add(T value, memory_order order = memory_order_seq_cst) {
    return __atomic_fetch_add(&value_, value, order);
  }
  ONTO_INLINE T fetch_sub(T value, memory_order order = memory_order_seq_cst) {
    return __atomic_fetch_sub(&value_, value, order);
  }
  /// It may fail for no reason. `expected` takes what was there.
  ONTO_INLINE bool compare_exchange_weak(T& expected, T value, memory_order success = memory_order_seq_cst,
                                         memory_order failure = memory_order_seq_cst) {
    return __atomic_compare_exchange_n(&value_, &expected, value, true, success, failure);
  }

 private:
  T value_{};
};

}  // namespace onto::detail
