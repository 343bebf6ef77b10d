// SPDX-License-Identifier: BSL-1.0
// Sums of integers by number, on the GPU, by atomic additions: integers wrap, so that no order of additions can be told
// from another. Nothing is sorted. Few sums are added up by each block in counters of its own in shared memory, of
// which neighbouring threads have others; a thread that comes to one sum several times in a row adds to it once.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/number_groups.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// Whether the operation sums up integers by the numbers of rows, to results that GPUs add to at once.
template <class Op, class T>
inline constexpr bool sums_integers = false;
template <class T>
inline constexpr bool sums_integers<op::scatter<true>, T> = std::is_integral_v<T> && sizeof(T) >= 4;
template <int N, class T>
inline constexpr bool sums_integers<op::segment_sum<N>, T> = std::is_integral_v<T>;

/// No numbers: an element of the result is what it begins with.
struct no_numbers {
  template <class Groups, class Access, class F>
  ONTO_HD ONTO_INLINE void of_group(const indexed_call&, std::int64_t, const F&) const {}
};

/// How additions are spread over threads: each stays in a column, and goes through every `numbers_at_once`-th number.
struct integer_sums {
  index_divisor columns;
  std::int64_t count;  // of numbers
  std::int64_t numbers_at_once;
  std::int64_t counters;  // of a block; 0: it has none, and adds to the result
  std::uint32_t copies;   // of each counter; a power of two
  std::int64_t blocks;
};

/// *Preconditions* there are updates. `sums`: elements of the result.
constexpr integer_sums arrange_integer_sums(std::int64_t count, std::int64_t columns, std::int64_t sums) {
  constexpr std::int64_t most_counters = 4096, warp = 32;
  constexpr std::int64_t updates_of_counters = 16, updates_of_thread = 4;
  integer_sums g{};
  g.columns = index_divisor(columns);
  g.count = count;
  g.counters = sums <= most_counters ? sums : 0;
  g.copies = 1;
  while (g.counters > 0 && g.copies < warp && 2 * g.copies * g.counters <= most_counters) g.copies *= 2;
  // Counters are set and given back by each block, which is worth it for many updates alone.
  const std::int64_t each = block_threads * (g.counters > 0 ? updates_of_counters : updates_of_thread);
  g.blocks = least(divide_up(count * columns, each), g.counters > 0 ? enough_blocks : 4 * enough_blocks);
  g.numbers_at_once = greatest(g.blocks * block_threads / columns, 1);
  return g;
}

/// Bytes of shared memory of a block: 32-bit words, which GPUs add to in shared memory without trying again; the upper
/// halves of 64 bits are behind the lower ones.
constexpr std::size_t counter_bytes(const integer_sums& g, std::size_t word) {
  return static_cast<std::size_t>(g.counters * g.copies) * word;
}

/// Adds to a counter whose upper half, of 64 bits, is `upper` words behind it.
template <class Word>
__device__ ONTO_INLINE void add_to_counter(std::uint32_t* counter, [[maybe_unused]] std::int64_t upper, Word x) {
  const auto low = static_cast<std::uint32_t>(x);
  if constexpr (sizeof(Word) == 4) {
    device_add(counter, low);
  } else {
    const std::uint32_t carry = device_add(counter, low) + low < low ? 1 : 0;
    const std::uint32_t high = static_cast<std::uint32_t>(x >> 32) + carry;
    if (high != 0) device_add(counter + upper, high);
  }
}

/// Adds the updates to the result, which has what its elements begin with.
template <class Op, class T, class Word>
__global__ void __launch_bounds__(block_threads)
    integer_sums_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ integer_sums g, Word* out) {
  using groups = number_groups<Op, T>;
  constexpr int together = 4;
  auto* const counters = reinterpret_cast<std::uint32_t*>(dynamic_shared());
  const std::int64_t words = g.counters * g.copies, columns = g.columns.divisor;
  if (g.counters > 0) {
    for (std::int64_t k = threadIdx.x; k < words * static_cast<std::int64_t>(sizeof(Word) / 4); k += block_threads)
      device_store(counters + k, std::uint32_t{0});
    __syncthreads();
  }
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  const std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  const std::int64_t first_number = g.columns.divide(first);
  for (std::int64_t column = first - first_number * columns; column < columns; column += threads) {
    const T* const updates =
        static_cast<const T*>(groups::updates(c).data) + element_in_row(c, groups::updates(c), column).offset;
    std::int64_t to = -1;  // the row whose sum `sum` belongs to
    Word sum = 0;
    const auto add = [&] {
      if (to < 0 || sum == 0) return;
      const std::int64_t element = to * columns + column;
      if (g.counters > 0)
        add_to_counter(counters + element * g.copies + (threadIdx.x & (g.copies - 1)), words, sum);
      else
        device_add(out + element, sum);
    };
    const std::int64_t end = first_number < g.numbers_at_once ? g.count : 0;
    for (std::int64_t number = first_number; number < end; number += together * g.numbers_at_once) {
      // So many loads are under way at once.
      std::int64_t row[together];
      Word update[together];
      for (int k = 0; k < together; ++k) {
        const std::int64_t at = number + k * g.numbers_at_once;
        update[k] = at < end ? static_cast<Word>(device_load(updates + groups::offset(c, at))) : 0;
      }
      groups_of<groups, device_access>(c, number, g.numbers_at_once, end, row);
      for (int k = 0; k < together; ++k) {
        if (row[k] < 0) continue;
        if (row[k] != to) {
          add();
          to = row[k];
          sum = 0;
        }
        sum += update[k];
      }
    }
    add();
  }
  if (g.counters == 0) return;
  __syncthreads();
  for (std::int64_t k = threadIdx.x; k < g.counters; k += block_threads) {
    Word all = 0;
    for (std::int64_t w = k * g.copies; w < (k + 1) * g.copies; ++w) {
      all += device_load(counters + w);
      if constexpr (sizeof(Word) == 8) all += Word{device_load(counters + words + w)} << 32;
    }
    if (all != 0) device_add(out + k, all);
  }
}

/// *Preconditions* the result, which `out` is, has what its elements begin with, and has elements.
template <class Op, class T, class Result>
void add_integers(cudaStream_t stream, const char* what, const indexed_call& c, Result* out) {
  using groups = number_groups<Op, T>;
  using word = std::make_unsigned_t<Result>;
  static_assert(sizeof(word) == 4 || sizeof(word) == 8);
  if (groups::count(c) == 0) return;
  const integer_sums g = arrange_integer_sums(groups::count(c), groups::inner(c), c.size);
  launch(stream, what, &integer_sums_kernel<Op, T, word>,
         {dim3(static_cast<unsigned>(g.blocks)), counter_bytes(g, sizeof(word))}, c, g, reinterpret_cast<word*>(out));
}

}  // namespace onto::detail

#endif  // ONTO_CUDA
