// SPDX-License-Identifier: BSL-1.0
// CUDA C++ for a host compiler: the words of kernels, over the runtime's declarations. Stands before the toolkit's own
// header of this name, and in its place where there is no toolkit.
#pragma once

#include <cuda_runtime_api.h>
#include <cuda_emulation/access.hpp>

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>

#undef __global__
#undef __device__
#undef __host__
#undef __launch_bounds__
#undef __grid_constant__
#undef __align__
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

namespace cuda_emulation {

struct index3 {
  unsigned x = 0, y = 0, z = 0;
};

void sync_block();
/// Whether any of the block's threads says so.
bool sync_block_or(bool mine);
void sync_warp(unsigned mask);
enum class shuffle_kind { from, down, by_xor };
unsigned shuffle(shuffle_kind kind, unsigned mask, unsigned value, int argument, int width);

/// Issues a kernel whose parameters take `parameter_bytes`.
cudaError_t launch_kernel(const cudaLaunchConfig_t& configuration, const void* kernel, std::size_t parameter_bytes,
                          std::function<void()> thread);

template <class... P>
cudaError_t launch(const cudaLaunchConfig_t& configuration, void (*kernel)(P...),
                   const std::type_identity_t<P>&... parameters) {
  return launch_kernel(configuration, reinterpret_cast<const void*>(kernel), (sizeof(P) + ... + 0),
                       [kernel, copies = std::tuple<P...>(parameters...)] { std::apply(kernel, copies); });
}

}  // namespace cuda_emulation

// Kernels run one at a time.
extern cuda_emulation::index3 threadIdx, blockIdx, blockDim, gridDim;

template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** memory, std::size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(memory), bytes, stream);
}

inline void __syncthreads() { ::cuda_emulation::sync_block(); }
inline int __syncthreads_or(int mine) { return ::cuda_emulation::sync_block_or(mine != 0); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { ::cuda_emulation::sync_warp(mask); }
inline unsigned __shfl_sync(unsigned mask, unsigned value, int lane, int width = 32) {
  return ::cuda_emulation::shuffle(::cuda_emulation::shuffle_kind::from, mask, value, lane, width);
}
inline unsigned __shfl_down_sync(unsigned mask, unsigned value, unsigned delta, int width = 32) {
  return ::cuda_emulation::shuffle(::cuda_emulation::shuffle_kind::down, mask, value, static_cast<int>(delta), width);
}
inline unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lanes, int width = 32) {
  return ::cuda_emulation::shuffle(::cuda_emulation::shuffle_kind::by_xor, mask, value, lanes, width);
}
