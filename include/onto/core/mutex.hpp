// SPDX-License-Identifier: BSL-1.0
// A mutex and its lock over pthread. std::mutex and std::condition_variable add up to 5 % to the time that a program
// takes to compile: docs/adr/0029-own-ref-and-mutex.md.
#pragma once

#include <onto/core/config.hpp>

#include <pthread.h>

namespace onto::detail {

class mutex {
 public:
  ONTO_INLINE mutex() { pthread_mutex_init(&m_, nullptr); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { pthread_mutex_destroy(&m_); }

  ONTO_INLINE void lock() { pthread_mutex_lock(&m_); }
  ONTO_INLINE void unlock() { pthread_mutex_unlock(&m_); }
  ONTO_INLINE pthread_mutex_t* native() { return &m_; }

 private:
  pthread_mutex_t m_;
};

/// Holds a mutex while it lives; with `wanted` false, or none, it holds nothing.
class mutex_lock {
 public:
  ONTO_INLINE explicit mutex_lock(mutex& m, bool wanted = true) : m_(wanted ? &m : nullptr) {
    if (m_) m_->lock();
  }
  ONTO_INLINE explicit mutex_lock(mutex* m) : m_(m) {
    if (m_) m_->lock();
  }
  mutex_lock(const mutex_lock&) = delete;
  mutex_lock& operator=(const mutex_lock&) = delete;
  ONTO_INLINE ~mutex_lock() {
    if (m_) m_->unlock();
  }

 private:
  mutex* m_;
};

}  // namespace onto::detail
