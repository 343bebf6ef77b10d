// SPDX-License-Identifier: BSL-1.0
// CUB's scans as far as the library uses them, by one thread of an emulated GPU: tile after tile, each joined to what
// was before it, so that what joins must be associative. Stands in the place of the toolkit's header of this name.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cub {

namespace emulation {

inline constexpr std::int64_t tile = 7;

/// The bytes that the scan needs, for tiles of at least 256 elements: of another number on each device, as policies
/// differ with the architecture.
inline cudaError_t bytes_needed(std::int64_t items, std::size_t state, std::size_t& bytes) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  const std::int64_t tiles = (items + 255) / 256;
  bytes = 256 * (1 + static_cast<std::size_t>(device)) + static_cast<std::size_t>(tiles) * (state + sizeof(int));
  return status;
}

template <class Keys, class In, class Out, class Join, class Same>
void scan_by_key(char* workspace, std::size_t bytes, Keys keys, In in, Out out, Join join, std::int64_t items,
                 Same same) {
  using state = typename In::value_type;
  // All of the workspace is written, so that one that is too small or not the device's is found.
  for (std::size_t b = 0; b < bytes; ++b) *static_cast<char*>(cuda_emulation::writable(workspace + b, 1, 1)) = 0;
  state before{};
  for (std::int64_t first = 0; first < items; first += tile) {
    const std::int64_t count = items - first < tile ? items - first : tile;
    const auto tile_keys = keys + first;
    const auto tile_in = in + static_cast<std::uint64_t>(first);
    const auto tile_out = out + first;
    bool goes_on = first > 0 && same(keys[first - 1], *tile_keys);
    state run{};
    for (std::int64_t k = 0; k < count; ++k) {
      const bool begins = k > 0 && !same(tile_keys[k - 1], tile_keys[k]);
      if (begins) goes_on = false;
      const state x = tile_in[k];
      run = k == 0 || begins ? x : join(run, x);
      tile_out[k] = goes_on ? join(before, run) : run;
    }
    before = goes_on ? join(before, run) : run;
  }
}

/// The keys of a scan without keys.
struct one_key {
  one_key operator+(std::int64_t) const { return {}; }
  int operator*() const { return 0; }
  int operator[](std::int64_t) const { return 0; }
};
struct always_same {
  bool operator()(int, int) const { return true; }
};

template <class Keys, class In, class Out, class Join, class Same>
cudaError_t ask_for_scan(void* workspace, std::size_t& bytes, std::size_t of_state, Keys keys, In in, Out out,
                         Join join, std::int64_t items, Same same, cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<Keys> && std::is_trivially_copyable_v<In> &&
                std::is_trivially_copyable_v<Out> && std::is_trivially_copyable_v<typename In::value_type>);
  std::size_t needed = 0;
  cudaError_t status = bytes_needed(items, of_state, needed);
  if (status != cudaSuccess) return status;
  if (!workspace) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  // As CUB, which tells of whatever went wrong last on this thread.
  if (status = cudaPeekAtLastError(); status != cudaSuccess) return status;
  cudaLaunchConfig_t one_thread{};
  one_thread.gridDim = one_thread.blockDim = dim3(1);
  one_thread.stream = stream;
  return cuda_emulation::launch(one_thread, &scan_by_key<Keys, In, Out, Join, Same>, static_cast<char*>(workspace),
                                needed, keys, in, out, join, items, same);
}

}  // namespace emulation

struct DeviceScan {
  template <class In, class Out, class Join, class Items>
  static cudaError_t InclusiveScan(void* workspace, std::size_t& bytes, In in, Out out, Join join, Items items,
                                   cudaStream_t stream) {
    return emulation::ask_for_scan(workspace, bytes, sizeof(typename In::value_type), emulation::one_key{}, in, out,
                                   join, static_cast<std::int64_t>(items), emulation::always_same{}, stream);
  }
  template <class Keys, class In, class Out, class Join, class Same, class Items>
  static cudaError_t InclusiveScanByKey(void* workspace, std::size_t& bytes, Keys keys, In in, Out out, Join join,
                                        Items items, Same same, cudaStream_t stream) {
    return emulation::ask_for_scan(workspace, bytes, sizeof(typename In::value_type) + sizeof(int), keys, in, out, join,
                                   static_cast<std::int64_t>(items), same, stream);
  }
};

}  // namespace cub
