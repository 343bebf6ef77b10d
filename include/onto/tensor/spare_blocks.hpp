// SPDX-License-Identifier: BSL-1.0
// Host memory of tensors and of kernels' scratch that was given back and is asked for again, as a loop over runs does:
// a cache of blocks by size.
#pragma once

#include <onto/core/config.hpp>

#include <pthread.h>

#include <cstddef>

namespace onto::detail {

/// Blocks that were given back, for the next one of the same size. A fresh block of 40 MB costs 4.6 ms of page
/// faults, more than a triad over it (3.5 ms), and one of 1 MB up to twenty sums of its size, since the C library gives
/// the end of its heap back to the system: what is computed again and again must not take fresh ones. A size that was
/// given back and asked for again is kept from then on, so what a program makes once takes no memory for longer.
/// Constant initialization and no destructor: tensors with static storage duration come before it and go after it.
struct spare_blocks {
  static constexpr int most = 16;
  static constexpr std::size_t least_bytes = std::size_t{32} << 10;  // below it a block comes from the heap's middle
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;    // of all of them, as block_cache keeps

  /// A size that was given back: a block of it, or none; whether it was asked for again.
  struct size {
    std::size_t bytes;
    void* block;
    bool again;
  };

  // Nobody waits for it: a block that is not to be had at once is a fresh one. In the child of a `fork` that came while
  // another thread had the mutex, nobody would ever give it back.
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  size sizes[most] = {};
  std::size_t total = 0;
  int oldest = 0;

  /// Takes out a block, which may be none.
  ONTO_INLINE void* take(size& s) {
    void* const taken = s.block;
    if (taken) total -= s.bytes;
    s.block = nullptr;
    return taken;
  }
};
inline constinit spare_blocks spare_storage;

ONTO_INLINE constexpr bool may_be_spare(std::size_t bytes) {
#if defined(ONTO_ADDRESS_SANITIZER)
  return static_cast<void>(bytes), false;
#else
  return bytes >= spare_blocks::least_bytes && bytes <= spare_blocks::most_bytes;
#endif
}

ONTO_BEGIN_RUNS_ONCE
/// A spare block of so many bytes, or null.
ONTO_COLD inline void* take_spare(std::size_t wanted) noexcept {
  spare_blocks& all = spare_storage;
  void* found = nullptr;
  if (pthread_mutex_trylock(&all.mutex) != 0) return nullptr;
  spare_blocks::size* known = nullptr;
  for (spare_blocks::size& s : all.sizes) {
    if (s.bytes != wanted) continue;
    found = all.take(s);
    if (found) break;
    if (!s.again) known = &s;
  }
  if (!found && known) known->again = true;
  pthread_mutex_unlock(&all.mutex);
  return found;
}

/// Keeps a block of a size that was asked for again, in place of the oldest ones, or notes its size. `release` is given
/// what is not kept, with its bytes.
ONTO_COLD inline void keep_spare(void* given, std::size_t bytes,
                                 void (*release)(void*, std::size_t) noexcept) noexcept {
  spare_blocks& all = spare_storage;
  spare_blocks::size gone[spare_blocks::most + 1] = {};
  int count = 0;
  if (pthread_mutex_trylock(&all.mutex) != 0) return release(given, bytes);
  spare_blocks::size* place = nullptr;
  for (spare_blocks::size& s : all.sizes)
    if (s.bytes == bytes && s.again && !s.block) place = &s;
  const int most_to_go = place ? spare_blocks::most : 1;
  for (int k = 0; k < most_to_go && (!place || all.total + bytes > spare_blocks::most_bytes); ++k) {
    spare_blocks::size& s = all.sizes[(all.oldest + k) % spare_blocks::most];
    if (s.block) gone[count++] = s;
    (void)all.take(s);
  }
  if (place) {
    place->block = given;
    all.total += bytes;
  } else {
    gone[count++] = {bytes, given, false};
    all.sizes[all.oldest] = {bytes, nullptr, false};
    all.oldest = (all.oldest + 1) % spare_blocks::most;
  }
  pthread_mutex_unlock(&all.mutex);
  for (int k = 0; k < count; ++k) release(gone[k].block, gone[k].bytes);
}

/// Releases all blocks that are kept and that no other thread is about to take or give; the sizes stay known.
ONTO_COLD inline void trim_spare(void (*release)(void*, std::size_t) noexcept) noexcept {
  spare_blocks& all = spare_storage;
  for (spare_blocks::size& s : all.sizes) {
    if (pthread_mutex_trylock(&all.mutex) != 0) continue;
    void* const gone = all.take(s);
    const std::size_t bytes = s.bytes;
    pthread_mutex_unlock(&all.mutex);
    if (gone) release(gone, bytes);
  }
}
ONTO_END_RUNS_ONCE

}  // namespace onto::detail
