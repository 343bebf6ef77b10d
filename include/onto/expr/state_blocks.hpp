// SPDX-License-Identifier: BSL-1.0
// Memory of expressions' states: a free list for each thread.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace onto::detail {

/// Blocks of one size that states of this thread gave back, for those it makes next. Expressions over tensors are made
/// anew each time a loop comes to them; with `malloc` and `free` for each operation and operand, `x * y + x` of eight
/// floats took twice as long. Constant initialization and no destructor: expressions of static and of thread storage
/// duration come before it and go after it.
struct state_blocks {
  static constexpr std::size_t bytes = 192;  // of one: a state, and the pointers to four children and more
  static constexpr int most = 64;            // which it keeps

  struct block {
    block* next;
  };
  block* first = nullptr;
  int count = 0;
  bool ends = false;  // whether they are freed at the end of the thread
  bool over = false;  // and that is past
};
ONTO_INLINE state_blocks& blocks_of_thread() {
  static thread_local state_blocks blocks;
  return blocks;
}

/// Whether a state of so many bytes is such a block. AddressSanitizer sees each one by itself.
ONTO_INLINE constexpr bool is_state_block(std::size_t bytes) {
#if defined(ONTO_ADDRESS_SANITIZER)
  return static_cast<void>(bytes), false;
#else
  return bytes <= state_blocks::bytes;
#endif
}

ONTO_BEGIN_RUNS_ONCE
struct state_blocks_end {
  ~state_blocks_end() {
    state_blocks& all = blocks_of_thread();
    all.over = true;
    while (state_blocks::block* const gone = all.first) {
      all.first = gone->next;
      std::free(gone);
    }
    all.count = 0;
  }
};
/// The thread makes states: what it keeps is freed at its end. Said where one is made, never where one goes: that may
/// be while the library that this is compiled into is unloaded.
ONTO_COLD ONTO_NOINLINE inline void* fresh_state_block() {
  static thread_local state_blocks_end end;
  static_cast<void>(&end);
  blocks_of_thread().ends = true;
  return std::malloc(state_blocks::bytes);
}
ONTO_END_RUNS_ONCE

/// Memory for a state, of `state_blocks::bytes` at least. Null where there is none.
ONTO_INLINE void* take_state_block() {
  state_blocks& all = blocks_of_thread();
  state_blocks::block* const taken = all.first;
  if (!taken) return fresh_state_block();
  all.first = taken->next;
  --all.count;
  return taken;
}

ONTO_INLINE void keep_state_block(void* given) noexcept {
  state_blocks& all = blocks_of_thread();
  if (all.count == state_blocks::most || !all.ends || all.over) return std::free(given);
  all.first = ::new (given) state_blocks::block{all.first};
  ++all.count;
}

}  // namespace onto::detail
