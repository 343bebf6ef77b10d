// SPDX-License-Identifier: BSL-1.0
// How a kernel runs: its blocks one after the other in random order, the threads of a block as fibers, in random order
// too. Barriers, shuffles and shared memory are here, and what can be wrong with them.
#include <onto/core/config.hpp>

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "emulator.hpp"

#if defined(ONTO_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

cuda_emulation::index3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_emulation {

namespace {

constexpr int warp_size = 32;
constexpr std::size_t most_shared = std::size_t{227} << 10;
constexpr std::size_t stack_bytes = std::size_t{128} << 10;

/// Where a jump goes, as the compiler's own jumps have it.
struct jump {
  void* words[5] = {};
};

/// Thrown through the frames of a thread whose kernel ends early.
struct kernel_over {};

enum class thread_state { fresh, ready, at_barrier, at_shuffle, at_warp_barrier, done };

struct fiber {
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  ucontext_t start{};
  jump at;
  bool begun = false;
  void* fake_stack = nullptr;  // of AddressSanitizer
};

struct device_thread {
  thread_state state = thread_state::fresh;
  fiber* on = nullptr;
  shuffle_kind kind = shuffle_kind::from;
  unsigned mask = 0, value = 0, result = 0;
  int argument = 0, width = warp_size;
};

/// What is known of a byte of shared memory: who wrote and read it last, and when.
struct shared_byte {
  std::uint32_t block = 0;  // the block's serial number; another one: not written
  std::uint32_t write_phase = 0, read_phase = 0;
  std::uint32_t write_warp_phase = 0, read_warp_phase = 0;
  std::int16_t writer = -1, reader = -1;  // -2: several
  bool atomic = false;                    // what was written since the last barrier, by atomic operations alone
};

struct block_state {
  const kernel_launch* kernel = nullptr;
  std::vector<device_thread> threads;
  std::vector<std::unique_ptr<fiber>> fibers;
  std::vector<fiber*> spare;
  int current = -1;
  std::uint32_t serial = 0;
  std::uint32_t phase = 0;           // counts barriers
  bool vote = false, voted = false;  // of the threads at a barrier; of those at the last one
  std::vector<std::uint32_t> warp_phase;
  bool over = false;
  cudaError_t result = cudaSuccess;
  std::int64_t spun = 0;

  alignas(16) char shared[most_shared];
  std::vector<shared_byte> shadow = std::vector<shared_byte>(most_shared);
  std::size_t static_bytes = 0;
  std::map<const void*, std::size_t> arrays;

  jump main_at;
  void* main_fake_stack = nullptr;
  const void* main_stack = nullptr;
  std::size_t main_stack_bytes = 0;
};

block_state& block() {
  static block_state& b = *new block_state;
  return b;
}

// ---- fibers -----------------------------------------------------------------------------------------------

// Jumps are 20 times as fast as swapcontext, which asks the kernel for signal masks; a context is needed to begin. They
// are the compiler's, in functions that are not instrumented: AddressSanitizer takes those of the C library for frames
// that are left, and forgets at each what it knows of the stack.
#define ONTO_JUMPS [[gnu::noinline]] __attribute__((no_sanitize("address")))

void leave_main(fiber& f) {
  (void)f;
#if defined(ONTO_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&block().main_fake_stack, f.stack.get(), stack_bytes);
#endif
}
void back_in_main() {
#if defined(ONTO_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(block().main_fake_stack, nullptr, nullptr);
#endif
}
void back_in_fiber(fiber& f) {
  (void)f;
#if defined(ONTO_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(f.fake_stack, &block().main_stack, &block().main_stack_bytes);
#endif
}

ONTO_JUMPS void to_main(fiber& f) {
  block_state& b = block();
#if defined(ONTO_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&f.fake_stack, b.main_stack, b.main_stack_bytes);
#endif
  if (__builtin_setjmp(f.at.words) == 0) __builtin_longjmp(b.main_at.words, 1);
  back_in_fiber(f);
}

void fiber_main() {
  block_state& b = block();
  fiber& f = *b.threads[static_cast<std::size_t>(b.current)].on;
  back_in_fiber(f);
  for (;;) {
    try {
      b.kernel->thread();
    } catch (const kernel_over&) {
    }
    b.threads[static_cast<std::size_t>(b.current)].state = thread_state::done;
    to_main(f);
  }
}

ONTO_JUMPS void to_fiber(fiber& f) {
  block_state& b = block();
  leave_main(f);
  if (__builtin_setjmp(b.main_at.words) == 0) {
    if (f.begun) __builtin_longjmp(f.at.words, 1);
    f.begun = true;
    getcontext(&f.start);
    f.start.uc_stack.ss_sp = f.stack.get();
    f.start.uc_stack.ss_size = stack_bytes;
    f.start.uc_link = nullptr;
    makecontext(&f.start, fiber_main, 0);
    setcontext(&f.start);
  }
  back_in_main();
}

// ---- threads ----------------------------------------------------------------------------------------------

index3 index_in(std::size_t k, const dim3& extent) {
  const auto n = static_cast<unsigned>(k);
  return {n % extent.x, n / extent.x % extent.y, n / extent.x / extent.y};
}

void run_thread(int t) {
  block_state& b = block();
  device_thread& thread = b.threads[static_cast<std::size_t>(t)];
  if (!thread.on) {
    if (b.spare.empty()) {
      b.fibers.push_back(std::make_unique<fiber>());
      b.spare.push_back(b.fibers.back().get());
    }
    thread.on = b.spare.back();
    b.spare.pop_back();
  }
  b.current = t;
  threadIdx = index_in(static_cast<std::size_t>(t), b.kernel->block);
  to_fiber(*thread.on);
  if (thread.state == thread_state::done) {
    b.spare.push_back(thread.on);
    thread.on = nullptr;
  }
  b.current = -1;
}

/// Waits in a state until the block's scheduler makes the thread ready.
void wait_as(thread_state s) {
  block_state& b = block();
  const int me = b.current;
  device_thread& thread = b.threads[static_cast<std::size_t>(me)];
  thread.state = s;
  to_main(*thread.on);
  if (b.over) throw kernel_over{};
}

std::string name_of(int t) {
  const index3 i = index_in(static_cast<std::size_t>(t), block().kernel->block);
  return "thread (" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
}

/// A sentence about a thread that is not running; the kernel is over.
void stop_kernel(int t, const std::string& sentence) {
  block_state& b = block();
  if (b.over) return;
  b.current = t;
  threadIdx = index_in(static_cast<std::size_t>(t), b.kernel->block);
  violation(where_in_kernel() + sentence);
  b.current = -1;
  b.over = true;
  b.result = cudaErrorLaunchFailure;
}

/// Lets the lanes of a warp go on that all others of their mask have come to. *Returns* whether there were any.
bool release_warp(int first, int end) {
  block_state& b = block();
  bool released = false;
  for (int t = first; t < end && !b.over; ++t) {
    device_thread& thread = b.threads[static_cast<std::size_t>(t)];
    if (thread.state != thread_state::at_shuffle && thread.state != thread_state::at_warp_barrier) continue;
    bool all = true;
    for (int lane = 0; lane < warp_size && all; ++lane) {
      if (!(thread.mask >> lane & 1u)) continue;
      const int other = first + lane;
      if (other >= end) {
        stop_kernel(t, "its mask names lane " + std::to_string(lane) + ", which the block does not have");
        return false;
      }
      const device_thread& o = b.threads[static_cast<std::size_t>(other)];
      if (o.state == thread_state::done) {
        stop_kernel(t, "its mask names lane " + std::to_string(lane) + ", which has left the kernel");
        return false;
      }
      all = o.state == thread.state && o.mask == thread.mask && o.kind == thread.kind;
    }
    if (!all) continue;
    for (int lane = 0; lane < warp_size; ++lane) {
      if (!(thread.mask >> lane & 1u)) continue;
      device_thread& o = b.threads[static_cast<std::size_t>(first + lane)];
      if (o.state == thread_state::at_shuffle) {
        const int base = lane / o.width * o.width;
        int from = o.kind == shuffle_kind::down     ? lane + o.argument
                   : o.kind == shuffle_kind::by_xor ? (lane ^ o.argument)
                                                    : base + (o.argument & (o.width - 1));
        if (o.kind != shuffle_kind::from && from >= base + o.width) from = lane;
        if (!(thread.mask >> from & 1u)) {
          stop_kernel(first + lane,
                      "it takes a value from lane " + std::to_string(from) + ", which its mask leaves out");
          return false;
        }
        o.result = b.threads[static_cast<std::size_t>(first + from)].value;
      }
    }
    const unsigned mask = thread.mask;
    for (int lane = 0; lane < warp_size; ++lane)
      if (mask >> lane & 1u) b.threads[static_cast<std::size_t>(first + lane)].state = thread_state::ready;
    ++b.warp_phase[static_cast<std::size_t>(first / warp_size)];
    released = true;
  }
  return released;
}

/// Runs the block whose indices are set.
void run_block() {
  block_state& b = block();
  const dim3& size = b.kernel->block;
  const int count = static_cast<int>(size.x * size.y * size.z);
  ++b.serial;
  b.phase = 1;
  b.vote = false;
  b.static_bytes = 0;
  b.arrays.clear();
  std::memset(b.shared, 0xff, b.kernel->shared);
  b.threads.assign(static_cast<std::size_t>(count), {});
  b.warp_phase.assign(static_cast<std::size_t>((count + warp_size - 1) / warp_size), 1);
  std::vector<int> order(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) order[static_cast<std::size_t>(t)] = t;
  for (;;) {
    std::shuffle(order.begin(), order.end(), random_numbers());
    bool moved = false;
    for (int t : order) {
      const thread_state s = b.threads[static_cast<std::size_t>(t)].state;
      if (s != thread_state::fresh && s != thread_state::ready) continue;
      if (b.over && s == thread_state::fresh) continue;
      run_thread(t);
      moved = true;
    }
    if (b.over) {
      // Whoever waits goes on, only to leave.
      bool left = false;
      for (device_thread& t : b.threads)
        if (t.on) t.state = thread_state::ready, left = true;
      if (!left) return;
      continue;
    }
    for (int first = 0; first < count; first += warp_size)
      moved = release_warp(first, std::min(first + warp_size, count)) || moved;
    if (b.over) continue;
    int done = 0, waiting = 0, last_waiting = -1, last_done = -1;
    for (int t = 0; t < count; ++t) {
      const thread_state s = b.threads[static_cast<std::size_t>(t)].state;
      if (s == thread_state::done) ++done, last_done = t;
      if (s == thread_state::at_barrier) ++waiting, last_waiting = t;
    }
    if (done == count) return;
    if (waiting == count) {
      for (device_thread& t : b.threads) t.state = thread_state::ready;
      ++b.phase;
      b.voted = b.vote;
      b.vote = false;
      moved = true;
    } else if (!moved) {
      if (waiting > 0 && waiting + done == count)
        stop_kernel(last_waiting, "it waits at a barrier that " + name_of(last_done) + " has left the kernel before");
      else
        for (int t = 0; t < count && !b.over; ++t)
          if (b.threads[static_cast<std::size_t>(t)].state == thread_state::at_shuffle ||
              b.threads[static_cast<std::size_t>(t)].state == thread_state::at_warp_barrier)
            stop_kernel(t, "it waits for lanes of its warp that do not come: a divergent shuffle or warp barrier");
    }
  }
}

// ---- shared memory ----------------------------------------------------------------------------------------

bool is_shared(const void* p) {
  const block_state& b = block();
  return p >= b.shared && p < b.shared + most_shared;
}

enum class access_kind { load, store, atomic };

void check_shared(const void* p, std::size_t bytes, access_kind kind) {
  block_state& b = block();
  const auto at = static_cast<std::size_t>(static_cast<const char*>(p) - b.shared);
  const bool atomic = kind == access_kind::atomic, store = kind != access_kind::load;
  const std::string what = store ? "it writes " : "it reads ";
  if (at + bytes > b.kernel->shared + b.static_bytes)
    kernel_violation(what + "past the end of its block's shared memory of " +
                     std::to_string(b.kernel->shared + b.static_bytes) + " bytes");
  const int me = b.current;
  const std::uint32_t warp_phase = b.warp_phase[static_cast<std::size_t>(me / warp_size)];
  // Ordered are a thread's own accesses, those before and after a barrier, and within a warp those before and after a
  // shuffle.
  const auto races = [&](int other, std::uint32_t phase, std::uint32_t warp) {
    if (other == -1 || other == me || phase != b.phase) return false;
    return other == -2 || other / warp_size != me / warp_size || warp == warp_phase;
  };
  for (std::size_t k = at; k < at + bytes; ++k) {
    shared_byte& s = b.shadow[k];
    if (s.block != b.serial) {
      if (kind != access_kind::store)
        kernel_violation("it reads shared memory that no thread of the block has written");
      s = {};
      s.block = b.serial;
    }
    const bool all_atomic = atomic && s.atomic;
    if (!all_atomic && races(s.writer, s.write_phase, s.write_warp_phase))
      kernel_violation(what + "shared memory that " + (s.writer == -2 ? "other threads" : name_of(s.writer)) +
                       " wrote, with no barrier between");
    if (store && races(s.reader, s.read_phase, s.read_warp_phase))
      kernel_violation("it writes shared memory that " + (s.reader == -2 ? "other threads" : name_of(s.reader)) +
                       " read, with no barrier between");
    if (store) {
      // Several that added in one phase: whoever else comes there without a barrier races with one of them.
      const bool others = all_atomic && s.write_phase == b.phase && s.writer != me;
      s.writer = others ? static_cast<std::int16_t>(-2) : static_cast<std::int16_t>(me);
      s.atomic = atomic;
      s.write_phase = b.phase;
      s.write_warp_phase = warp_phase;
    } else {
      const bool fresh = s.reader == -1 || s.read_phase != b.phase;
      s.reader = fresh || s.reader == me ? static_cast<std::int16_t>(me) : static_cast<std::int16_t>(-2);
      s.read_phase = b.phase;
      s.read_warp_phase = warp_phase;
    }
  }
}

void* accessed(const void* p, std::size_t bytes, std::size_t alignment, access_kind kind, const void* site) {
  const bool store = kind != access_kind::load;
  if (!in_kernel()) return const_cast<void*>(p);
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0)
    kernel_violation("an access of " + std::to_string(bytes) + " bytes at an address that is no multiple of " +
                     std::to_string(alignment));
  const bool shared = is_shared(p);
  note_access(site, shared ? reinterpret_cast<const void*>(static_cast<const char*>(p) - block().shared) : p, bytes,
              store, shared);
  if (shared) {
    check_shared(p, bytes, kind);
    return const_cast<void*>(p);
  }
  if (is_device_address(p))
    return device_bytes(p, bytes,
                        kind == access_kind::atomic ? "an atomic operation"
                        : store                     ? "a store"
                                                    : "a load",
                        kernel_device());
  if (is_pinned_range(p, bytes)) return const_cast<void*>(p);
  kernel_violation(store ? "it writes memory of the host" : "it reads memory of the host");
}

}  // namespace

__attribute__((noinline)) const void* readable(const void* p, std::size_t bytes, std::size_t alignment) {
  return accessed(p, bytes, alignment, access_kind::load, __builtin_return_address(0));
}
__attribute__((noinline)) void* writable(void* p, std::size_t bytes, std::size_t alignment) {
  return accessed(p, bytes, alignment, access_kind::store, __builtin_return_address(0));
}
__attribute__((noinline)) void* atomic(void* p, std::size_t bytes, std::size_t alignment) {
  return accessed(p, bytes, alignment, access_kind::atomic, __builtin_return_address(0));
}

void* shared_array(const void* name, std::size_t bytes, std::size_t alignment) {
  block_state& b = block();
  const auto found = b.arrays.find(name);
  if (found != b.arrays.end()) return b.shared + found->second;
  const std::size_t end = b.kernel->shared + b.static_bytes;
  const std::size_t at = (end + alignment - 1) / alignment * alignment;
  if (at + bytes > most_shared) kernel_violation("the block's shared memory is more than 227 KiB");
  b.static_bytes = at + bytes - b.kernel->shared;
  b.arrays[name] = at;
  std::memset(b.shared + at, 0xff, bytes);
  return b.shared + at;
}

void* dynamic_shared() { return block().shared; }

void spin_nanoseconds(long long duration) { block().spun += duration; }

void trap() {
  block_state& b = block();
  b.over = true;
  b.result = cudaErrorLaunchFailure;
  throw kernel_over{};
}

void sync_block() { wait_as(thread_state::at_barrier); }

bool sync_block_or(bool mine) {
  block_state& b = block();
  b.vote = b.vote || mine;
  wait_as(thread_state::at_barrier);
  return b.voted;  // until all have come to the next barrier
}

void sync_warp(unsigned mask) {
  block_state& b = block();
  b.threads[static_cast<std::size_t>(b.current)].mask = mask;
  wait_as(thread_state::at_warp_barrier);
}

unsigned shuffle(shuffle_kind kind, unsigned mask, unsigned value, int argument, int width) {
  block_state& b = block();
  device_thread& t = b.threads[static_cast<std::size_t>(b.current)];
  if (!(mask >> (b.current % warp_size) & 1u)) kernel_violation("the mask of its shuffle leaves it out");
  t.kind = kind;
  t.mask = mask;
  t.value = value;
  t.argument = argument;
  t.width = width;
  wait_as(thread_state::at_shuffle);
  return t.result;
}

bool in_kernel() { return block().kernel != nullptr && block().current >= 0; }
int kernel_device() { return block().kernel->device; }

std::string where_in_kernel() {
  const block_state& b = block();
  if (!b.kernel || b.current < 0) return "";
  const auto text = [](const index3& i) {
    return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
  };
  return b.kernel->name + ", block " + text(blockIdx) + ", thread " + text(threadIdx) + ": ";
}

void kernel_violation(const std::string& sentence) {
  block_state& b = block();
  violation(where_in_kernel() + sentence);
  b.over = true;
  b.result = cudaErrorIllegalAddress;
  throw kernel_over{};
}

cudaError_t run_grid(const kernel_launch& kernel, std::int64_t& nanoseconds) {
  block_state& b = block();
  b.kernel = &kernel;
  b.over = false;
  b.result = cudaSuccess;
  b.spun = 0;
  blockDim = {kernel.block.x, kernel.block.y, kernel.block.z};
  gridDim = {kernel.grid.x, kernel.grid.y, kernel.grid.z};
  note_kernel(kernel);
  const std::size_t blocks = std::size_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z;
  // A step that has no divisor in common with the number of blocks leads past each of them.
  std::size_t step = 1 + any_below(blocks);
  const auto divisor = [](std::size_t x, std::size_t y) {
    while (y) std::swap(x %= y, y);
    return x;
  };
  while (divisor(step, blocks) != 1) ++step;
  std::size_t at = any_below(blocks);
  for (std::size_t k = 0; k < blocks && !b.over; ++k, at = (at + step) % blocks) {
    blockIdx = index_in(at, kernel.grid);
    run_block();
    note_block_end(kernel.shared + b.static_bytes);
  }
  b.kernel = nullptr;
  nanoseconds += 2000 + static_cast<std::int64_t>(blocks) + b.spun;
  return b.result;
}

}  // namespace cuda_emulation
