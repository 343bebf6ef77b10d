// SPDX-License-Identifier: BSL-1.0
// Beside the switch of the mutants, for files that name streams: a stream that is not the right one.
#pragma once
#pragma GCC system_header

#include <onto_mutant.hpp>

#include <cuda_runtime_api.h>

#include <mutex>

namespace onto_mutant {

/// A stream of the current device in which nothing else is issued. It lives as long as the process.
inline cudaStream_t idle_stream() {
  constexpr int devices = 64;
  static std::mutex guard;
  static cudaStream_t made[devices];
  const std::lock_guard<std::mutex> lock(guard);
  int device = 0;
  (void)cudaGetDevice(&device);
  cudaStream_t& stream = made[device % devices];
  if (!stream) (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

template <int N>
cudaStream_t other_stream(cudaStream_t stream) {
  return is<N>() ? idle_stream() : stream;
}

}  // namespace onto_mutant
