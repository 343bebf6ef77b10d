// SPDX-License-Identifier: BSL-1.0
// Transposed tiles and elements two apart, moved by whole vectors where the compiler can shuffle vectors.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector)
#define ONTO_SHUFFLES
#endif
#endif

// Differs between files for nvcc and files for the host compiler.
namespace onto::detail {
inline namespace ONTO_ABI {

#if defined(ONTO_SHUFFLES)
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <int Size>
struct word_vector;
template <>
struct word_vector<4> {
  typedef std::uint32_t type __attribute__((vector_size(vector_bytes)));
};
template <>
struct word_vector<8> {
  typedef std::uint64_t type __attribute__((vector_size(vector_bytes)));
};

/// The elements per side of the tiles that `transpose_tile` moves; 1: there are none.
template <int Size>
inline constexpr int tile_side = Size == 4 || Size == 8 ? vector_bytes / Size : 1;

// Of two rows of blocks of `Half` words, the off-diagonal blocks change places.
template <int Half, bool Second, class V, int... K>
ONTO_INLINE V swap_blocks(const V& a, const V& b, std::integer_sequence<int, K...>) {
  constexpr int n = static_cast<int>(sizeof...(K));
  if constexpr (Second)
    return __builtin_shufflevector(a, b, ((K & Half) == 0 ? K + Half : n + K)...);
  else
    return __builtin_shufflevector(a, b, ((K & Half) == 0 ? K : n + K - Half)...);
}

template <int Half, int Side, class V>
ONTO_INLINE void swap_step(V* row) {
  constexpr auto all = std::make_integer_sequence<int, Side>{};
#if !defined(__clang__)
#pragma GCC unroll 16
#else
#pragma unroll
#endif
  for (int k = 0; k < Side; ++k) {
    if ((k & Half) != 0) continue;
    const V a = row[k], b = row[k + Half];
    row[k] = swap_blocks<Half, false>(a, b, all);
    row[k + Half] = swap_blocks<Half, true>(a, b, all);
  }
}

/// out(i, j) = in(j, i) for a square tile of side `tile_side<Size>`, rows `pitch` words apart.
template <int Size, class Word>
ONTO_NOINLINE void transpose_tile(Word* out, std::int64_t out_pitch, const Word* in, std::int64_t in_pitch) {
  using vector = typename word_vector<Size>::type;
  constexpr int side = tile_side<Size>;
  vector row[side];
#if !defined(__clang__)
#pragma GCC unroll 16
#else
#pragma unroll
#endif
  for (int k = 0; k < side; ++k) std::memcpy(&row[k], in + k * in_pitch, sizeof row[k]);
  swap_step<1, side>(row);
  if constexpr (side > 2) swap_step<2, side>(row);
  if constexpr (side > 4) swap_step<4, side>(row);
  if constexpr (side > 8) swap_step<8, side>(row);
#if !defined(__clang__)
#pragma GCC unroll 16
#else
#pragma unroll
#endif
  for (int k = 0; k < side; ++k) std::memcpy(out + k * out_pitch, &row[k], sizeof row[k]);
}

template <class V, int... K>
ONTO_INLINE V even_words(const V& a, const V& b, std::integer_sequence<int, K...>) {
  return __builtin_shufflevector(a, b, (2 * K)...);
}

/// As many of out[k] = in[2 * k], k < n, as whole vectors hold. *Returns* how many.
template <int Size, class Word>
std::int64_t copy_every_other(Word* out, const Word* in, std::int64_t n) {
  std::int64_t k = 0;
  if constexpr (tile_side < Size >> 1) {
    using vector = typename word_vector<Size>::type;
    constexpr std::int64_t width = tile_side<Size>;
    for (; k + width < n; k += width) {  // the last word that is read is one past the last of them
      vector a, b;
      std::memcpy(&a, in + 2 * k, sizeof a);
      std::memcpy(&b, in + 2 * k + width, sizeof b);
      a = even_words(a, b, std::make_integer_sequence<int, static_cast<int>(width)>{});
      std::memcpy(out + k, &a, sizeof a);
    }
  }
  return k;
}
#else
template <int Size>
inline constexpr int tile_side = 1;
template <int Size, class Word>
std::int64_t copy_every_other(Word*, const Word*, std::int64_t) {
  return 0;
}
#endif

/// out(i, j) = in(j, i) as far as whole tiles go. *Returns* their side: rows and columns up to a multiple of it are
/// done; 0 where there are none.
template <int Size, class Word>
std::int64_t transpose_tiles(Word* out, std::int64_t out_pitch, const Word* in, std::int64_t in_pitch,
                             std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t side = tile_side<Size>;
  if constexpr (side > 1) {
    for (std::int64_t j = 0; j + side <= columns; j += side)
      for (std::int64_t i = 0; i + side <= rows; i += side)
        transpose_tile<Size>(out + i * out_pitch + j, out_pitch, in + j * in_pitch + i, in_pitch);
    return side;
  }
  return 0;
}

}  // namespace ONTO_ABI
}  // namespace onto::detail

#undef ONTO_SHUFFLES
