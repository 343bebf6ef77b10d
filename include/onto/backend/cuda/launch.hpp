// SPDX-License-Identifier: BSL-1.0
// How kernels are launched, and the shared memory of a block: the only header with words of CUDA C++ that are not in
// kernels themselves.
#pragma once

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/check.hpp>
#include <onto/backend/cuda/context.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

namespace onto::detail {

/// The blocks of a launch, and the bytes of shared memory of each beside its arrays.
struct launch_shape {
  dim3 blocks;
  std::size_t shared = 0;
  unsigned threads = block_threads;
};

// Not in `launch`, which every kernel compiles.
inline cudaLaunchConfig_t configuration_of(cudaStream_t stream, const launch_shape& shape) {
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = shape.blocks;
  configuration.blockDim = dim3(shape.threads);
  configuration.dynamicSmemBytes = shape.shared;
  configuration.stream = stream;
  return configuration;
}
#if !defined(ONTO_CUDA_EMULATION)
ONTO_COLD inline void launch_kernel(cudaStream_t stream, const char* what, const void* kernel,
                                    const launch_shape& shape, void** parameters) {
  const cudaLaunchConfig_t configuration = configuration_of(stream, shape);
  cuda_check(cudaLaunchKernelExC(&configuration, kernel, parameters), what);
}
#endif

/// Launches a kernel into a stream. The launch is judged by its own status, not by what is left of earlier calls.
/// *Throws* `internal_error` where it cannot be launched; `what` is what was tried, as the message names it.
template <class... P>
void launch(cudaStream_t stream, const char* what, void (*kernel)(P...), const launch_shape& shape,
            const std::type_identity_t<P>&... parameters) {
#if defined(ONTO_CUDA_EMULATION)
  cuda_check(cuda_emulation::launch(configuration_of(stream, shape), kernel, parameters...), what);
#else
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&parameters))...};
  launch_kernel(stream, what, reinterpret_cast<const void*>(kernel), shape, pointers);
#endif
}

/// An array that the threads of a block share. `Number` tells arrays of one type in one kernel apart.
template <class T, int Count, int Number = 0>
__device__ ONTO_INLINE T* shared_array() {
#if defined(ONTO_CUDA_EMULATION)
  static constexpr char name = 0;
  return static_cast<T*>(cuda_emulation::shared_array(&name, sizeof(T) * Count, alignof(T)));
#else
  __shared__ T array[Count];
  return array;
#endif
}

/// The shared memory of a block whose size the launch gave, aligned to 16 bytes.
__device__ ONTO_INLINE char* dynamic_shared() {
#if defined(ONTO_CUDA_EMULATION)
  return static_cast<char*>(cuda_emulation::dynamic_shared());
#else
  extern __shared__ __align__(16) char onto_dynamic_shared[];
  return onto_dynamic_shared;
#endif
}

}  // namespace onto::detail
