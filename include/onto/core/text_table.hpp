// SPDX-License-Identifier: BSL-1.0
// Where the bytes of texts are: a table of the process, in which each stands once for as long as somebody has a handle.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/core/message.hpp>
#include <onto/core/text.hpp>
#include <onto/core/text_value.hpp>

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <new>

// Optimized, since it goes through all bytes; programs without texts have next to nothing of it.
namespace onto::detail {

struct text_block {
  mutable atomic<std::int64_t> references{1};
  std::uint64_t hash = 0;
  std::size_t size = 0;
  text_block* next = nullptr;  // in its bucket

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size}; }
};

/// All blocks, by hash. Constant initialization and no destructor: texts with static storage duration come before it
/// and go after it. Without texts it has no memory.
struct text_table {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  text_block** buckets = nullptr;
  std::size_t size = 0;  // of the buckets: a power of two, or 0
  std::size_t count = 0;

  text_block*& bucket(std::uint64_t hash) { return buckets[hash & (size - 1)]; }

  /// Twice as many buckets. *Returns* whether there is memory for them; more blocks fit into what there is.
  ONTO_COLD bool grow() {
    const std::size_t old = size;
    auto** const more = static_cast<text_block**>(std::calloc(old ? 2 * old : 16, sizeof(text_block*)));
    if (!more) return old > 0;
    text_block** const before = buckets;
    buckets = more;
    size = old ? 2 * old : 16;
    for (std::size_t k = 0; k < old; ++k)
      for (text_block* b = before[k]; b;) {
        text_block* const next = b->next;
        b->next = bucket(b->hash);
        bucket(b->hash) = b;
        b = next;
      }
    std::free(before);
    return true;
  }

  /// Takes a block out that nobody has a handle to.
  ONTO_COLD void remove(const text_block* gone) {
    text_block** at = &bucket(gone->hash);
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    if (--count > 0) return;
    std::free(buckets);
    buckets = nullptr;
    size = 0;
  }
};
// One in the process, though libraries that are loaded at run time hide what is theirs: equal texts are one handle.
__attribute__((visibility("default"))) inline constinit text_table all_texts;

/// Holds the table's mutex while it lives.
struct all_texts_lock {
  all_texts_lock() { pthread_mutex_lock(&all_texts.mutex); }
  all_texts_lock(const all_texts_lock&) = delete;
  all_texts_lock& operator=(const all_texts_lock&) = delete;
  ~all_texts_lock() { pthread_mutex_unlock(&all_texts.mutex); }
};

/// A hash of the bytes, eight at a time; of this process.
inline std::uint64_t hash_bytes(std::string_view s) {
  std::uint64_t h = hash_mix(0, s.size());
  std::uint64_t word = 0;
  for (; s.size() > sizeof word; s.remove_prefix(sizeof word)) {
    std::memcpy(&word, s.data(), sizeof word);
    h = hash_mix(h, word);
  }
  word = 0;
  std::memcpy(&word, s.data(), s.size());
  return hash_mix(h, word);
}

ONTO_RUNTIME const text_block* find_text(std::string_view bytes) {
  if (bytes.empty()) return nullptr;
  if (bytes.size() > text::max_size)
    fail<invalid_argument_error>(message("[onto.text] a text of ")
                                 << static_cast<std::int64_t>(bytes.size())
                                 << " bytes; a text has at most 2147483647: take several elements");
  const std::uint64_t hash = hash_bytes(bytes);
  {
    const all_texts_lock lock;
    text_table& all = all_texts;
    for (text_block* b = all.size ? all.bucket(hash) : nullptr; b; b = b->next)
      if (b->hash == hash && b->view() == bytes) {
        b->references.fetch_add(1, memory_order_relaxed);
        return b;
      }
    if (all.count < all.size || all.grow())
      if (void* const memory = std::malloc(sizeof(text_block) + bytes.size() + 1)) {
        auto* const b = ::new (memory) text_block;
        b->hash = hash;
        b->size = bytes.size();
        std::memcpy(b->bytes(), bytes.data(), bytes.size());
        b->bytes()[bytes.size()] = '\0';
        b->next = all.bucket(hash);
        all.bucket(hash) = b;
        ++all.count;
        return b;
      }
  }
  fail<resource_exhausted_error>(message("[onto.text] ") << static_cast<std::int64_t>(bytes.size())
                                                         << " bytes of host memory for a text are not available");
}

ONTO_RUNTIME void retain_text(const text_block* block) noexcept {
  block->references.fetch_add(1, memory_order_relaxed);
}

ONTO_RUNTIME void release_text(const text_block* block) noexcept {
  // The last handle goes under the lock: who looks for these bytes meanwhile finds the block alive, or not at all.
  for (std::int64_t n = block->references.load(memory_order_relaxed); n > 1;)
    if (block->references.compare_exchange_weak(n, n - 1, memory_order_acq_rel, memory_order_relaxed)) return;
  {
    const all_texts_lock lock;
    if (block->references.fetch_sub(1, memory_order_acq_rel) > 1) return;
    all_texts.remove(block);
  }
  block->~text_block();
  std::free(const_cast<text_block*>(block));
}

ONTO_RUNTIME std::string_view bytes_of_text(const text_block* block) noexcept { return block->view(); }

ONTO_RUNTIME void take_texts(text* to, const void* from, std::int64_t count) noexcept {
  const auto* const computed = static_cast<const text*>(from);
  for (std::int64_t k = 0; k < count; ++k) {
    const text_block *block, *old;
    std::memcpy(&block, computed + k, sizeof block);
    std::memcpy(&old, static_cast<const void*>(to + k), sizeof old);
    std::memcpy(static_cast<void*>(to + k), &block, sizeof block);
    if (old) release_text(old);
  }
}

ONTO_RUNTIME std::size_t count_texts() noexcept {
  const all_texts_lock lock;
  return all_texts.count;
}

}  // namespace onto::detail
