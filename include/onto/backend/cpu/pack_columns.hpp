// SPDX-License-Identifier: BSL-1.0
// Where the elements of a pack are in their rows.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// The places of elements that follow each other, as many as a pack has and one row more.
template <int N, int Lanes>
struct counted_columns {
  std::uint32_t of[N + Lanes]{};
  constexpr counted_columns() {
    for (int k = 0; k < N + Lanes; ++k) of[k] = static_cast<std::uint32_t>(k % N);
  }
};
template <int N, int Lanes>
inline constexpr counted_columns<N, Lanes> columns_in_order{};

/// The places in rows of `N` of elements number `first` and those behind it.
template <int N, int Bytes>
ONTO_INLINE pack_bits<float, Bytes> columns_from(std::int64_t first) {
  using words = pack_bits<float, Bytes>;
  constexpr int lanes = Bytes / 4;
  const auto begin = static_cast<std::uint32_t>(static_cast<std::uint64_t>(first) % N);
  words columns;
  if constexpr (N < lanes) {
    std::memcpy(&columns.data, columns_in_order<N, lanes>.of + begin, sizeof columns.data);
    return columns;
  } else {  // at most one row ends within the pack
    std::memcpy(&columns.data, columns_in_order<lanes, 0>.of, sizeof columns.data);
    const words behind = columns + words::spread(begin - N);  // of the row that follows, below 0 before it
    return behind + ((words(0u) - (behind >> 31)) & words(std::uint32_t{N}));
  }
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
