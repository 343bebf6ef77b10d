// SPDX-License-Identifier: BSL-1.0
// CUB's radix sort as far as the library uses it, by one thread of an emulated GPU: stable, from one array to another.
// Stands in the place of the toolkit's header of this name.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cub {

namespace emulation {

template <class T>
T load(const T* p) {
  return *static_cast<const T*>(cuda_emulation::readable(p, sizeof(T), alignof(T)));
}
template <class T>
void store(T* p, T value) {
  *static_cast<T*>(cuda_emulation::writable(p, sizeof(T), alignof(T))) = value;
}

/// Sorts rows that begin and end where `begins` and `ends` say by the lowest bits of their keys. CUB may use what it is
/// given to write to on the way, so that it must be apart from what it reads, and all of its workspace.
template <class Key, class Value, class Begins, class Ends>
void sort_rows(char* workspace, std::size_t bytes, const Key* keys, Key* sorted, const Value* values,
               Value* sorted_values, int rows, Begins begins, Ends ends, int bits) {
  const auto low = [&](Key key) { return static_cast<Key>(key << (8 * sizeof(Key) - static_cast<std::size_t>(bits))); };
  for (std::size_t b = 0; b < bytes; ++b) store(workspace + b, char{0});
  for (int r = 0; r < rows; ++r) {
    const std::int64_t first = begins[r], last = ends[r];
    for (std::int64_t k = first; k < last; ++k) store(sorted + k, Key{0});
    for (std::int64_t k = first; k < last && values; ++k) store(sorted_values + k, Value{0});
    std::vector<std::int64_t> order;
    for (std::int64_t k = first; k < last; ++k) order.push_back(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return low(load(keys + a)) < low(load(keys + b)); });
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t from = order[static_cast<std::size_t>(k - first)];
      store(sorted + k, load(keys + from));
      if (values) store(sorted_values + k, load(values + from));
    }
  }
}

/// The bytes that a sort needs: of another number on each device, as policies differ with the architecture.
inline cudaError_t bytes_of_sort(std::int64_t items, int rows, std::size_t& bytes) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  bytes = 256 * (1 + static_cast<std::size_t>(device)) + static_cast<std::size_t>(items) / 16 +
          static_cast<std::size_t>(rows);
  return status;
}

template <class Key, class Value, class Begins, class Ends>
cudaError_t sort(void* workspace, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values,
                 Value* sorted_values, std::int64_t items, int rows, Begins begins, Ends ends, int bits,
                 cudaStream_t stream) {
  std::size_t needed = 0;
  cudaError_t status = bytes_of_sort(items, rows, needed);
  if (status != cudaSuccess) return status;
  if (!workspace) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed || bits <= 0 || bits > static_cast<int>(8 * sizeof(Key))) return cudaErrorInvalidValue;
  // As CUB, which tells of whatever went wrong last on this thread.
  if (status = cudaPeekAtLastError(); status != cudaSuccess) return status;
  cudaLaunchConfig_t one_thread{};
  one_thread.gridDim = one_thread.blockDim = dim3(1);
  one_thread.stream = stream;
  return cuda_emulation::launch(one_thread, &sort_rows<Key, Value, Begins, Ends>, static_cast<char*>(workspace), needed,
                                keys, sorted, values, sorted_values, rows, begins, ends, bits);
}

/// One row: from 0, and to the number of items.
struct edge {
  std::int64_t at;
  std::int64_t operator[](int) const { return at; }
};

}  // namespace emulation

struct DeviceRadixSort {
  template <class Key, class Items>
  static cudaError_t SortKeys(void* workspace, std::size_t& bytes, const Key* keys, Key* sorted, Items items, int begin,
                              int end, cudaStream_t stream) {
    const std::int64_t n = items;
    return emulation::sort<Key, char>(workspace, bytes, keys, sorted, nullptr, nullptr, n, 1, emulation::edge{0},
                                      emulation::edge{n}, end - begin, stream);
  }
  template <class Key, class Value, class Items>
  static cudaError_t SortPairs(void* workspace, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values,
                               Value* sorted_values, Items items, int begin, int end, cudaStream_t stream) {
    const std::int64_t n = items;
    return emulation::sort(workspace, bytes, keys, sorted, values, sorted_values, n, 1, emulation::edge{0},
                           emulation::edge{n}, end - begin, stream);
  }
};

}  // namespace cub
