// SPDX-License-Identifier: BSL-1.0
// Sorts on the GPU: in long rows keys of the elements are written row after row, sorted by CUB's radix sorts, which
// keep the order of equal keys, and made elements again; the others are sorted by threads of a block, and where few
// elements are asked for selected. nvcc takes seconds to read CUB: <onto/sort.hpp> includes this, and nothing else
// does.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/check.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/select_rows.hpp>
#include <onto/backend/cuda/sort_rows.hpp>
#include <onto/backend/cuda/sort_space.hpp>
#include <onto/runtime/kernel.hpp>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// The keys of all rows, one after another, and the numbers of their elements.
template <class Rule, class T>
__global__ void __launch_bounds__(block_threads)
    sort_keys_kernel(const __grid_constant__ sort_space s, const T* in, typename cuda_sorting<Rule, T>::key* keys,
                     std::uint32_t* numbers) {
  const std::int64_t n = s.length.divisor, size = s.rows.size * n;
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < size; k += threads) {
    const std::int64_t row = s.length.divide(k), at = k - row * n;
    device_store(keys + k, cuda_sorting<Rule, T>::key_at(s, in, row, at));
    if (numbers) device_store(numbers + k, static_cast<std::uint32_t>(at));
  }
}

/// The results of sorted rows.
template <class Rule, class T>
__global__ void __launch_bounds__(block_threads)
    sorted_kernel(const __grid_constant__ sort_space s, const typename cuda_sorting<Rule, T>::key* keys,
                  const std::uint32_t* numbers, typename cuda_sorting<Rule, T>::result* out) {
  using how = cuda_sorting<Rule, T>;
  const std::int64_t n = s.length.divisor, count = s.count.divisor, size = s.rows.size * count;
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < size; k += threads) {
    const std::int64_t row = s.count.divide(k), at = k - row * count, from = row * n + at;
    if constexpr (how::rule::numbers)
      device_store(out + s.place(1, row, at), how::result_of({}, device_load(numbers + from)));
    else
      device_store(out + s.place(1, row, at), how::result_of(device_load(keys + from), 0));
  }
}

/// Where rows of `length` elements begin, or end.
struct row_edges {
  int length, first;

  template <class Index>
  ONTO_HD int operator[](Index row) const {
    return static_cast<int>(row) * length + first;
  }
};

/// What a sort by CUB needs of the workspace: keys and numbers before and after, and CUB's own. Rows are sorted one
/// after another, each by the whole GPU, where they are few; else a block sorts a row.
template <class Rule, class T>
class cub_sort {
 public:
  using how = cuda_sorting<Rule, T>;
  using key = typename how::key;
  static constexpr bool numbered = how::rule::numbers;
  static constexpr std::int64_t few_rows = 8;
  static constexpr std::int64_t most_of_a_call = std::int64_t{1} << 30;  // elements: CUB counts those of rows in an int

  explicit cub_sort(const kernel_call& call) : call_(call), s_(sort_space_of(call)) {}

  /// *Effects* asks CUB, for the device that is current.
  std::size_t workspace() const {
    if (s_.empty() || by_threads<Rule, T>(s_)) return 0;
    std::size_t bytes = 0;
    ask(nullptr, nullptr, bytes, 0, rows_of_a_call(), nullptr);
    return 2 * keys_bytes() + 2 * numbers_bytes() + bytes;
  }

  void run(cudaStream_t stream) const {
    if (s_.empty()) return;
    auto* const out = static_cast<typename how::result*>(call_.out.data);
    const auto* const in = static_cast<const T*>(call_.in[0].data);
    if (by_threads<Rule, T>(s_)) return sort_rows<Rule>(stream, s_, in, out);
    auto* const room = static_cast<char*>(call_.workspace);
    if (!room) throw internal_error("[onto.cuda] a sort was launched without its workspace");
    launch(stream, "a sort", &sort_keys_kernel<Rule, T>, blocks_for(s_.size()), s_, in, keys(room, 0),
           numbers(room, 0));
    const std::size_t before = 2 * keys_bytes() + 2 * numbers_bytes();
    const auto given = static_cast<std::size_t>(call_.workspace_bytes);
    for (std::int64_t row = 0; row < s_.rows.size; row += rows_of_a_call()) {
      std::size_t bytes = given > before ? given - before : 0;
      ask(room, room + before, bytes, row, least(rows_of_a_call(), s_.rows.size - row), stream);
    }
    launch(stream, "a sort", &sorted_kernel<Rule, T>, blocks_for(s_.rows.size * s_.count.divisor), s_, keys(room, 1),
           numbers(room, 1), out);
  }

 private:
  std::size_t keys_bytes() const { return aligned_bytes(s_.size(), sizeof(key)); }
  std::size_t numbers_bytes() const { return numbered ? aligned_bytes(s_.size(), sizeof(std::uint32_t)) : 0; }
  /// Before (0) and after (1).
  key* keys(char* room, std::size_t which) const { return reinterpret_cast<key*>(room + which * keys_bytes()); }
  std::uint32_t* numbers(char* room, std::size_t which) const {
    if (!numbered) return nullptr;
    return reinterpret_cast<std::uint32_t*>(room + 2 * keys_bytes() + which * numbers_bytes());
  }
  bool by_block() const { return s_.rows.size >= few_rows && s_.length.divisor <= most_of_a_call; }
  std::int64_t rows_of_a_call() const {
    return by_block() ? least(s_.rows.size, most_of_a_call / s_.length.divisor) : 1;
  }

  /// Asks CUB for a sort of some rows; where `workspace` is null, for the bytes that it needs.
  void ask(char* room, void* workspace, std::size_t& bytes, std::int64_t row, std::int64_t rows,
           cudaStream_t stream) const {
    constexpr int bits = static_cast<int>(8 * sizeof(key));
    const std::int64_t n = s_.length.divisor, first = row * n;
    const key* const from = room ? keys(room, 0) + first : nullptr;
    key* const to = room ? keys(room, 1) + first : nullptr;
    [[maybe_unused]] const std::uint32_t* const number = room && numbered ? numbers(room, 0) + first : nullptr;
    [[maybe_unused]] std::uint32_t* const sorted = room && numbered ? numbers(room, 1) + first : nullptr;
    // CUB asks for the last error, which may be an earlier one of the program's: a launch is judged by its own.
    (void)cudaGetLastError();
    if (by_block()) {
      const int length = static_cast<int>(n), count = static_cast<int>(rows);
      const row_edges begins{length, 0}, ends{length, length};
      if constexpr (numbered)
        cuda_check(cub::DeviceSegmentedRadixSort::SortPairs(workspace, bytes, from, to, number, sorted, length * count,
                                                            count, begins, ends, 0, bits, stream),
                   "cub::DeviceSegmentedRadixSort::SortPairs");
      else
        cuda_check(cub::DeviceSegmentedRadixSort::SortKeys(workspace, bytes, from, to, length * count, count, begins,
                                                           ends, 0, bits, stream),
                   "cub::DeviceSegmentedRadixSort::SortKeys");
    } else if constexpr (numbered) {
      cuda_check(cub::DeviceRadixSort::SortPairs(workspace, bytes, from, to, number, sorted, n, 0, bits, stream),
                 "cub::DeviceRadixSort::SortPairs");
    } else {
      cuda_check(cub::DeviceRadixSort::SortKeys(workspace, bytes, from, to, n, 0, bits, stream),
                 "cub::DeviceRadixSort::SortKeys");
    }
  }

  const kernel_call& call_;
  sort_space s_;
};

/// Bytes of device memory that `cuda_sort` needs for the call on the device that is current.
template <bool Descending, bool Numbers, class T>
std::size_t cuda_sort_workspace(const kernel_call& call) {
  return cub_sort<sorting<Descending, Numbers>, T>(call).workspace();
}

/// Sorts the call's operand along the axis that its operation names: the CPU's results.
/// *Throws* `internal_error` where CUB cannot launch its kernels.
template <bool Descending, bool Numbers, class T>
void cuda_sort(gpu_context& context, const kernel_call& call) {
  cub_sort<sorting<Descending, Numbers>, T>(call).run(context.stream);
}

/// The same for the first few of each row, of short keys: long rows are selected from, not sorted.
template <bool Descending, class T>
std::size_t cuda_top_k_workspace(const kernel_call& call) {
  const sort_space s = sort_space_of(call);
  return s.empty() || by_threads<sorting<Descending, true>, T>(s) ? 0 : selection_workspace(s);
}
template <bool Descending, class T>
void cuda_top_k(gpu_context& context, const kernel_call& call) {
  using rule = sorting<Descending, true>;
  const sort_space s = sort_space_of(call);
  const auto* const in = static_cast<const T*>(call.in[0].data);
  auto* const out = static_cast<std::int64_t*>(call.out.data);
  if (s.empty()) return;
  if (by_threads<rule, T>(s)) return sort_rows<rule>(context.stream, s, in, out);
  if (selection_workspace(s) > 0 && !call.workspace)
    throw internal_error("[onto.cuda] a selection was launched without its workspace");
  select_rows<rule>(context.stream, s, in, out, call.workspace);
}

template <bool Descending, bool Numbers>
struct cuda_sort_kernels {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cuda_sort<Descending, Numbers, T>>, &cuda_sort_workspace<Descending, Numbers, T>};
  }
};
template <int Axis, bool Descending>
struct operation_kernels<op::sort<Axis, Descending>, cuda_backend> : cuda_sort_kernels<Descending, false> {};
template <int Axis, bool Descending, int Count>
struct operation_kernels<op::argsort<Axis, Descending, Count>, cuda_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    if constexpr (Count != dyn && Count <= most_selected && sizeof(T) <= 4)
      return {&run_in_stream<&cuda_top_k<Descending, T>>, &cuda_top_k_workspace<Descending, T>};
    else
      return cuda_sort_kernels<Descending, true>::template kernel<T>();
  }
};

}  // namespace onto::detail

#endif  // ONTO_CUDA
