// SPDX-License-Identifier: BSL-1.0
// The threads that CPU kernels share: a range of work is cut into pieces, and the caller works on them too.
#pragma once

#include <onto/core/config.hpp>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace onto::detail {

/// The processors this process may run on, at least 1.
ONTO_BEGIN_RUNS_ONCE
inline int processor_count() {
#if defined(__linux__) && defined(CPU_COUNT)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}
ONTO_END_RUNS_ONCE

/// Tells the processor that this is a loop that waits.
ONTO_INLINE void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A fixed number of threads, of which the caller is one; the others start at the first call that needs them. One call
/// has the threads at a time: a call from inside a piece of work, or while another thread's call runs, does its work
/// alone.
class thread_pool {
 public:
  using range_body = void (*)(void* context, std::int64_t lo, std::int64_t hi);

  /// A pool of `threads` threads with the caller; 0 is one for each processor.
  explicit thread_pool(int threads = 0);
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  ~thread_pool();

  /// The number of threads that work on a range, the caller's included.
  int size() const { return size_; }

  /// Calls `body(context, lo, hi)` for pieces that together are `[0, count)`. No piece has fewer than `grain` elements
  /// unless it is the only one or the last, and less than two pieces run without touching another thread. *Throws* what
  /// a body throws: the first of them, once no body runs any more.
  void for_each_range(std::int64_t count, std::int64_t grain, range_body body, void* context) {
    if (count <= 0) return;
    const std::int64_t least = grain > 0 ? grain : 1;
    // More pieces than threads: a thread that is late, or has lost its processor, then costs a part of a share.
    std::int64_t pieces = count / least;
    if (pieces > 4 * std::int64_t{size_}) pieces = 4 * std::int64_t{size_};
    if (pieces <= 1 || size_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
      body(context, 0, count);
      return;
    }
    std::int64_t step = (count + pieces - 1) / pieces;
    if (least >= 64) step = (step + 63) / 64 * 64;  // no two threads write to one cache line
    run({body, context, count, step, (count + step - 1) / step});
  }

 private:
  struct job {
    range_body body;
    void* context;
    std::int64_t count;
    std::int64_t step;
    std::int64_t pieces;
  };

  ONTO_NOINLINE void run(const job& j) {
    if (!started_) start();
    job_ = j;
    done_.store(0, std::memory_order_relaxed);
    remaining_.store(j.pieces);
    if (sleepers_.load() > 0) {
      pthread_mutex_lock(&mutex_);
      pthread_cond_broadcast(&work_);
      pthread_mutex_unlock(&mutex_);
    }
    while (take_piece()) {
    }
    wait_for_others(j.pieces);
    std::exception_ptr error;
    error.swap(error_);
    busy_.store(false, std::memory_order_release);
    if (error) std::rethrow_exception(error);
  }

  // Takes one piece of the work there is and does it. Taking it is what keeps job_ as it is until the piece is done:
  // the caller does not return before, so nobody writes another job.
  bool take_piece() {
    std::int64_t left = remaining_.load(std::memory_order_acquire);
    do {
      if (left <= 0) return false;
    } while (!remaining_.compare_exchange_weak(left, left - 1));
    const job& j = job_;
    const std::int64_t pieces = j.pieces;
    const std::int64_t lo = (pieces - left) * j.step;
    const std::int64_t hi = lo + j.step < j.count ? lo + j.step : j.count;
    try {
      j.body(j.context, lo, hi);
    } catch (...) {
      pthread_mutex_lock(&mutex_);
      if (!error_) error_ = std::current_exception();
      pthread_mutex_unlock(&mutex_);
    }
    if (done_.fetch_add(1) + 1 == pieces && waiting_.load()) {
      pthread_mutex_lock(&mutex_);
      pthread_cond_signal(&finished_);
      pthread_mutex_unlock(&mutex_);
    }
    return true;
  }

  void wait_for_others(std::int64_t pieces) {
    for (int k = 0; k < spins_; ++k) {
      if (done_.load(std::memory_order_acquire) == pieces) return;
      spin_pause();
    }
    pthread_mutex_lock(&mutex_);
    waiting_.store(true);
    while (done_.load() != pieces) pthread_cond_wait(&finished_, &mutex_);
    waiting_.store(false);
    pthread_mutex_unlock(&mutex_);
  }

  void work() {
    while (!stop_.load(std::memory_order_relaxed)) {
      if (take_piece()) continue;
      bool found = false;
      for (int k = 0; k < spins_ && !found; ++k) {
        spin_pause();
        found = remaining_.load(std::memory_order_relaxed) > 0 || stop_.load(std::memory_order_relaxed);
      }
      if (found) continue;
      // The sleeper counts itself, then looks for work; who brings work writes it, then looks for sleepers: one sees
      // the other.
      pthread_mutex_lock(&mutex_);
      sleepers_.fetch_add(1);
      while (remaining_.load() <= 0 && !stop_.load()) pthread_cond_wait(&work_, &mutex_);
      sleepers_.fetch_sub(1);
      pthread_mutex_unlock(&mutex_);
    }
  }

  // A thread that the system refuses is a thread less: the caller does every piece that nobody takes.
  void start();

  int size_;
  int spins_ = 0;
  bool started_ = false;  // this and job_ are written only by who holds busy_
  job job_{};
  std::vector<pthread_t> threads_;
  std::exception_ptr error_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> waiting_{false};
  std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<std::int64_t> remaining_{0};  // pieces that nobody has taken
  alignas(64) std::atomic<std::int64_t> done_{0};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t work_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t finished_ = PTHREAD_COND_INITIALIZER;
};

ONTO_BEGIN_RUNS_ONCE
inline thread_pool::thread_pool(int threads) : size_(threads > 0 ? threads : processor_count()) {
  // With more threads than processors whoever spins is in somebody's way.
  spins_ = size_ <= processor_count() ? 1000 : 0;
}

inline thread_pool::~thread_pool() {
  pthread_mutex_lock(&mutex_);
  stop_.store(true);
  pthread_cond_broadcast(&work_);
  pthread_mutex_unlock(&mutex_);
  for (pthread_t t : threads_) pthread_join(t, nullptr);
  pthread_cond_destroy(&finished_);
  pthread_cond_destroy(&work_);
  pthread_mutex_destroy(&mutex_);
}

inline void thread_pool::start() {
  started_ = true;
  try {
    threads_.reserve(static_cast<std::size_t>(size_ - 1));
  } catch (const std::bad_alloc&) {
    return;
  }
  for (int k = 1; k < size_; ++k) {
    pthread_t t;
    const auto body = [](void* pool) -> void* {
      static_cast<thread_pool*>(pool)->work();
      return nullptr;
    };
    if (pthread_create(&t, nullptr, body, this) != 0) return;
    threads_.push_back(t);
  }
}
ONTO_END_RUNS_ONCE

/// Calls `f(lo, hi)` for pieces of `[0, count)`, as `thread_pool::for_each_range` does.
template <class Body>
void split(thread_pool& pool, std::int64_t count, std::int64_t grain, Body& f) {
  pool.for_each_range(
      count, grain, [](void* context, std::int64_t lo, std::int64_t hi) { (*static_cast<Body*>(context))(lo, hi); },
      &f);
}

}  // namespace onto::detail
