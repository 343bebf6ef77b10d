// SPDX-License-Identifier: BSL-1.0
// Numbers of elements sorted into their groups on the GPU, by CUB's radix sort, which keeps the order within each. nvcc
// takes seconds to read CUB.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/check.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/number_groups.hpp>

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
    const std::int64_t group = group_of<Groups, device_access>(c, k);
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

/// Sorts the numbers of an operation into its groups.
class number_sort {
 public:
  number_sort(std::int64_t count, std::int64_t groups) : count_(count), groups_(groups) {}

  /// Whether numbers are so few that each element of the result looks at all of them.
  bool few() const { return count_ <= 64; }
  /// Whether sorting pays, and can be done.
  bool sorts() const {
    constexpr std::int64_t most = 0xffffffff;
    return !few() && count_ <= most && groups_ < most;
  }

  /// Bytes of device memory, a multiple of 256. *Effects* asks CUB, for the device that is current.
  std::size_t workspace() const {
    if (!sorts()) return 0;
    std::size_t bytes = 0;
    ask(nullptr, nullptr, bytes, nullptr);
    return own_bytes() + aligned_bytes(static_cast<std::int64_t>(bytes));
  }

  std::uint32_t* groups(char* room) const { return part(room, 0); }
  std::uint32_t* numbers(char* room) const { return part(room, 1); }

  sorted_numbers run(char* room, std::int64_t room_bytes, cudaStream_t stream) const {
    const auto given = static_cast<std::size_t>(room_bytes);
    std::size_t bytes = given > own_bytes() ? given - own_bytes() : 0;
    ask(room, room + own_bytes(), bytes, stream);
    launch(stream, "groups of numbers", &group_starts_kernel<std::uint32_t>, blocks_for(groups_ + 1), count_, groups_,
           part(room, 2), part(room, 4));
    return {part(room, 3), part(room, 4), part(room, 2)};
  }

 private:
  static std::size_t padded(std::int64_t numbers) { return aligned_bytes(numbers, sizeof(std::uint32_t)); }
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

}  // namespace onto::detail

#endif  // ONTO_CUDA
