// SPDX-License-Identifier: BSL-1.0
// SIMD packs where xsimd is installed: right and fast whatever the user's compiler flags say about mathematics.
#pragma once

#include <onto/core/config.hpp>

#if !defined(__CUDACC__) && !defined(ONTO_NO_XSIMD) && !(defined(ONTO_HAS_XSIMD) && !ONTO_HAS_XSIMD) && \
    __has_include(<xsimd/xsimd.hpp>)
// g++ 12 takes the deliberately undefined registers in its own AVX-512 intrinsics for mistakes.
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <xsimd/xsimd.hpp>
#pragma GCC diagnostic pop
#if !defined(XSIMD_NO_SUPPORTED_ARCHITECTURE)
#define ONTO_PACKS
#include <onto/backend/cpu/pack_angles.hpp>
#include <onto/backend/cpu/pack_math.hpp>
#endif
#endif

// Differs between files for nvcc and files for the host compiler, which one program may have.
namespace onto::detail {
inline namespace ONTO_ABI {

#if defined(ONTO_PACKS)
inline constexpr bool has_packs = true;
template <class T>
using pack = xsimd::batch<T>;
#else
inline constexpr bool has_packs = false;
template <class T>
struct pack {};
#endif

}  // namespace ONTO_ABI
}  // namespace onto::detail

#undef ONTO_PACKS
