// SPDX-License-Identifier: BSL-1.0
// How threads sort what each of them has a few of in registers: they compare with each other in an order that does not
// depend on the data, within warps by shuffles, between warps through shared memory.
#pragma once

#include <onto/backend/cuda/block_fold.hpp>

#include <cstdint>

namespace onto::detail {

/// A bitonic sorting network of `Per` items a thread and as many threads as a power of two from 1 to a block's says: a
/// row each `lanes` threads. Items are whole numbers, sorted from the least; those of thread `l` of a row end at `l *
/// Per` and behind. All threads of the block call it.
///
/// Sorted halves become one by comparing each item with that of the same distance from the other end, then each with
/// those half as far apart, and so on: so all comparisons go one way.
/// *Source* Batcher, Sorting networks and their applications, 1968.
template <class Item, int Per>
struct sorting_network {
  static constexpr int bits = logarithm_from(Per);
  static_assert(Per == 1 << bits);
  /// Items of shared memory that a block needs. Results lie there with a gap after every 32, so that threads which read
  /// or write `Per` items apart meet in few banks.
  static constexpr int room = block_threads * Per + block_threads * Per / 32;

  int lanes, thread;
  Item* shared;

  __device__ ONTO_INLINE void sort(Item (&items)[Per]) const {
    ONTO_UNROLL
    for (int b = 1; b <= bits; ++b) {
      merge_in_thread(items, b);
      settle_in_thread(items, b - 1);
    }
    ONTO_NO_UNROLL
    for (int half = 1; half < lanes; half *= 2) {
      join<true>(items, 2 * half - 1, (thread & half) == 0);
      ONTO_NO_UNROLL
      for (int far = half / 2; far > 0; far /= 2) join<false>(items, far, (thread & far) == 0);
      settle_in_thread(items, bits);
    }
  }

  /// Hands sorted items on, so that neighbouring threads of a row have neighbouring ones: thread `l` has those at `l`,
  /// `l + lanes`, ...
  __device__ ONTO_INLINE void stripe(Item (&items)[Per]) const {
    const int lane = thread & (lanes - 1), first = (thread - lane) * Per;
    __syncthreads();  // what others have in shared memory has been read
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k) device_store(shared + place(thread * Per + k), items[k]);
    __syncthreads();
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k) items[k] = device_load(shared + place(first + k * lanes + lane));
  }
  /// Item `k` of a row that all threads of the block sorted, after `stripe` and until the next sort.
  __device__ ONTO_INLINE Item number(int k) const { return device_load(shared + place(k)); }

 private:
  __device__ ONTO_INLINE static int place(int k) { return k + k / 32; }
  __device__ ONTO_INLINE static void order(Item& a, Item& b) {
    const Item less = b < a ? b : a, more = b < a ? a : b;
    a = less;
    b = more;
  }
  /// Of each 2^b items the first with the last, the second with the one before that, ...
  __device__ ONTO_INLINE static void merge_in_thread(Item (&items)[Per], int b) {
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k)
      if ((k ^ ((1 << b) - 1)) > k) order(items[k], items[k ^ ((1 << b) - 1)]);
  }
  /// Those that are 2^(b - 1) apart, then half as far, ...
  __device__ ONTO_INLINE static void settle_in_thread(Item (&items)[Per], int b) {
    ONTO_UNROLL
    for (int far = bits - 1; far >= 0; --far)
      if (far < b) {
        ONTO_UNROLL
        for (int k = 0; k < Per; ++k)
          if ((k & (1 << far)) == 0) order(items[k], items[k | (1 << far)]);
      }
  }

  /// Compares with the thread whose number differs in the bits of `mask`: the lower of the two keeps what is less.
  /// `Turned`: each item with that of the same distance from the other's end.
  template <bool Turned>
  __device__ ONTO_INLINE void join(Item (&items)[Per], int mask, bool lower) const {
    constexpr int warp = 32;
    Item others[Per];
    if (mask < warp) {
      ONTO_UNROLL
      for (int k = 0; k < Per; ++k) {
        state_words<Item> w = state_words<Item>::of(items[Turned ? Per - 1 - k : k]);
        for (int i = 0; i < w.count; ++i) w.word[i] = __shfl_xor_sync(0xffffffffu, w.word[i], mask);
        others[k] = w.state();
      }
    } else {
      __syncthreads();
      ONTO_UNROLL
      for (int k = 0; k < Per; ++k) device_store(shared + k * block_threads + thread, items[k]);
      __syncthreads();
      ONTO_UNROLL
      for (int k = 0; k < Per; ++k)
        others[k] = device_load(shared + (Turned ? Per - 1 - k : k) * block_threads + (thread ^ mask));
    }
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k)
      if ((others[k] < items[k]) == lower) items[k] = others[k];
  }
};

}  // namespace onto::detail
