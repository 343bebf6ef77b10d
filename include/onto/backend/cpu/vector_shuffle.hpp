// SPDX-License-Identifier: BSL-1.0
// Transposed tiles and elements two apart, moved by whole vectors where the compiler can shuffle vectors.
#pragma once

#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector)
#define ONTO_SHUFFLES
#endif
#endif

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

#if defined(ONTO_SHUFFLES)
template <int Size, int Bytes>
struct word_vector;
template <int Bytes>
struct word_vector<4, Bytes> {
  typedef std::uint32_t type __attribute__((vector_size(Bytes)));
};
template <int Bytes>
struct word_vector<8, Bytes> {
  typedef std::uint64_t type __attribute__((vector_size(Bytes)));
};

template <int Size>
inline constexpr bool is_shuffled = Size == 4 || Size == 8;

// Of two rows of blocks of `Half` words, the off-diagonal blocks change places.
template <int Half, bool Second, class V, int... K>
ONTO_INLINE void swap_blocks(V& r, const V& a, const V& b, std::integer_sequence<int, K...>) {
  constexpr int n = static_cast<int>(sizeof...(K));
  if constexpr (Second)
    r = __builtin_shufflevector(a, b, ((K & Half) == 0 ? K + Half : n + K)...);
  else
    r = __builtin_shufflevector(a, b, ((K & Half) == 0 ? K : n + K - Half)...);
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
    swap_blocks<Half, false>(row[k], a, b, all);
    swap_blocks<Half, true>(row[k + Half], a, b, all);
  }
}

/// out(i, j) = in(j, i) for a square tile of as many words as a vector has, rows `pitch` words apart.
template <int Size, int Bytes>
ONTO_INLINE void transpose_tile(char* out, std::int64_t out_pitch, const char* in, std::int64_t in_pitch) {
  using vector = typename word_vector<Size, Bytes>::type;
  constexpr int side = Bytes / Size;
  vector row[side];
#if !defined(__clang__)
#pragma GCC unroll 16
#else
#pragma unroll
#endif
  for (int k = 0; k < side; ++k) std::memcpy(&row[k], in + k * in_pitch * Size, sizeof row[k]);
  swap_step<1, side>(row);
  if constexpr (side > 2) swap_step<2, side>(row);
  if constexpr (side > 4) swap_step<4, side>(row);
  if constexpr (side > 8) swap_step<8, side>(row);
#if !defined(__clang__)
#pragma GCC unroll 16
#else
#pragma unroll
#endif
  for (int k = 0; k < side; ++k) std::memcpy(out + k * out_pitch * Size, &row[k], sizeof row[k]);
}

// By bytes: words may alias anything, which a template's argument would lose.
template <int Size>
struct transpose_body {
  using variants =
      vector_variants<transpose_body, void(void*, std::int64_t, const void*, std::int64_t, std::int64_t, std::int64_t)>;
  template <int Bytes>
  static ONTO_INLINE void run(void* to, std::int64_t out_pitch, const void* from, std::int64_t in_pitch,
                              std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t side = Bytes / Size;
    char* const out = static_cast<char*>(to);
    const char* const in = static_cast<const char*>(from);
    for (std::int64_t j = 0; j + side <= columns; j += side)
      for (std::int64_t i = 0; i + side <= rows; i += side)
        transpose_tile<Size, Bytes>(out + (i * out_pitch + j) * Size, out_pitch, in + (j * in_pitch + i) * Size,
                                    in_pitch);
  }
};

template <class V, int... K>
ONTO_INLINE void take_even_words(V& r, const V& a, const V& b, std::integer_sequence<int, K...>) {
  r = __builtin_shufflevector(a, b, (2 * K)...);
}

template <int Size>
struct every_other_body {
  using variants = vector_variants<every_other_body, void(void*, const void*, std::int64_t)>;
  template <int Bytes>
  static ONTO_INLINE void run(void* to, const void* from, std::int64_t n) {
    char* const out = static_cast<char*>(to);
    const char* const in = static_cast<const char*>(from);
    using vector = typename word_vector<Size, Bytes>::type;
    constexpr std::int64_t width = Bytes / Size;
    for (std::int64_t k = 0; k + width < n; k += width) {  // the last word that is read is one past the last of them
      vector a, b, r;
      std::memcpy(&a, in + 2 * k * Size, sizeof a);
      std::memcpy(&b, in + (2 * k + width) * Size, sizeof b);
      take_even_words(r, a, b, std::make_integer_sequence<int, static_cast<int>(width)>{});
      std::memcpy(out + k * Size, &r, sizeof r);
    }
  }
};
#else
template <int>
inline constexpr bool is_shuffled = false;
template <int>
struct transpose_body;
template <int>
struct every_other_body;
#endif

/// As many of out[k] = in[2 * k], k < n, as whole vectors hold. *Returns* how many.
template <int Size, class Word>
std::int64_t copy_every_other([[maybe_unused]] Word* out, [[maybe_unused]] const Word* in,
                              [[maybe_unused]] std::int64_t n) {
  if constexpr (is_shuffled<Size>) {
    const std::int64_t width = used_vectors() / Size;
    if (n <= width) return 0;
    every_other_body<Size>::variants::chosen()(out, in, n);
    return (n - 1) / width * width;
  } else {
    return 0;
  }
}

/// out(i, j) = in(j, i) as far as whole tiles go. *Returns* their side: rows and columns up to a multiple of it are
/// done; 0 where there are none.
template <int Size, class Word>
std::int64_t transpose_tiles([[maybe_unused]] Word* out, [[maybe_unused]] std::int64_t out_pitch,
                             [[maybe_unused]] const Word* in, [[maybe_unused]] std::int64_t in_pitch,
                             [[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns) {
  if constexpr (is_shuffled<Size>) {
    transpose_body<Size>::variants::chosen()(out, out_pitch, in, in_pitch, rows, columns);
    return used_vectors() / Size;
  } else {
    return 0;
  }
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail

#undef ONTO_SHUFFLES
