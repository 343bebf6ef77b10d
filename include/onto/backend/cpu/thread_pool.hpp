// SPDX-License-Identifier: BSL-1.0
// The threads that CPU kernels share: a range of work is cut into pieces, and the caller works on them too.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/core/config.hpp>
#include <onto/runtime/kernel.hpp>

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <exception>

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

/// The processor that this thread is on, or -1.
inline int current_processor() {
#if defined(__linux__) && defined(CPU_COUNT)
  return sched_getcpu();
#else
  return -1;
#endif
}

ONTO_BEGIN_RUNS_ONCE
/// Moves this thread to another processor than `here`, if it may run on one. The system would do so by itself, but some
/// ten milliseconds later.
inline void leave_processor(int here) {
#if defined(__linux__) && defined(CPU_COUNT)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_CLR(static_cast<unsigned>(here), &allowed);
  const int others = CPU_COUNT(&allowed);
  if (others == 0) return;
  const int status = sched_setaffinity(0, sizeof allowed, &allowed);
  CPU_SET(static_cast<unsigned>(here), &allowed);
  if (status == 0) sched_setaffinity(0, sizeof allowed, &allowed);
#else
  static_cast<void>(here);
#endif
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
class thread_pool : public kernel_context {
 public:
  using range_body = void (*)(void* context, std::int64_t lo, std::int64_t hi);

  /// A pool of `threads` threads with the caller; 0 is one for each processor.
  ONTO_BEGIN_RUNS_ONCE
  explicit thread_pool(int threads = 0);
  ~thread_pool();
  ONTO_END_RUNS_ONCE
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// The number of threads that work on a range, the caller's included.
  int size() const { return size_; }

  /// The pieces to cut a work into that could be cut into `most`: as many for each thread, and more than one, so that a
  /// thread that is late, or has lost its processor, costs a part of a share.
  std::int64_t pieces_of(std::int64_t most) const {
    const std::int64_t each = most / size_;
    return each < 1 ? most : each < 4 ? each * size_ : std::int64_t{4} * size_;
  }

  /// Calls `body(context, lo, hi)` for pieces that together are `[0, count)`. No piece has fewer than `grain` elements
  /// unless it is the only one or the last, and less than two pieces run without touching another thread. In calls
  /// that are alike a thread mostly has the same pieces, and finds them in its caches. *Throws* what a body throws: the
  /// first of them, once no body runs any more. `brief`: all of it is done before a thread that sleeps would be
  /// awake; it is then woken only where such calls follow each other.
  ONTO_NOINLINE void for_each_range(std::int64_t count, std::int64_t grain, range_body body, void* context,
                                    bool brief = false) {
    if (count <= 0) return;
    const std::int64_t least = grain > 0 ? grain : 1;
    const std::int64_t pieces = pieces_of(count / least);
    if (pieces <= 1 || size_ == 1 || busy_.exchange(true, memory_order_acquire)) return body(context, 0, count);
    if (brief && !are_awake()) {
      busy_.store(false, memory_order_release);
      return body(context, 0, count);
    }
    std::int64_t step = (count + pieces - 1) / pieces;
    if (least >= 64) step = (step + 63) / 64 * 64;  // no two threads write to one cache line
    run({body, context, count, step, static_cast<std::uint32_t>((count + step - 1) / step)});
  }

 private:
  struct job {
    range_body body;
    void* context;
    std::int64_t count;
    std::int64_t step;
    std::uint32_t pieces;
  };

  /// Pieces `[first, end)` that nobody has taken, as `first << 32 | end`. A thread takes from the front of its own,
  /// and when that is empty from the back of another's.
  struct alignas(64) share {
    atomic<std::uint64_t> left{0};
    thread_pool* pool = nullptr;
    pthread_t thread{};
  };

  ONTO_NOINLINE void run(const job& j) {
    if (!started_) start();
    job_ = j;
    done_.store(0, memory_order_relaxed);
    std::uint64_t first = 0, end = 0, threads = static_cast<std::uint64_t>(size_);
    for (std::uint64_t t = 0; t < threads; ++t, first = end) {
      end = j.pieces * (t + 1) / threads;
      shares_[t].left.store(first << 32 | end);
    }
    caller_.store(current_processor(), memory_order_relaxed);
    jobs_.fetch_add(1);
    if (sleepers_.load() > 0) wake();
    do_pieces(0);
    wait_for_others(j.pieces);
    if (failed_) return release_and_rethrow();
    busy_.store(false, memory_order_release);
  }

  // Does pieces until none is left. Taking one is what keeps job_ as it is until it is counted as done: the caller does
  // not return before, so nobody writes another job.
  ONTO_NOINLINE void do_pieces(std::size_t thread) {
    std::uint32_t did = 0;
    const auto threads = static_cast<std::size_t>(size_);
    for (std::size_t k = 0; k < threads;) {
      atomic<std::uint64_t>& left = shares_[(thread + k) % threads].left;
      std::uint64_t range = left.load(memory_order_acquire);
      const auto first = static_cast<std::uint32_t>(range >> 32), end = static_cast<std::uint32_t>(range);
      if (first >= end) {
        ++k;
        continue;
      }
      // Of its own a thread takes half at a time.
      const std::uint32_t some = k == 0 ? (end - first + 1) / 2 : 1;
      if (!left.compare_exchange_weak(range, k == 0 ? range + (std::uint64_t{some} << 32) : range - 1)) continue;
      const job& j = job_;
      const std::int64_t lo = (k == 0 ? first : end - 1) * j.step, hi = lo + some * j.step;
      try {
        j.body(j.context, lo, hi < j.count ? hi : j.count);
      } catch (...) {
        keep_error();
      }
      did += some;
    }
    if (did == 0) return;
    const std::uint32_t pieces = job_.pieces;
    if (done_.fetch_add(did) + did == pieces && waiting_.load()) say_finished();
  }

  void wait_for_others(std::uint32_t pieces) {
    for (int k = 0; k < spins_; ++k) {
      if (done_.load(memory_order_acquire) == pieces) return;
      spin_pause();
    }
    sleep_until_finished(pieces);
  }

  void work(std::size_t thread) {
    while (!stop_.load(memory_order_relaxed)) {
      const std::uint32_t seen = jobs_.load(memory_order_acquire);
      // A thread that is woken on the caller's processor would wait for it.
      const int here = current_processor();
      if (spins_ > 0 && here >= 0 && here == caller_.load(memory_order_relaxed)) leave_processor(here);
      do_pieces(thread);
      for (int k = 0; k < spins_ && nothing_since(seen); ++k) spin_pause();
      if (nothing_since(seen)) sleep_until_work(seen);
    }
  }

  ONTO_INLINE bool nothing_since(std::uint32_t jobs) const { return jobs_.load() == jobs && !stop_.load(); }

  ONTO_BEGIN_RUNS_ONCE
  // The sleeper counts itself, then looks for work; who brings work writes it, then looks for sleepers: one sees the
  // other.
  ONTO_NOINLINE void sleep_until_work(std::uint32_t seen) {
    pthread_mutex_lock(&mutex_);
    sleepers_.fetch_add(1);
    while (nothing_since(seen)) pthread_cond_wait(&work_, &mutex_);
    sleepers_.fetch_sub(1);
    pthread_mutex_unlock(&mutex_);
  }
  ONTO_NOINLINE void wake() {
    pthread_mutex_lock(&mutex_);
    pthread_cond_broadcast(&work_);
    pthread_mutex_unlock(&mutex_);
  }
  ONTO_NOINLINE void sleep_until_finished(std::uint32_t pieces) {
    pthread_mutex_lock(&mutex_);
    waiting_.store(true);
    while (done_.load() != pieces) pthread_cond_wait(&finished_, &mutex_);
    waiting_.store(false);
    pthread_mutex_unlock(&mutex_);
  }
  ONTO_NOINLINE void say_finished() {
    pthread_mutex_lock(&mutex_);
    pthread_cond_signal(&finished_);
    pthread_mutex_unlock(&mutex_);
  }
  ONTO_NOINLINE void keep_error() {
    pthread_mutex_lock(&mutex_);
    if (!failed_) error_ = std::current_exception();
    failed_ = true;
    pthread_mutex_unlock(&mutex_);
  }
  ONTO_NOINLINE void release_and_rethrow() {
    const std::exception_ptr error = error_;
    error_ = nullptr;
    failed_ = false;
    busy_.store(false, memory_order_release);
    std::rethrow_exception(error);
  }
  ONTO_END_RUNS_ONCE

  // A thread that the system refuses is a thread less: others do its pieces.
  void start();
  static void* be_thread(void* given);

  /// Whether the other threads wait busily, or should begin to: the call that asked last was a moment ago.
  bool are_awake();

  int size_;
  int spins_ = 0;            // pauses before a thread sleeps
  bool started_ = false;     // this, spins_, job_ and shares_ are written only by who holds busy_
  pid_t process_ = 0;        // that started the threads
  std::size_t threads_ = 1;  // that there are
  std::int64_t asked_ = 0;   // when are_awake() was asked in vain, in nanoseconds
  job job_{};
  share* shares_;        // one for each thread
  bool failed_ = false;  // whether a body threw, and what
  std::exception_ptr error_;
  atomic<bool> busy_{false};
  atomic<bool> stop_{false};
  atomic<bool> waiting_{false};
  atomic<int> sleepers_{0};
  atomic<int> caller_{-1};                     // the processor that the caller was on
  alignas(64) atomic<std::uint32_t> jobs_{0};  // how many there were
  alignas(64) atomic<std::uint32_t> done_{0};  // pieces of this one
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t work_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t finished_ = PTHREAD_COND_INITIALIZER;
};

ONTO_BEGIN_RUNS_ONCE
inline std::int64_t monotonic_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

/// How often a thread pauses in the time it would take to wake it, some 60 us: a processor's pause takes 12 to 50 ns.
inline int pauses_of_waking() {
  constexpr std::int64_t some = 200, waking = 60000;
  std::int64_t least = waking;
  for (int round = 0; round < 3; ++round) {
    const std::int64_t start = monotonic_nanoseconds();
    for (int k = 0; k < some; ++k) spin_pause();
    const std::int64_t time = monotonic_nanoseconds() - start;
    if (time < least) least = time;
  }
  const std::int64_t pauses = waking * some / (least > 0 ? least : 1);
  return static_cast<int>(pauses < 1000 ? 1000 : pauses > 20000 ? 20000 : pauses);
}

inline thread_pool::thread_pool(int threads)
    : size_(threads > 0 ? threads : processor_count()), shares_(new share[static_cast<std::size_t>(size_)]) {}

inline thread_pool::~thread_pool() {
  // The child of a fork has none of the threads, and what is said to them waits for them.
  if (started_ && process_ != getpid()) {
    delete[] shares_;
    return;
  }
  pthread_mutex_lock(&mutex_);
  stop_.store(true);
  pthread_cond_broadcast(&work_);
  pthread_mutex_unlock(&mutex_);
  while (--threads_ > 0) pthread_join(shares_[threads_].thread, nullptr);
  pthread_cond_destroy(&finished_);
  pthread_cond_destroy(&work_);
  pthread_mutex_destroy(&mutex_);
  delete[] shares_;
}

inline bool thread_pool::are_awake() {
  if (started_ && sleepers_.load(memory_order_relaxed) == 0) return true;
  const std::int64_t now = monotonic_nanoseconds(), before = asked_;
  asked_ = now;
  return now - before < 200000;
}

inline void* thread_pool::be_thread(void* given) {
  const auto* own = static_cast<const share*>(given);
  own->pool->work(static_cast<std::size_t>(own - own->pool->shares_));
  return nullptr;
}

inline void thread_pool::start() {
  started_ = true;
  process_ = getpid();
  // With more threads than processors whoever spins is in somebody's way.
  if (size_ <= processor_count()) spins_ = pauses_of_waking();
  for (; threads_ < static_cast<std::size_t>(size_); ++threads_) {
    share& own = shares_[threads_];
    own.pool = this;
    if (pthread_create(&own.thread, nullptr, be_thread, &own) != 0) return;
  }
}
ONTO_END_RUNS_ONCE

template <class Body>
void call_body(void* body, std::int64_t lo, std::int64_t hi) {
  (*static_cast<Body*>(body))(lo, hi);
}

/// Calls `f(lo, hi)` for pieces of `[0, count)`, as `thread_pool::for_each_range` does.
template <class Body>
ONTO_INLINE void split(thread_pool& pool, std::int64_t count, std::int64_t grain, Body& f, bool brief = false) {
  pool.for_each_range(count, grain, call_body<Body>, &f, brief);
}

}  // namespace onto::detail
