// SPDX-License-Identifier: BSL-1.0
// How kernels reach memory: global memory and a block's shared memory, through one pair of functions. On a GPU they are
// plain loads and stores. An emulated GPU checks and counts what goes through them.
#pragma once

#include <onto/core/config.hpp>

#include <cstring>

#if defined(ONTO_CUDA_EMULATION)
#include <cuda_emulation/access.hpp>
#endif

namespace onto::detail {

/// The value at `p`, read with one load of its size and alignment.
template <class T>
ONTO_HD ONTO_INLINE T device_load(const T* p) {
#if defined(ONTO_CUDA_EMULATION)
  return *static_cast<const T*>(cuda_emulation::readable(p, sizeof(T), alignof(T)));
#else
  return *p;
#endif
}

/// Writes `value` at `p` with one store of its size and alignment.
template <class T>
ONTO_HD ONTO_INLINE void device_store(T* p, const T& value) {
#if defined(ONTO_CUDA_EMULATION)
  *static_cast<T*>(cuda_emulation::writable(p, sizeof(T), alignof(T))) = value;
#else
  *p = value;
#endif
}

/// Adds to what is at `p`, in shared or in global memory, where other threads may add at the same time: unsigned
/// numbers of 32 or 64 bits, which wrap. *Returns* what was there before.
template <class T>
ONTO_HD ONTO_INLINE T device_add(T* p, T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8)
    return atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(x));
  else
    return atomicAdd(p, x);
#else
#if defined(ONTO_CUDA_EMULATION)
  p = static_cast<T*>(cuda_emulation::atomic(p, sizeof(T), alignof(T)));
#endif
  const T before = *p;
  *p = static_cast<T>(before + x);
  return before;
#endif
}

/// Writes a result in global memory: `device_store` in one store, where nvcc would take a pack of computed values
/// apart.
template <class T>
ONTO_HD ONTO_INLINE void device_store_result(T* p, const T& value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 16) {
    uint4 words;
    std::memcpy(&words, &value, sizeof(T));
    __stwb(reinterpret_cast<uint4*>(p), words);
  } else if constexpr (sizeof(T) == 8) {
    uint2 words;
    std::memcpy(&words, &value, sizeof(T));
    __stwb(reinterpret_cast<uint2*>(p), words);
  } else {
    *p = value;
  }
#else
  device_store(p, value);
#endif
}

}  // namespace onto::detail
