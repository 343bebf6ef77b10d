// SPDX-License-Identifier: BSL-1.0
// The packs that kernels are evaluated on, with all their functions.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/backend/cpu/pack_angles.hpp>
#include <onto/backend/cpu/pack_arcs.hpp>
#include <onto/backend/cpu/pack_by_doubles.hpp>
#include <onto/backend/cpu/pack_columns.hpp>
#include <onto/backend/cpu/pack_exp.hpp>
#include <onto/backend/cpu/pack_integers.hpp>
#include <onto/backend/cpu/pack_log.hpp>
#include <onto/backend/cpu/pack_random.hpp>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

inline constexpr bool has_packs = ONTO_PACKS != 0;
#if ONTO_PACKS
template <class T, int Bytes = vector_bytes>
using pack = simd::pack<T, Bytes>;
#else
template <class T, int Bytes = vector_bytes>
struct pack {};
#endif

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
