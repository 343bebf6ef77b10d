// SPDX-License-Identifier: BSL-1.0
// CUB's radix sort of rows as far as the library uses it, by one thread of an emulated GPU. Stands in the place of the
// toolkit's header of this name.
#pragma once

#include <cub/device/device_radix_sort.cuh>

namespace cub {

struct DeviceSegmentedRadixSort {
  template <class Key, class Begins, class Ends>
  static cudaError_t SortKeys(void* workspace, std::size_t& bytes, const Key* keys, Key* sorted, int items, int rows,
                              Begins begins, Ends ends, int begin, int end, cudaStream_t stream) {
    return emulation::sort<Key, char>(workspace, bytes, keys, sorted, nullptr, nullptr, items, rows, begins, ends,
                                      end - begin, stream);
  }
  template <class Key, class Value, class Begins, class Ends>
  static cudaError_t SortPairs(void* workspace, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values,
                               Value* sorted_values, int items, int rows, Begins begins, Ends ends, int begin, int end,
                               cudaStream_t stream) {
    return emulation::sort(workspace, bytes, keys, sorted, values, sorted_values, items, rows, begins, ends,
                           end - begin, stream);
  }
};

}  // namespace cub
