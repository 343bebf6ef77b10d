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

/// Blocks for a thread of each of so many units of work.
constexpr launch_shape blocks_for(std::int64_t units) { return {grid_blocks(divide_up(units, block_threads))}; }

/// The shared memory of a block that needs no asking for.
inline constexpr std::size_t usual_shared_bytes = std::size_t{48} << 10;

/// The most shared memory that a block may have, on whichever of the GPUs there are.
inline std::size_t most_shared_bytes() {
  static const std::size_t found = [] {
    int devices = 0;
    cuda_ignore(cudaGetDeviceCount(&devices));
    std::int64_t most = 0;
    for (int d = 0; d < devices; ++d) {
      int bytes = 0;  // as many as are usual of a GPU that does not say
      cuda_ignore(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, d));
      most = d == 0 ? bytes : least(most, bytes);
    }
    return static_cast<std::size_t>(greatest(most, static_cast<std::int64_t>(usual_shared_bytes)));
  }();
  return found;
}

// Not in `launch`, which every kernel compiles.
ONTO_COLD inline cudaLaunchConfig_t configuration_of(cudaStream_t stream, const char* what, const void* kernel,
                                                     const launch_shape& shape) {
  // More than every kernel may have: it has to be asked for, of each kernel on each device.
  if (shape.shared > usual_shared_bytes)
    cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared)),
        what);
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
  const cudaLaunchConfig_t configuration = configuration_of(stream, what, kernel, shape);
  cuda_check(cudaLaunchKernelExC(&configuration, kernel, parameters), what);
}
#endif

/// Launches a kernel into a stream. The launch is judged by its own status, not by what is left of earlier calls.
/// *Throws* `internal_error` where it cannot be launched; `what` is what was tried, as the message names it.
template <class... P>
void launch(cudaStream_t stream, const char* what, void (*kernel)(P...), const launch_shape& shape,
            const std::type_identity_t<P>&... parameters) {
  const auto* const entry = reinterpret_cast<const void*>(kernel);
#if defined(ONTO_CUDA_EMULATION)
  cuda_check(cuda_emulation::launch(configuration_of(stream, what, entry, shape), kernel, parameters...), what);
#else
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&parameters))...};
  launch_kernel(stream, what, entry, shape, pointers);
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
