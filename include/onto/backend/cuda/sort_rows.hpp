// SPDX-License-Identifier: BSL-1.0
// Sorts of rows on the GPU that threads of one block hold in their registers: some threads a row, many rows a block, or
// a block a row.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/sort_network.hpp>
#include <onto/backend/cuda/sort_space.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// What is sorted as one whole number: a key and behind it the number of its element in the row, where that is asked
/// for. So no two are equal but those of which each may stand for the other.
template <class Rule, class T>
struct network_item {
  using how = cuda_sorting<Rule, T>;
  using key = typename how::key;
  static constexpr bool numbered = Rule::numbers;
  using type =
      std::conditional_t<!numbered, std::conditional_t<(sizeof(key) > 4), std::uint64_t, std::uint32_t>,
                         std::conditional_t<(sizeof(key) > 4), wide_index,
                                            std::conditional_t<(sizeof(key) > 2), std::uint64_t, std::uint32_t>>>;
  static constexpr int bits_of_number = !numbered ? 0 : sizeof(key) > 2 ? 32 : 16;
  /// After every item of a row, or equal to it.
  static constexpr type last = static_cast<type>(~type{0});

  ONTO_HD ONTO_INLINE static type of(key k, [[maybe_unused]] std::int64_t number) {
    if constexpr (numbered)
      return (static_cast<type>(k) << bits_of_number) | static_cast<type>(number);
    else
      return k;
  }
  ONTO_HD ONTO_INLINE static typename how::result result(type x) {
    constexpr auto mask = (type{1} << bits_of_number) - 1;
    return how::result_of(static_cast<key>(x >> bits_of_number), static_cast<std::int64_t>(x & mask));
  }
};

/// Items of a thread. With many, more of the comparisons are between registers of one: of 1024 elements, half as many
/// instructions an element. With few, more threads share the work.
inline constexpr int few_items = 4, many_items = 16;
/// Elements of a row, and of all, from which many are better: rows of some threads each, on every multiprocessor.
inline constexpr std::int64_t length_for_many = 256, size_for_many = 2 * few_blocks * block_threads * many_items;
/// Elements of the longest row that a block sorts by itself. Many items of 16 bytes are more than it has registers for.
template <class Rule, class T>
inline constexpr bool may_have_many = sizeof(typename network_item<Rule, T>::type) <= 8;
template <class Rule, class T>
inline constexpr std::int64_t longest_of_threads = block_threads*(may_have_many<Rule, T> ? many_items : few_items);

/// `bits`: the logarithm of the threads of a row.
template <class Rule, class T, int Per>
__global__ void __launch_bounds__(block_threads)
    sort_rows_kernel(const __grid_constant__ sort_space s, int bits, const T* in,
                     typename cuda_sorting<Rule, T>::result* out) {
  using item = network_item<Rule, T>;
  using network = sorting_network<typename item::type, Per>;
  const int thread = static_cast<int>(threadIdx.x), lanes = 1 << bits, lane = thread & (lanes - 1);
  const network sorter{lanes, thread, shared_array<typename item::type, network::room>()};
  const int n = static_cast<int>(s.length.divisor), count = static_cast<int>(s.count.divisor);
  const std::int64_t rows = s.rows.size, step = std::int64_t{gridDim.x} * (block_threads >> bits);
  for (std::int64_t first = std::int64_t{blockIdx.x} * (block_threads >> bits); first < rows; first += step) {
    const std::int64_t row = first + (thread >> bits);
    std::int64_t start[2] = {};
    add_offsets(s.rows, least(row, rows - 1), start);
    // All is read before anything is made of it, and what is beyond the end is read at the end: a load that a branch
    // goes around waits for the one before.
    T values[Per];
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k) {
      const int at = k * lanes + lane;
      values[k] = device_load(in + start[0] + (at < n ? at : n - 1) * s.stride[0]);
    }
    typename item::type items[Per];
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k) {
      const int at = k * lanes + lane;
      const auto x = item::of(cuda_sorting<Rule, T>::order::key(values[k]), at);
      items[k] = x | (at < n ? typename item::type{0} : item::last);
    }
    sorter.sort(items);
    sorter.stripe(items);
    ONTO_UNROLL
    for (int k = 0; k < Per; ++k) {
      const int at = k * lanes + lane;
      if (row < rows && at < count) device_store(out + start[1] + at * s.stride[1], item::result(items[k]));
    }
  }
}

/// *Preconditions* rows of at most `Per` items for each thread of a block.
template <class Rule, class T, int Per>
void sort_rows_with(cudaStream_t stream, const sort_space& s, const T* in,
                    typename cuda_sorting<Rule, T>::result* out) {
  const int bits = logarithm_from(divide_up(s.length.divisor, Per));
  launch(stream, "a sort", &sort_rows_kernel<Rule, T, Per>,
         {grid_blocks(divide_up(s.rows.size, block_threads >> bits))}, s, bits, in, out);
}

/// Whether threads of a block sort a row by themselves.
template <class Rule, class T>
bool by_threads(const sort_space& s) {
  return s.length.divisor <= longest_of_threads<Rule, T>;
}
/// Sorts such rows.
template <class Rule, class T>
void sort_rows(cudaStream_t stream, const sort_space& s, const T* in, typename cuda_sorting<Rule, T>::result* out) {
  const std::int64_t n = s.length.divisor;
  if constexpr (may_have_many<Rule, T>)
    if (n > block_threads * few_items || (n >= length_for_many && s.size() >= size_for_many))
      return sort_rows_with<Rule, T, many_items>(stream, s, in, out);
  sort_rows_with<Rule, T, few_items>(stream, s, in, out);
}

}  // namespace onto::detail

#endif  // ONTO_CUDA
