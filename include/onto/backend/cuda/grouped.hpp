// SPDX-License-Identifier: BSL-1.0
// Scatters, segment sums and gradients of reads on the GPU: numbers are sorted into groups by CUB's radix sort, which
// keeps the order within each, and an element goes through those of its own group. No atomic operation, and the same
// bits in every run. nvcc takes seconds to read CUB: <onto/indexing.hpp> includes this, and onto.hpp does not.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/block_fold.hpp>
#include <onto/backend/cuda/check.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/number_groups.hpp>
#include <onto/runtime/kernel.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// The groups of numbers, and the numbers. One that is in no group comes after all.
template <class Groups>
__global__ void __launch_bounds__(block_threads)
    group_kernel(const __grid_constant__ indexed_call c, std::uint32_t* groups, std::uint32_t* numbers) {
  const std::int64_t count = Groups::count(c), threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < count; k += threads) {
    const std::int64_t group = Groups::template group<device_access>(c, k);
    device_store(groups + k, static_cast<std::uint32_t>(group < 0 ? Groups::groups(c) : group));
    device_store(numbers + k, static_cast<std::uint32_t>(k));
  }
}

/// Where each group begins among `count` sorted ones, and where the last ends.
template <class Number>
__global__ void __launch_bounds__(block_threads)
    group_starts_kernel(std::int64_t count, std::int64_t groups, const Number* sorted, Number* starts) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t g = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; g <= groups; g += threads) {
    std::int64_t first = 0, behind = count;
    while (first < behind) {
      const std::int64_t middle = (first + behind) / 2;
      if (device_load(sorted + middle) < static_cast<Number>(g))
        first = middle + 1;
      else
        behind = middle;
    }
    device_store(starts + g, static_cast<Number>(first));
  }
}

/// A thread an element of the result.
template <class Op, class T, class Numbers, class Result>
__global__ void __launch_bounds__(block_threads)
    grouped_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ Numbers numbers, Result* out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < c.size; k += threads)
    device_store(out + k, (element_of_group<Op, T>::template at<device_access>(c, numbers, k)));
}

/// A block an element: where groups are long, or elements few.
template <class Op, class T, class Result>
__global__ void __launch_bounds__(block_threads)
    long_groups_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ sorted_numbers sorted,
                       Result* out) {
  using groups = number_groups<Op, T>;
  using rule = typename groups::rule;
  using kept = typename rule::state;
  const thread_grid grid(1, block_threads, true);
  const int thread = static_cast<int>(threadIdx.x);
  auto* const slots = shared_array<state_words<kept>, block_threads / 32>();
  const std::int64_t k = blockIdx.x;
  const grouped_element e = groups::element(c, k);
  const std::int64_t begin = device_load(sorted.start + e.group), end = device_load(sorted.start + e.group + 1);
  kept s = thread == 0 ? groups::template first<device_access>(c, k) : rule::none();
  for (std::int64_t at = begin + thread; at < end; at += block_threads) {
    const std::int64_t number = device_load(sorted.number + at);
    rule::add(s, element_at<T, device_access>(groups::updates(c), e.offset + groups::offset(c, number)));
  }
  s = fold_block<rule>(s, slots, grid, thread);
  if (thread == 0) device_store(out + k, rule::finish(s));
}

/// Sorts the numbers of an operation into its groups.
class number_sort {
 public:
  static constexpr std::int64_t few = 64;  // numbers of which each element looks at all
  static constexpr std::int64_t most = std::int64_t{0xffffffff};

  number_sort(std::int64_t count, std::int64_t groups) : count_(count), groups_(groups) {}

  /// Whether sorting pays, and can be done.
  bool sorts() const { return count_ > few && count_ <= most && groups_ < most; }

  /// Bytes of device memory. *Effects* asks CUB, for the device that is current.
  std::size_t workspace() const {
    if (!sorts()) return 0;
    std::size_t bytes = 0;
    ask(nullptr, nullptr, bytes, nullptr);
    return own_bytes() + bytes;
  }

  std::uint32_t* groups(char* room) const { return part(room, 0); }
  std::uint32_t* numbers(char* room) const { return part(room, 1); }

  sorted_numbers run(char* room, std::int64_t room_bytes, cudaStream_t stream) const {
    const auto given = static_cast<std::size_t>(room_bytes);
    std::size_t bytes = given > own_bytes() ? given - own_bytes() : 0;
    ask(room, room + own_bytes(), bytes, stream);
    launch(stream, "groups of numbers", &group_starts_kernel<std::uint32_t>, blocks_for(groups_ + 1), count_, groups_,
           part(room, 2), part(room, 4));
    return {part(room, 3), part(room, 4)};
  }

 private:
  static std::size_t padded(std::int64_t numbers) {
    return static_cast<std::size_t>(divide_up(numbers * static_cast<std::int64_t>(sizeof(std::uint32_t)), 256) * 256);
  }
  /// Groups and numbers, the same sorted, and where groups begin.
  std::uint32_t* part(char* room, std::size_t which) const {
    return room ? reinterpret_cast<std::uint32_t*>(room + which * padded(count_)) : nullptr;
  }
  std::size_t own_bytes() const { return 4 * padded(count_) + padded(groups_ + 1); }

  /// Asks CUB for the sort; where `workspace` is null, for the bytes that it needs.
  void ask(char* room, void* workspace, std::size_t& bytes, cudaStream_t stream) const {
    const int bits = groups_ > 1 ? logarithm_from(groups_ + 1) : 1;
    (void)cudaGetLastError();  // CUB asks for it, and it may be of an earlier call of the program's
    cuda_check(
        cub::DeviceRadixSort::SortPairs<std::uint32_t, std::uint32_t>(
            workspace, bytes, part(room, 0), part(room, 2), part(room, 1), part(room, 3), count_, 0, bits, stream),
        "cub::DeviceRadixSort::SortPairs");
  }

  std::int64_t count_, groups_;
};

/// *Preconditions* the result has elements.
template <class Op, class T>
number_sort number_sort_of(const indexed_call& c) {
  return {number_groups<Op, T>::count(c), number_groups<Op, T>::groups(c)};
}

/// Bytes of device memory that `cuda_grouped` needs for the call on the device that is current.
template <class Op, class T>
std::size_t cuda_grouped_workspace(const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return 0;
  return number_sort_of<Op, T>(indexed_call_of(call)).workspace();
}

/// The call's operation over operands of type `T`.
/// *Throws* `internal_error` where CUB cannot launch its kernels.
/// *Complexity* linear in the numbers and in what the result and its updates have of elements.
template <class Op, class T>
void cuda_grouped(gpu_context& context, const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return;
  using groups = number_groups<Op, T>;
  using result = decltype(element_of_group<Op, T>::template at<device_access>(indexed_call{}, unsorted_numbers{}, 0));
  const indexed_call c = indexed_call_of(call);
  const number_sort sort = number_sort_of<Op, T>(c);
  auto* const out = static_cast<result*>(call.out.data);
  const char* const what = "an operation by index";
  if (!sort.sorts())
    return launch(context.stream, what, &grouped_kernel<Op, T, unsorted_numbers, result>, blocks_for(c.size), c,
                  unsorted_numbers{}, out);
  auto* const room = static_cast<char*>(call.workspace);
  if (!room) throw internal_error("[onto.cuda] a scatter was launched without its workspace");
  const std::int64_t count = groups::count(c);
  launch(context.stream, what, &group_kernel<groups>, blocks_for(count), c, sort.groups(room), sort.numbers(room));
  const sorted_numbers sorted = sort.run(room, call.workspace_bytes, context.stream);
  if constexpr (!groups::rule::replaces) {
    constexpr std::int64_t long_group = 64, few_elements = 16 * enough_blocks;
    if (c.size <= few_elements || (count / groups::groups(c) >= long_group && c.size <= most_blocks))
      return launch(context.stream, what, &long_groups_kernel<Op, T, result>, {grid_blocks(c.size)}, c, sorted, out);
  }
  launch(context.stream, what, &grouped_kernel<Op, T, sorted_numbers, result>, blocks_for(c.size), c, sorted, out);
}

template <class Op>
struct cuda_grouping {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cuda_grouped<Op, T>>, &cuda_grouped_workspace<Op, T>};
  }
};

template <bool Add>
struct operation_kernels<op::scatter<Add>, cuda_backend> : cuda_grouping<op::scatter<Add>> {};
template <int N>
struct operation_kernels<op::segment_sum<N>, cuda_backend> : cuda_grouping<op::segment_sum<N>> {};
template <class Read>
struct operation_kernels<op::gather_gradient<Read>, cuda_backend> : cuda_grouping<op::gather_gradient<Read>> {};
template <>
struct operation_kernels<op::scatter_gradient<op::scatter<false>>, cuda_backend>
    : cuda_grouping<op::scatter_gradient<op::scatter<false>>> {};

}  // namespace onto::detail

#endif  // ONTO_CUDA
